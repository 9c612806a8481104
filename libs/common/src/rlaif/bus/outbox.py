"""Publishes events in order; keeps them in memory while NATS is unavailable."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from rlaif.bus.errors import BusUnavailableError, EventRefusedError
from rlaif.bus.ports import Publisher
from rlaif.contracts.events import EventData

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Waiting:
    event: EventData
    on_done: Callable[[], None] | None


class Outbox:
    """A bounded queue of events in front of a publisher.

    `run` publishes in the background and retries; `flush` makes one pass. A full queue drops the
    oldest event. The queue does not survive a restart.
    """

    def __init__(
        self, publisher: Publisher, *, max_waiting: int = 1000, retry_seconds: float = 5.0
    ) -> None:
        self._publisher = publisher
        self._max_waiting = max_waiting
        self._retry_seconds = retry_seconds
        self._queue: deque[_Waiting] = deque()
        self._added = asyncio.Event()
        self._flushing = asyncio.Lock()

    def __len__(self) -> int:
        return len(self._queue)

    def put(self, event: EventData, *, on_done: Callable[[], None] | None = None) -> None:
        """Queue an event; `on_done` is called once it is stored, rejected by NATS or dropped."""
        self._queue.append(_Waiting(event, on_done))
        if len(self._queue) > self._max_waiting:
            logger.error("outbox full: dropped %s", type(self._queue[0].event).__name__)
            self._done(self._queue[0])
        self._added.set()

    async def publish(self, event: EventData) -> None:
        self.put(event)
        await self.flush()

    async def flush(self) -> bool:
        """Publish what NATS accepts now, oldest first; False if events are left."""
        async with self._flushing:
            while self._queue:
                item = self._queue[0]
                try:
                    await self._publisher.publish(item.event)
                except BusUnavailableError as error:
                    logger.warning("event not published yet, will retry: %s", error)
                    return False
                except EventRefusedError as error:
                    logger.error("event dropped: %s", error)
                self._done(item)
        return True

    async def run(self) -> None:
        while True:
            await self._added.wait()
            self._added.clear()
            if not await self.flush():
                await asyncio.sleep(self._retry_seconds)
                self._added.set()

    def _done(self, item: _Waiting) -> None:
        # A full queue may have dropped it while it was being published.
        if self._queue and self._queue[0] is item:
            self._queue.popleft()
            if item.on_done is not None:
                item.on_done()
