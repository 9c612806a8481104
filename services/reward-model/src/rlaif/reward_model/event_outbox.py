"""Events in their order, kept while NATS does not take them."""

import asyncio
import logging

from rlaif.bus.errors import BusUnavailableError
from rlaif.bus.ports import Publisher
from rlaif.contracts.events import EventData

logger = logging.getLogger(__name__)


class EventOutbox:
    """What waits to be published, in memory: a start publishes the champion again anyway."""

    def __init__(self, publisher: Publisher) -> None:
        """Publish through `publisher`."""
        self._publisher = publisher
        self._unpublished: list[EventData] = []
        self._lock = asyncio.Lock()

    async def publish(self, event: EventData) -> None:
        """Publish `event` after those that wait; without NATS it waits too."""
        self._unpublished.append(event)
        await self.publish_waiting()

    async def publish_waiting(self) -> None:
        """Publish all that NATS takes; the rest waits for the next call."""
        async with self._lock:
            while self._unpublished:
                try:
                    await self._publisher.publish(self._unpublished[0])
                except BusUnavailableError as error:
                    logger.warning("an event waits: %s", error)
                    return
                self._unpublished.pop(0)
