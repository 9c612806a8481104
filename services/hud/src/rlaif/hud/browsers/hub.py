"""Fans frames, sections and events out to all browsers; a slow one delays nobody.

HubError
├── HubFullError    as many browsers are connected as are allowed
└── HubClosedError  the service is stopping
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

from pydantic_core import to_json

from rlaif.hud.browsers.outbox import Outbox, Resync
from rlaif.hud.read_model.views import JournalEntry, Snapshot


class HubError(Exception):
    """Base of what `join` raises."""


class HubFullError(HubError):
    """As many browsers are connected as are allowed."""


class HubClosedError(HubError):
    """The service is stopping."""


def message(kind: str, data: Any) -> str:
    """A JSON text message of the protocol's version 1."""
    return f'{{"v":1,"type":"{kind}","data":{to_json(data).decode()}}}'


class Hub:
    """The connected browsers, at most `most_clients`; one costs about 60 us of CPU a message."""

    def __init__(self, snapshot: Callable[[], Snapshot], *, most_clients: int) -> None:
        self._snapshot = snapshot
        self._most_clients = most_clients
        self._outboxes: set[Outbox] = set()
        self._frame: tuple[int, bytes] | None = None
        self._sent: dict[str, str] = {}
        self.closed = asyncio.Event()

    @property
    def clients(self) -> int:
        """Browsers connected now."""
        return len(self._outboxes)

    def join(self) -> Outbox:
        """Add a browser, or raise a `HubError`. It first gets a snapshot and the newest frame."""
        if self.closed.is_set():
            raise HubClosedError("The HUD is stopping.")
        if self.clients >= self._most_clients:
            raise HubFullError(f"{self.clients} pages are connected; that is the limit.")
        outbox = Outbox()
        outbox.put_event(self.snapshot_message())
        if self._frame is not None:
            outbox.put_frame(*self._frame)
        self._outboxes.add(outbox)
        return outbox

    def leave(self, outbox: Outbox) -> None:
        """Remove a browser; removing it twice is fine."""
        self._outboxes.discard(outbox)

    def close(self) -> None:
        """Send everybody away."""
        self.closed.set()

    def send_frame(self, sequence: int, packed: bytes) -> None:
        """Offer one screen to all."""
        self._frame = (sequence, packed)
        for outbox in self._outboxes:
            outbox.put_frame(sequence, packed)

    def send_sections(self, sections: dict[str, Any], *, now: datetime) -> None:
        """Offer values of sections to all, those that changed; each is turned into JSON once."""
        texts = {name: to_json(value).decode() for name, value in sections.items()}
        texts = {name: text for name, text in texts.items() if self._sent.get(name) != text}
        if not self._outboxes or not texts:
            return
        self._sent |= texts
        texts["now"] = to_json(now).decode()
        for outbox in self._outboxes:
            outbox.put_sections(texts)

    def send_events(self, entries: tuple[JournalEntry, ...]) -> None:
        """Send lines of the event log to all."""
        if not self._outboxes:
            return
        for entry in entries:
            text = message("event", entry)
            for outbox in self._outboxes:
                outbox.put_event(text)

    def resync(self) -> None:
        """Give all a fresh snapshot in place of what waits for them."""
        for outbox in self._outboxes:
            outbox.put_resync()

    def snapshot_message(self) -> str:
        """The message a page starts from."""
        # It may hold what was not sent yet, and may have passed when the next sections are.
        self._sent.clear()
        return message("snapshot", self._snapshot())


async def pump(
    outbox: Outbox,
    send: Callable[[str | bytes], Awaitable[None]],
    snapshot: Callable[[], str],
    *,
    send_timeout: float = 30.0,
) -> None:
    """Send what the outbox gives, until cancelled.

    Raises:
        TimeoutError: One message could not be sent within `send_timeout` seconds; the browser
            is gone or hopelessly slow.
    """
    loop = asyncio.get_running_loop()
    while True:
        outbox.wake.clear()
        while (item := outbox.take(loop.time())) is not None:
            async with asyncio.timeout(send_timeout):
                await send(snapshot() if isinstance(item, Resync) else item)
        due = outbox.due_in(loop.time())
        alarm = loop.call_later(due, outbox.wake.set) if due is not None else None
        try:
            await outbox.wake.wait()
        finally:
            if alarm is not None:
                alarm.cancel()
