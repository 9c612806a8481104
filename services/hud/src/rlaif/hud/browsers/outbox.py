"""The queued messages of one browser, and their order of sending.

- Events: in order, none dropped; when more than `MAX_EVENTS` wait, one `RESYNC` replaces all.
- Sections: the newest value of each that changed, all in one message.
- Frames: at most `MAX_FRAMES` wait, the newest. At most `MAX_UNACKNOWLEDGED` were sent and not
  drawn yet: a browser applies no back-pressure, and would queue what it cannot draw.

A hidden page pauses its texts: it gets replies only, and a snapshot when it resumes.
"""

import asyncio
from collections import deque
from collections.abc import Mapping
from typing import Final

MAX_EVENTS: Final = 1000

MAX_UNACKNOWLEDGED: Final = 12
"""0.6 s at 20 frames per second."""

MAX_FRAMES: Final = 3
"""Two frames sometimes arrive at once; older ones would be outdated."""


class Resync:
    """Placeholder for a new snapshot."""


RESYNC: Final = Resync()

Outgoing = str | bytes | Resync


class Outbox:
    """One browser's messages. Adding never blocks; `wake` is set when a message can be sent."""

    def __init__(self) -> None:
        self.wake = asyncio.Event()
        self._reply: str | None = None
        self._resync = False
        self._events: deque[str] = deque()
        self._sections: dict[str, str] = {}
        self._now = "null"
        self._paused = False
        self._wants_frames = True
        self._frames: deque[tuple[int, bytes]] = deque(maxlen=MAX_FRAMES)
        self._unacknowledged: deque[int] = deque()

    def put_reply(self, message: str) -> None:
        self._reply = message
        self.wake.set()

    def put_resync(self) -> None:
        self._clear_texts()
        self._resync = True
        self.wake.set()

    def put_event(self, message: str) -> None:
        if self._resync or self._paused:
            return
        self._events.append(message)
        if len(self._events) > MAX_EVENTS:
            self.put_resync()
        self.wake.set()

    def put_sections(self, sections: Mapping[str, str], now: str) -> None:
        if self._resync or self._paused:
            return
        self._now = now
        self._sections.update(sections)
        self.wake.set()

    def put_frame(self, sequence: int, packed: bytes) -> None:
        self._frames.append((sequence, packed))
        self.wake.set()

    def acknowledge(self, sequence: int) -> None:
        """Mark this frame and all earlier ones as drawn."""
        while self._unacknowledged and self._unacknowledged[0] <= sequence:
            self._unacknowledged.popleft()
        if self._frames:  # only frames wait for an acknowledgement
            self.wake.set()

    def want(self, *, frames: bool, texts: bool) -> None:
        """Set which messages the page wants; a snapshot follows when texts are resumed."""
        self._wants_frames = frames
        paused, self._paused = self._paused, not texts
        if self._paused:
            self._clear_texts()
            self._resync = False
        elif paused:
            self.put_resync()
        self.wake.set()

    def take(self) -> Outgoing | None:
        """Remove and return the next message to send, or None."""
        if self._reply is not None:
            reply, self._reply = self._reply, None
            return reply
        if self._resync:
            self._resync = False
            return RESYNC
        if self._events:
            return self._events.popleft()
        if self._sections:
            return self._take_sections()
        if self._frames and self._may_send_frame():
            sequence, packed = self._frames.popleft()
            self._unacknowledged.append(sequence)
            return packed
        return None

    def _may_send_frame(self) -> bool:
        return self._wants_frames and len(self._unacknowledged) < MAX_UNACKNOWLEDGED

    def _take_sections(self) -> str:
        members = ",".join(
            f'"{name}":{text}' for name, text in {"now": self._now, **self._sections}.items()
        )
        self._sections.clear()
        return f'{{"v":1,"type":"metrics","data":{{{members}}}}}'

    def _clear_texts(self) -> None:
        self._events.clear()
        self._sections.clear()
