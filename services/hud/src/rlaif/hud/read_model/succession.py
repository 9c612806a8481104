"""Whose screen is shown: signs of life and wishes in, who comes next out."""

from collections import deque
from collections.abc import Collection
from datetime import datetime, timedelta

from rlaif.hud.read_model.world_views import Takeover, WatchView

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
