"""What waits to be sent to one browser, and which of it goes next.

Three lanes with three rules:

- events: in order, none dropped; when more than 1,000 wait, all are dropped for one `RESYNC`.
- sections: the newest value of each, together, at most four times a second.
- frame: the newest one only. At most three frames are under way that the browser has not drawn,
  because a browser has no back-pressure of its own: it would pile them up in memory.

Times are seconds of a monotonic clock and are passed in.
"""

import asyncio
from collections import deque
from typing import Final

SECTIONS_INTERVAL: Final = 0.25
"""Seconds; text that changes faster cannot be read."""


class Resync:
    """Stands for a fresh snapshot."""


RESYNC: Final = Resync()

Outgoing = str | bytes | Resync


class Outbox:
    """One browser's lanes. Putting never waits; `wake` is set by it and by acknowledgements."""

    def __init__(self, *, most_events: int = 1000, most_unacked: int = 3) -> None:
        self.wake = asyncio.Event()
        self.frames_skipped = 0
        self._most_events = most_events
        self._most_unacked = most_unacked
        self._events: deque[str] = deque()
        self._resync = False
        self._sections: dict[str, str] = {}
        self._sections_due = 0.0
        self._frame: tuple[int, bytes] | None = None
        self._unacked: deque[int] = deque()
        self._frame_interval: float | None = 0.0
        self._frame_due = 0.0

    def put_event(self, message: str) -> None:
        """Add one message that must arrive."""
        if self._resync:
            return
        self._events.append(message)
        if len(self._events) > self._most_events:
            self.put_resync()
        self.wake.set()

    def put_resync(self) -> None:
        """Replace all that waits, but the frame, by a fresh snapshot."""
        self._events.clear()
        self._sections.clear()
        self._resync = True
        self.wake.set()

    def put_sections(self, sections: dict[str, str]) -> None:
        """Replace the waiting values of these sections (name → JSON)."""
        self._sections.update(sections)
        self.wake.set()

    def put_frame(self, sequence: int, packed: bytes) -> None:
        """Replace the waiting frame."""
        if self._frame is not None:
            self.frames_skipped += 1
        self._frame = (sequence, packed)
        self.wake.set()

    def ack(self, sequence: int) -> None:
        """The browser has drawn this frame, and so is done with all before it."""
        while self._unacked and self._unacked[0] <= sequence:
            self._unacked.popleft()
        self.wake.set()

    def limit_rate(self, frames_per_second: float) -> None:
        """Send at most so many frames; 0 sends none, for a hidden or paused page."""
        self._frame_interval = 1 / frames_per_second if frames_per_second > 0 else None
        self.wake.set()

    def take(self, now: float) -> Outgoing | None:
        """The next thing to send; None when nothing may go now."""
        if self._resync:
            self._resync = False
            return RESYNC
        if self._events:
            return self._events.popleft()
        if self._sections and now >= self._sections_due:
            return self._take_sections(now)
        if self._frame is not None and self._may_send_frame() and now >= self._frame_due:
            return self._take_frame(*self._frame, now)
        return None

    def due_in(self, now: float) -> float | None:
        """Seconds until `take` may give something without a further put; None: never."""
        dues = []
        if self._sections:
            dues.append(self._sections_due)
        if self._frame is not None and self._may_send_frame():
            dues.append(self._frame_due)
        return max(0.0, min(dues) - now) if dues else None

    def _may_send_frame(self) -> bool:
        return self._frame_interval is not None and len(self._unacked) < self._most_unacked

    def _take_sections(self, now: float) -> str:
        body = ",".join(f'"{name}":{value}' for name, value in self._sections.items())
        self._sections.clear()
        self._sections_due = now + SECTIONS_INTERVAL
        return f'{{"v":1,"type":"metrics","data":{{{body}}}}}'

    def _take_frame(self, sequence: int, packed: bytes, now: float) -> bytes:
        self._frame = None
        self._unacked.append(sequence)
        self._frame_due = now + (self._frame_interval or 0.0)
        return packed
