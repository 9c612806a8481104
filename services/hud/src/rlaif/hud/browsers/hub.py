"""Sends frames, sections and events to all browsers; a slow one does not delay the others."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

from pydantic_core import to_json

from rlaif.hud.browsers.outbox import Outbox, Resync
from rlaif.hud.read_model.sections import SECTIONS
from rlaif.hud.read_model.views import JournalEntry, Snapshot
from rlaif.service.problems import Problem


def message(kind: str, data: Any) -> str:
    """A JSON text message of the protocol's version 1."""
    return f'{{"v":1,"type":"{kind}","data":{to_json(data).decode()}}}'


class Hub:
    """The connected browsers, at most `max_clients`."""

    def __init__(self, snapshot: Callable[[], Snapshot], *, max_clients: int) -> None:
        self._snapshot = snapshot
        self._max_clients = max_clients
        self._outboxes: set[Outbox] = set()
        self._frame: tuple[int, bytes] | None = None
        self._sections: dict[str, str] = {}
        self.closed = asyncio.Event()

    @property
    def clients(self) -> int:
        return len(self._outboxes)

    def join(self) -> Outbox:
        """Add a browser, or raise a `Problem`. It first gets a snapshot and the newest frame."""
        if self.closed.is_set():
            raise Problem(503, "stopping", "The HUD is stopping")
        if self.clients >= self._max_clients:
            raise Problem(
                503,
                "too-many-pages",
                "Too many pages are connected",
                f"{self.clients} pages are connected, the maximum; close one.",
                headers={"Retry-After": "10"},
            )
        outbox = Outbox()
        outbox.put_event(self.opening())
        if self._frame is not None:
            outbox.put_frame(*self._frame)
        self._outboxes.add(outbox)
        return outbox

    def leave(self, outbox: Outbox) -> None:
        self._outboxes.discard(outbox)

    def close(self) -> None:
        self.closed.set()

    def send_frame(self, sequence: int, packed: bytes) -> None:
        self._frame = (sequence, packed)
        for outbox in self._outboxes:
            outbox.put_frame(sequence, packed)

    def send_sections(self, sections: dict[str, Any], *, now: datetime) -> None:
        """Queue the sections that differ from the last ones sent, for all browsers."""
        texts = {name: to_json(value).decode() for name, value in sections.items()}
        changed = {name: text for name, text in texts.items() if self._sections.get(name) != text}
        self._sections.update(changed)
        if not changed:
            return
        at = to_json(now).decode()
        for outbox in self._outboxes:
            outbox.put_sections(changed, at)

    def send_events(self, entries: tuple[JournalEntry, ...]) -> None:
        for entry in entries if self._outboxes else ():
            text = message("event", entry)
            for outbox in self._outboxes:
                outbox.put_event(text)

    def resync(self) -> None:
        """Replace the queued texts of each browser with a new snapshot."""
        for outbox in self._outboxes:
            outbox.put_resync()

    def opening(self) -> str:
        """The snapshot message with which a page starts.

        The other pages get the changes too: `send_sections` compares with one state for all.
        """
        snapshot = self._snapshot()
        sections = {name: getattr(snapshot, name) for name in SECTIONS}
        self.send_sections(sections, now=snapshot.taken_at)
        return message("snapshot", snapshot)


async def pump(
    outbox: Outbox,
    send: Callable[[str | bytes], Awaitable[None]],
    snapshot: Callable[[], str],
    *,
    send_timeout: float = 30.0,
) -> None:
    """Send the messages of the outbox, until cancelled.

    Raises:
        TimeoutError: A message could not be sent within `send_timeout` seconds.
    """
    while True:
        outbox.wake.clear()
        while (item := outbox.take()) is not None:
            async with asyncio.timeout(send_timeout):
                await send(snapshot() if isinstance(item, Resync) else item)
        await outbox.wake.wait()
