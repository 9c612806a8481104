"""Which environment's screen is shown, and its newest frame."""

from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from rlaif.contracts.telemetry import ScreenFrame
from rlaif.hud.read_model.views import ScreenView

_RATE_WINDOW = timedelta(seconds=2)


@dataclass(frozen=True)
class ShownFrame:
    """A frame as browsers get it.

    `sequence` rises by one for each frame that the HUD shows, over all environments; `packed` has
    it in its header.
    """

    sequence: int
    jpeg: bytes
    packed: bytes


class Screen:
    """Shows one environment; another one takes over when it has been silent for `takeover`.

    The 10 s are those of the origin system.
    """

    def __init__(self, *, takeover: timedelta = timedelta(seconds=10)) -> None:
        self._takeover = takeover
        self._env: str | None = None
        self._source: ScreenFrame | None = None
        self._received: deque[datetime] = deque(maxlen=240)
        self.frame: ShownFrame | None = None

    def offer(self, env: str, frame: ScreenFrame, now: datetime) -> ShownFrame | None:
        """Take a frame in; None when it is late or of an environment that is not watched."""
        silent = not self._received or now - self._received[-1] >= self._takeover
        if not silent:
            if env != self._env:
                return None
            if self._source and frame.captured_us < self._source.captured_us:
                return None
        self._env, self._source = env, frame
        self._received.append(now)
        sequence = (self.frame.sequence if self.frame else 0) + 1
        shown = ScreenFrame(sequence, frame.captured_us, frame.step, frame.jpeg)
        self.frame = ShownFrame(sequence, frame.jpeg, shown.pack())
        return self.frame

    def view(self) -> ScreenView | None:
        """What is known of the screen; None before the first frame."""
        if self._env is None or self._source is None or self.frame is None:
            return None
        return ScreenView(
            env=self._env,
            sequence=self.frame.sequence,
            env_step=self._source.step,
            captured_at=datetime.fromtimestamp(self._source.captured_us / 1e6, UTC),
            received_at=self._received[-1],
            frames_per_second=self._rate(),
        )

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
