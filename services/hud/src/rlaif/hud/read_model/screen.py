"""Which environment's screen is shown, and its newest frame."""

from collections import deque
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from rlaif.contracts.telemetry import Codec, ScreenFrame
from rlaif.hud.read_model.succession import Succession
from rlaif.hud.read_model.views import ScreenView
from rlaif.hud.read_model.world_views import Takeover, WatchView

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
