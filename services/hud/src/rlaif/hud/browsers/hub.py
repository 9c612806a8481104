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

from rlaif.hud.browsers.frame_group import CROWD, Grouping
from rlaif.hud.browsers.outbox import Outbox, Resync
from rlaif.hud.browsers.told import Told
from rlaif.hud.read_model.views import JournalEntry, Snapshot

SECTIONS = tuple(
    name
    for name in Snapshot.model_fields
    if name not in ("epoch", "build", "taken_at", "last_event_id", "events")
)
"""What a page is told again when it changes; the other fields are of the moment."""


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
    """The connected browsers, at most `most_clients`; each costs 20 to 60 us of CPU a message.

    While many are here, those that take frames in groups get them so.
    """

    def __init__(self, snapshot: Callable[[], Snapshot], *, most_clients: int) -> None:
        self._snapshot = snapshot
        self._most_clients = most_clients
        self._outboxes: set[Outbox] = set()
        self._frame: tuple[int, bytes] | None = None
        self._told = Told()
        self._opening: str | None = None
        self._grouping = Grouping(self._send_group, _later)
        self._in_group: set[Outbox] = set()
        self.closed = asyncio.Event()

    @property
    def clients(self) -> int:
        """Browsers connected now."""
        return len(self._outboxes)

    @property
    def is_crowd(self) -> bool:
        """Whether so many browsers are here that what each costs counts."""
        return self.clients >= CROWD

    def join(self) -> Outbox:
        """Add a browser, or raise a `HubError`. It first gets a snapshot and the newest frame."""
        if self.closed.is_set():
            raise HubClosedError("The HUD is stopping.")
        if self.clients >= self._most_clients:
            raise HubFullError(f"{self.clients} pages are connected; that is the limit.")
        if not self._outboxes:
            self._begin()
        outbox = Outbox()
        outbox.put_event(self.opening())
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
        if not self.is_crowd:
            self._grouping.flush()
        if self._grouping.is_empty:
            # One that comes later has had some of these frames already.
            is_crowd = self.is_crowd
            self._in_group = {each for each in self._outboxes if is_crowd and each.takes_groups}
        for outbox in self._outboxes - self._in_group:
            outbox.put_frame(sequence, packed)
        if self._in_group:
            self._grouping.add(sequence, packed)

    def _send_group(self, sequence: int, packed: bytes, count: int) -> None:
        for outbox in self._in_group:
            if outbox.takes_groups:
                outbox.put_frame(sequence, packed, count)

    def send_sections(self, sections: dict[str, Any], *, now: datetime) -> None:
        """Offer sections to all, those that changed; each change is worked out once."""
        if not self._outboxes:
            return
        news = self._told.news(sections)
        if not news:
            return
        self._opening = None
        at = to_json(now).decode()
        for outbox in self._outboxes:
            outbox.put_sections(news, at)

    def send_events(self, entries: tuple[JournalEntry, ...]) -> None:
        """Send lines of the event log to all."""
        if not self._outboxes or not entries:
            return
        self._opening = None
        for entry in entries:
            text = message("event", entry)
            for outbox in self._outboxes:
                outbox.put_event(text)

    def resync(self) -> None:
        """Give all a fresh snapshot in place of what waits for them."""
        for outbox in self._outboxes:
            outbox.put_resync()

    def opening(self) -> str:
        """The message that a page starts from; many pages that come at once share one.

        Its sections are those that the other pages have: all changes that follow fit to them.
        """
        if self._opening is None:
            head = self._snapshot().model_dump_json(exclude=set(SECTIONS))
            members = f"{head[1:-1]},{self._told.members()}"
            self._opening = f'{{"v":1,"type":"snapshot","data":{{{members}}}}}'
        return self._opening

    def _begin(self) -> None:
        """Nobody was here, and nobody was told: take the sections of now."""
        snapshot = self._snapshot()
        self._told.begin({name: getattr(snapshot, name) for name in SECTIONS})
        self._opening = None


def _later(seconds: float, call: Callable[[], None]) -> None:
    asyncio.get_running_loop().call_later(seconds, call)


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
    patience = _Patience(loop, send_timeout)
    try:
        while True:
            outbox.wake.clear()
            while (item := outbox.take(loop.time())) is not None:
                patience.since = loop.time()
                await send(snapshot() if isinstance(item, Resync) else item)
                patience.since = None
            await _news(outbox, loop)
    except asyncio.CancelledError:
        if patience.ended:
            raise TimeoutError(f"a message could not be sent in {send_timeout:g} s") from None
        raise
    finally:
        patience.close()


class _Patience:
    """Cancels the task that made it when one message takes it longer than `seconds`.

    It looks now and then: `asyncio.timeout` around each message would cost a tenth of sending it.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        self.since: float | None = None
        self.ended = False
        self._loop, self._seconds = loop, seconds
        self._task = asyncio.current_task()
        self._timer = loop.call_later(seconds / 4, self._look)

    def close(self) -> None:
        self._timer.cancel()

    def _look(self) -> None:
        if self.since is None or self._loop.time() - self.since < self._seconds:
            self._timer = self._loop.call_later(self._seconds / 4, self._look)
        elif self._task is not None:
            self.ended = True
            self._task.cancel()


async def _news(outbox: Outbox, loop: asyncio.AbstractEventLoop) -> None:
    """Wait until there may be something to send."""
    due = outbox.due_in(loop.time())
    alarm = loop.call_later(due, outbox.wake.set) if due is not None else None
    try:
        await outbox.wake.wait()
    finally:
        if alarm is not None:
            alarm.cancel()
