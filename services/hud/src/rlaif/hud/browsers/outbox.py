"""What waits to be sent to one browser, and which of it goes next.

Three lanes with three rules:

- events: in order, none dropped; when more than 1,000 wait, all are dropped for one `RESYNC`.
- sections: what changed of each, together, at most four times a second. When the change before has
  not left yet, the newest value goes in place of both: a slow page is told late, but rightly.
- frames: the newest one, or the newest group; up to three for a page that may have all and keeps
  up, as they sometimes come two at a time. At most twelve frames, half a second and 30 kB, are
  under way that the browser has not drawn: it has no back-pressure of its own and would pile them
  up in memory. In groups 24 are, as a page of a crowd acknowledges a third as often: taking an
  acknowledgement in costs more than sending a frame.

A page that rests, because nobody sees it, gets nothing but the reply to its question whether the
HUD is there; when it goes on it gets a snapshot.

Times are seconds of a monotonic clock and are passed in.
"""

import asyncio
from collections import deque
from collections.abc import Mapping
from typing import Final

from rlaif.hud.browsers.told import News

SECTIONS_INTERVAL: Final = 0.25
"""Seconds; text that changes faster cannot be read."""


MOST_UNDER_WAY: Final = 12
"""Frames that were sent one by one and not acknowledged yet."""

MOST_IN_GROUPS: Final = 24
"""The same of frames that were sent in groups: 1.2 s of the screen at its 20 frames a second."""

MOST_FRAMES: Final = 3
"""That wait for a page that takes them all; what is older would only be late."""

ALL_FRAMES: Final = 1 / 25
"""Seconds between two frames below which a page wants all of them."""


class Resync:
    """Stands for a fresh snapshot."""


RESYNC: Final = Resync()

Outgoing = str | bytes | Resync


class Outbox:
    """One browser's lanes. Putting never waits; `wake` is set when something may go."""

    def __init__(self, *, most_events: int = 1000) -> None:
        self.wake = asyncio.Event()
        self.frames_skipped = 0
        self._most_events = most_events
        self._events: deque[str] = deque()
        self._resync = False
        self._sections: dict[str, str] = {}
        self._changes: dict[str, str] = {}
        self._now = "null"
        self._sections_due = 0.0
        self._reply: str | None = None
        self._rests = False
        self.takes_groups = False
        self._frames: deque[tuple[int, bytes, int]] = deque()
        self._most_under_way = MOST_UNDER_WAY
        self._unacked: deque[int] = deque()
        self._frame_interval: float | None = 0.0
        self._frame_due = 0.0

    def put_event(self, message: str) -> None:
        """Add one message that must arrive."""
        if self._resync or self._rests:
            return
        self._events.append(message)
        if len(self._events) > self._most_events:
            self.put_resync()
        self.wake.set()

    def put_reply(self, message: str) -> None:
        """Answer the page; the newest answer is enough."""
        self._reply = message
        self.wake.set()

    def put_resync(self) -> None:
        """Replace all that waits, but the frame, by a fresh snapshot."""
        self._forget_texts()
        self._resync = True
        self.wake.set()

    def put_sections(self, news: Mapping[str, News], now: str) -> None:
        """Add what changed of sections, at `now` as JSON."""
        if self._resync or self._rests:
            return
        self._now = now
        for name, each in news.items():
            waits = name in self._sections or self._changes.pop(name, None) is not None
            if waits or each.change is None:
                self._sections[name] = each.whole
            else:
                self._changes[name] = each.change
        self.wake.set()

    def put_frame(self, sequence: int, packed: bytes, count: int = 1) -> None:
        """Add a frame, or a group that ends with it, in place of those that wait too long."""
        if count > 1:
            self._most_under_way = MOST_IN_GROUPS
        elif len(self._unacked) < MOST_UNDER_WAY:  # before, its acknowledgements are still rare
            self._most_under_way = MOST_UNDER_WAY
        most = MOST_FRAMES if self._may_send_frame() and self._wants_all else 1
        while len(self._frames) >= most:
            self.frames_skipped += self._frames.popleft()[2]
        self._frames.append((sequence, packed, count))
        self.wake.set()

    def ack(self, sequence: int) -> None:
        """The browser has drawn this frame, and so is done with all before it."""
        while self._unacked and self._unacked[0] <= sequence:
            self._unacked.popleft()
        if self._frames:  # nothing else waits for it; most come while all has gone out
            self.wake.set()

    def limit_rate(self, frames_per_second: float, *, in_groups: bool = False) -> None:
        """Send at most so many frames; 0 sends none, for a hidden or paused page.

        Groups are only for a page that wants all frames.
        """
        self._frame_interval = 1 / frames_per_second if frames_per_second > 0 else None
        self.takes_groups = in_groups and self._wants_all
        self.wake.set()

    def rest(self, rests: bool) -> None:
        """Hold the texts back, for a page that nobody sees; afterwards a snapshot catches up."""
        if self._rests == rests:
            return
        self._rests = rests
        if rests:
            self._forget_texts()
            self._resync = False
        else:
            self.put_resync()

    def take(self, now: float) -> Outgoing | None:
        """The next thing to send; None when nothing may go now."""
        if self._reply is not None:
            reply, self._reply = self._reply, None
            return reply
        if self._resync:
            self._resync = False
            return RESYNC
        if self._events:
            return self._events.popleft()
        if self._has_sections and now >= self._sections_due:
            return self._take_sections(now)
        if self._frames and self._may_send_frame() and now >= self._frame_due:
            return self._take_frame(now)
        return None

    def due_in(self, now: float) -> float | None:
        """Seconds until `take` may give something without a further put; None: never."""
        dues = []
        if self._has_sections:
            dues.append(self._sections_due)
        if self._frames and self._may_send_frame():
            dues.append(self._frame_due)
        return max(0.0, min(dues) - now) if dues else None

    @property
    def _has_sections(self) -> bool:
        return bool(self._sections or self._changes)

    def _forget_texts(self) -> None:
        self._events.clear()
        self._sections.clear()
        self._changes.clear()

    @property
    def _wants_all(self) -> bool:
        return self._frame_interval is not None and self._frame_interval < ALL_FRAMES

    def _may_send_frame(self) -> bool:
        return self._frame_interval is not None and len(self._unacked) < self._most_under_way

    def _take_sections(self, now: float) -> str:
        values = _members({"now": self._now} | self._sections)
        changes = _members(self._changes)
        self._sections.clear()
        self._changes.clear()
        self._sections_due = now + SECTIONS_INTERVAL
        return f'{{"v":1,"type":"metrics","data":{{{values}}},"changes":{{{changes}}}}}'

    def _take_frame(self, now: float) -> bytes:
        sequence, packed, count = self._frames.popleft()
        self._unacked.extend([sequence] * count)
        self._frame_due = now + (self._frame_interval or 0.0)
        return packed


def _members(texts: Mapping[str, str]) -> str:
    """Members of a JSON object: name → JSON."""
    return ",".join(f'"{name}":{text}' for name, text in texts.items())
