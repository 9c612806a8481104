"""Selection of the environment whose screen is shown, and its newest frame."""

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal

from rlaif.contracts.telemetry.frames import ScreenFrame
from rlaif.contracts.telemetry.readings import EnvironmentsSeen
from rlaif.hud.read_model.views import ScreenSwitch, ScreenView, WatchView

_SILENT = timedelta(seconds=2)
"""Silence of the shown environment after which the page reports it."""

_ALIVE = timedelta(seconds=4)
"""Age of the last sign of life up to which an environment can be switched to."""

_RATE_WINDOW = timedelta(seconds=2)
_MAX_ENVIRONMENTS = 512
_MAX_SWITCHES = 20
_MAX_FRAMES = 256
"""Environments whose newest frame is kept, about 1 kB each."""


@dataclass(frozen=True)
class ShownFrame:
    """A frame as browsers get it.

    `sequence` counts the frames that the HUD has shown, over all environments; it is in the header
    of `packed`.
    """

    sequence: int
    picture: bytes
    packed: bytes


class Selection:
    """The environment that is shown: it changes when it is silent, or when a person selects one.

    Attributes:
        env: None before the first frame.
        requested: The environment that the trainer should draw in full; None: its own choice.
        switches: The newest switches, oldest first.
    """

    def __init__(self, takeover: timedelta) -> None:
        self.env: str | None = None
        self.requested: str | None = None
        self.switches: deque[ScreenSwitch] = deque(maxlen=_MAX_SWITCHES)
        self._takeover = takeover
        self._alive_at: dict[str, datetime] = {}
        self._next: str | None = None
        self._selected_at: datetime | None = None
        self._silent_since: datetime | None = None

    def alive(self, env: str, at: datetime) -> None:
        """Record a sign of life of an environment."""
        self._alive_at[env] = max(at, self._alive_at.pop(env, at))
        if len(self._alive_at) > _MAX_ENVIRONMENTS:
            del self._alive_at[next(iter(self._alive_at))]

    def drawn(self, env: str | None) -> None:
        """Set the environment that the trainer draws in full; shown unless another is requested."""
        if self.requested is None:
            self._next = None if env == self.env else env

    def select(self, env: str, now: datetime) -> None:
        self.requested = env
        self._next = None if env == self.env else env
        self._selected_at = now

    def shows(self, env: str, now: datetime, env_step: int | None) -> bool:
        before = self.env
        if before is None or env == self._next:
            selected = self._selected_at is not None
        elif now - self._alive_at.get(before, now) >= self._takeover:
            selected = False
        else:
            return env == before
        self._switch(before, env, now, env_step, selected=selected)
        return True

    def check(self, now: datetime, *, among: Collection[str]) -> str | None:
        """The environment to switch to now, of those with a frame; None: no switch."""
        since = self._selected_at
        if self._next is not None and since is not None:
            # One that waits for the learner, or is restarted with all others, is drawn later.
            heard = max(since, self._alive_at.get(self._next, since))
            if self._alive_at.get(self.env or "", now) - heard >= self._takeover:
                self._next, self._selected_at, self.requested = None, None, self.env
        alive_at = None if self.env is None else self._alive_at.get(self.env)
        silence = timedelta() if alive_at is None else now - alive_at
        self._silent_since = alive_at if silence >= _SILENT else None
        return self._successor(now, among) if silence >= self._takeover else None

    def view(self) -> WatchView:
        return WatchView(
            env=self.env,
            selected=self._next if self._selected_at is not None else None,
            silent_since=self._silent_since,
            switches=tuple(self.switches),
        )

    def _successor(self, now: datetime, among: Collection[str]) -> str | None:
        """The environment with the newest sign of life; on ties the first by name."""
        alive = [
            (at, env)
            for env, at in self._alive_at.items()
            if env != self.env and env in among and now - at < _ALIVE
        ]
        newest = max((at for at, _ in alive), default=now)
        # Signs within one second belong to one reading.
        return min((env for at, env in alive if newest - at < timedelta(seconds=1)), default=None)

    def _switch(
        self, before: str | None, env: str, now: datetime, env_step: int | None, *, selected: bool
    ) -> None:
        by_trainer = self._next == env and self._selected_at is None
        keeps_wish = self._selected_at is not None and self._next != env
        self.env = env
        if keeps_wish:  # after a restart of all, another environment may report first
            self._selected_at = now
        else:
            self._next = self._selected_at = None
        if before is None or before == env or by_trainer:
            return
        if not keeps_wish:
            self.requested = env
        reason: Literal["silent", "selected"] = "selected" if selected else "silent"
        self.switches.append(
            ScreenSwitch(at=now, env_step=env_step, from_env=before, to_env=env, reason=reason)
        )


class Screen:
    """Shows one environment; switches to another one after a silence of `takeover`.

    Signs of life are frames and the trainer's reports on the environment's runner: one that waits
    for the learner sends no frames but is alive.
    """

    def __init__(self, *, takeover: timedelta = timedelta(seconds=10)) -> None:
        self.frame: ShownFrame | None = None
        self.selection = Selection(takeover)
        self._takeover = takeover
        self._newest: dict[str, tuple[ScreenFrame, datetime]] = {}
        self._received: deque[datetime] = deque(maxlen=240)
        self._logged_at: datetime | None = None

    @property
    def env(self) -> str | None:
        return self.selection.env

    def offer(
        self, env: str, frame: ScreenFrame, now: datetime, *, env_step: int | None = None
    ) -> ShownFrame | None:
        """Add a frame; returns None if it is late or its environment is not shown."""
        self.selection.alive(env, now)
        if self._is_late(env, frame, now):
            return None
        self._keep(env, frame, now)
        return self._show(env, now) if self.selection.shows(env, now, env_step) else None

    def reported(self, reading: EnvironmentsSeen, now: datetime) -> None:
        """Fold a report on the runners and the environment that is drawn in full."""
        self.selection.drawn(reading.watched)
        signs = {sign.runner: sign for sign in reading.runners}
        for each in reading.environments:
            sign = signs.get(each.runner)
            if sign is not None:
                self.selection.alive(each.env, now - timedelta(seconds=sign.silent_seconds))

    def check(self, now: datetime, *, env_step: int | None = None) -> ShownFrame | None:
        """Switch if one is due; returns the frame of the new environment, or None."""
        successor = self.selection.check(now, among=self._newest)
        if successor is None:
            return None
        self.selection.shows(successor, now, env_step)
        return self._show(successor, now)

    def new_switches(self) -> list[ScreenSwitch]:
        found = [
            each
            for each in self.selection.switches
            if self._logged_at is None or each.at > self._logged_at
        ]
        if found:
            self._logged_at = found[-1].at
        return found

    def view(self) -> ScreenView | None:
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
        return self.selection.view()

    def _is_late(self, env: str, frame: ScreenFrame, now: datetime) -> bool:
        """Whether a newer frame arrived earlier, unless the clock was set back."""
        known = self._newest.get(env)
        if known is None or now - known[1] >= self._takeover:
            return False
        return frame.captured_us < known[0].captured_us

    def _keep(self, env: str, frame: ScreenFrame, now: datetime) -> None:
        self._newest.pop(env, None)
        self._newest[env] = (frame, now)
        if len(self._newest) > _MAX_FRAMES:
            del self._newest[next(each for each in self._newest if each != self.env)]

    def _show(self, env: str, now: datetime) -> ShownFrame:
        frame, _ = self._newest[env]
        self._received.append(now)
        sequence = (self.frame.sequence if self.frame else 0) + 1
        packed = replace(frame, sequence=sequence).pack()
        self.frame = ShownFrame(sequence, frame.picture, packed)
        return self.frame

    def _rate(self) -> float | None:
        newest = self._received[-1]
        recent = [at for at in self._received if newest - at <= _RATE_WINDOW]
        seconds = (newest - recent[0]).total_seconds()
        return (len(recent) - 1) / seconds if seconds > 0 else None
