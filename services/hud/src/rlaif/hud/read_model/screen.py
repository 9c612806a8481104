"""Which environment's screen is shown, and its newest frame."""

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from rlaif.contracts.telemetry import Codec, ScreenFrame
from rlaif.hud.read_model.views import ScreenView, Takeover, WatchView

_SILENT = timedelta(seconds=2)
"""From then on people are told."""

_LIVES = timedelta(seconds=4)
"""Who was heard so long ago may take over; runners are told of every second."""

_STILL = timedelta(seconds=2)
_MOST_ENVIRONMENTS = 512
_MOST_TAKEOVERS = 20


class Succession:
    """Keeps to one environment while it lives.

    Attributes:
        env: Whose screen is shown; None before the first frame.
        wish: Whose is to be drawn in full: a person chose it, or it took over. None: the trainer's
            own choice counts.
        takeovers: The newest, oldest first.
    """

    def __init__(self, takeover: timedelta) -> None:
        self._takeover = takeover
        self.env: str | None = None
        self.wish: str | None = None
        self.takeovers: deque[Takeover] = deque(maxlen=_MOST_TAKEOVERS)
        self._lived: dict[str, datetime] = {}
        self._still: dict[str, timedelta] = {}
        self._awaited: str | None = None
        self._awaited_since: datetime | None = None
        self._view = _view(self)

    def heard(self, env: str, at: datetime, *, still: timedelta | None = None) -> None:
        """An environment gave a sign of life `at`."""
        self._lived[env] = max(at, self._lived.pop(env, at))
        if still is not None:
            self._still[env] = still
        if len(self._lived) > _MOST_ENVIRONMENTS:
            gone = next(iter(self._lived))
            del self._lived[gone]
            self._still.pop(gone, None)

    def told(self, env: str | None) -> None:
        """The trainer draws this one in full. Without a wish it is the one to be shown."""
        if self.wish is None:
            self._awaited = None if env == self.env else env

    def choose(self, env: str, now: datetime) -> None:
        """A person wants to see this one."""
        self.wish = env
        self._awaited = None if env == self.env else env
        self._awaited_since = now

    def takes(self, env: str, now: datetime, env_step: int | None) -> bool:
        """Whether a frame of `env` is to be shown; if so it takes the place of another."""
        before = self.env
        if before is None or env == self._awaited:
            chosen = self._awaited_since is not None
        elif now - self._lived.get(before, now) >= self._takeover:
            chosen = False
        else:
            return env == before
        self._note(before, env, now, env_step, chosen=chosen)
        return True

    def look(self, now: datetime, *, among: Collection[str]) -> str | None:
        """Who takes over now, of those that have a frame; None: nobody does."""
        since = self._awaited_since
        if self._awaited is not None and since is not None and now - since >= self._takeover:
            # Nothing came of the choice: the one that is shown is drawn in full again.
            self._awaited, self._awaited_since, self.wish = None, None, self.env
        lived = None if self.env is None else self._lived.get(self.env)
        silent = timedelta() if lived is None else now - lived
        heir = self._heir(now, among) if silent >= _SILENT else None
        still = self._still.get(self.env or "", timedelta())
        self._view = _view(
            self,
            chosen=self._awaited if since is not None else None,
            silent_since=lived if silent >= _SILENT else None,
            still_seconds=still.total_seconds() if silent < _SILENT <= still else None,
            next=heir,
            takes_over_at=lived + self._takeover if heir is not None and lived else None,
        )
        return heir if silent >= self._takeover else None

    def view(self) -> WatchView:
        """As it was at the last look."""
        return self._view.model_copy(update={"env": self.env, "takeovers": tuple(self.takeovers)})

    def _heir(self, now: datetime, among: Collection[str]) -> str | None:
        """Of those that live, the one that was heard last; of several the first by name."""
        living = [
            (at, env)
            for env, at in self._lived.items()
            if env != self.env and env in among and now - at < _LIVES
        ]
        newest = max((at for at, _ in living), default=now)
        # Within a second it was one reading that told of them all.
        return min((env for at, env in living if newest - at < timedelta(seconds=1)), default=None)

    def _note(
        self, before: str | None, env: str, now: datetime, env_step: int | None, *, chosen: bool
    ) -> None:
        told_by_trainer = self._awaited == env and self._awaited_since is None
        self.env, self._awaited, self._awaited_since = env, None, None
        if before is None or before == env or told_by_trainer:
            return
        self.wish = env
        self.takeovers.append(
            Takeover(
                at=now,
                env_step=env_step,
                left=before,
                taken=env,
                why="chosen" if chosen else "silent",
            )
        )


def _view(
    succession: Succession,
    *,
    chosen: str | None = None,
    silent_since: datetime | None = None,
    still_seconds: float | None = None,
    next: str | None = None,  # the field's name
    takes_over_at: datetime | None = None,
) -> WatchView:
    return WatchView(
        env=succession.env,
        chosen=chosen,
        silent_since=silent_since,
        still_seconds=still_seconds,
        next=next,
        takes_over_at=takes_over_at,
        takeovers=tuple(succession.takeovers),
    )


_RATE_WINDOW = timedelta(seconds=2)
_MOST_STANDBY = 256
"""Environments whose newest frame is kept, in case theirs is shown next; about 1 kB each."""


@dataclass(frozen=True)
class ShownFrame:
    """A frame as browsers get it.

    `sequence` rises by one for each frame that the HUD shows, over all environments; `packed` has
    it in its header.
    """

    sequence: int
    picture: bytes
    codec: Codec
    packed: bytes


class Screen:
    """Shows one environment; another one takes over when it has been silent for `takeover`.

    The 10 s are those of the origin system. A frame is a sign of life, and so is what the trainer
    says of an environment's runner: one that waits for the learner shows nothing new, and lives.
    Whose screen is shown changes by this rule, or when a person chooses, and never else.
    """

    def __init__(self, *, takeover: timedelta = timedelta(seconds=10)) -> None:
        self._takeover = takeover
        self._succession = Succession(takeover)
        self._newest: dict[str, tuple[ScreenFrame, datetime]] = {}
        self._received: deque[datetime] = deque(maxlen=240)
        self.frame: ShownFrame | None = None

    @property
    def env(self) -> str | None:
        """Whose screen is shown."""
        return self._succession.env

    @property
    def wish(self) -> str | None:
        """Whose screen the trainer is to draw in full; None: whose it likes."""
        return self._succession.wish

    def offer(
        self, env: str, frame: ScreenFrame, now: datetime, *, env_step: int | None = None
    ) -> ShownFrame | None:
        """Take a frame in; None when it is late or of an environment that is not watched.

        `env_step` is where the run is.
        """
        self._succession.heard(env, now)
        if self._is_late(env, frame, now):
            return None
        self._keep(env, frame, now)
        return self._show(env, now) if self._succession.takes(env, now, env_step) else None

    def heard(self, env: str, at: datetime, *, still: timedelta | None = None) -> None:
        """The runner of an environment lived `at`; `still` is for how long it has not played."""
        self._succession.heard(env, at, still=still)

    def told(self, env: str | None) -> None:
        """The trainer shows this environment in full."""
        self._succession.told(env)

    def choose(self, env: str, now: datetime) -> None:
        """A person wants to see another one: it is shown as soon as there is a frame of it."""
        self._succession.choose(env, now)

    def look(self, now: datetime, *, env_step: int | None = None) -> ShownFrame | None:
        """See what time alone changes; gives the first frame of who has just taken over."""
        heir = self._succession.look(now, among=self._newest)
        if heir is None:
            return None
        self._succession.takes(heir, now, env_step)
        return self._show(heir, now)

    def view(self) -> ScreenView | None:
        """What is known of the screen; None before the first frame."""
        if self.env is None or self.frame is None:
            return None
        source, received_at = self._newest[self.env]
        return ScreenView(
            env=self.env,
            sequence=self.frame.sequence,
            env_step=source.step,
            captured_at=datetime.fromtimestamp(source.captured_us / 1e6, UTC),
            received_at=received_at,
            frames_per_second=self._rate(),
        )

    def watch(self) -> WatchView:
        """Whose screen is shown, as it was at the last look."""
        return self._succession.view()

    @property
    def takeovers(self) -> tuple[Takeover, ...]:
        """The newest, oldest first."""
        return tuple(self._succession.takeovers)

    def _is_late(self, env: str, frame: ScreenFrame, now: datetime) -> bool:
        """Whether a newer one of it came before; a clock that was set back is not late for ever."""
        known = self._newest.get(env)
        if known is None or now - known[1] >= self._takeover:
            return False
        return frame.captured_us < known[0].captured_us

    def _keep(self, env: str, frame: ScreenFrame, now: datetime) -> None:
        self._newest.pop(env, None)
        self._newest[env] = (frame, now)
        if len(self._newest) > _MOST_STANDBY:
            del self._newest[next(each for each in self._newest if each != self.env)]

    def _show(self, env: str, now: datetime) -> ShownFrame:
        frame, _ = self._newest[env]
        self._received.append(now)
        sequence = (self.frame.sequence if self.frame else 0) + 1
        shown = replace(frame, sequence=sequence)
        self.frame = ShownFrame(sequence, frame.picture, frame.codec, shown.pack())
        return self.frame

    def _rate(self) -> float | None:
        """Frames a second over the 2 s before the newest frame."""
        newest = oldest = self._received[-1]
        count = -1
        for at in reversed(self._received):
            if newest - at > _RATE_WINDOW:
                break
            oldest, count = at, count + 1
        seconds = (newest - oldest).total_seconds()
        return count / seconds if seconds > 0 else None
