"""Tells each change of the champion to those who look back; nothing in the ring waits for it."""

import asyncio
import logging
from collections import deque

from rlaif.bus.errors import BusUnavailableError, EventRefusedError
from rlaif.bus.ports import Publisher
from rlaif.contracts.events import ChampionChanged

logger = logging.getLogger(__name__)

_MOST_WAITING = 100
"""While NATS takes none; the oldest go first, and the next start tells how it stands anyway."""

_RETRY_SECONDS = 5.0


class ChangeTeller:
    """Publishes changes in their order, beside the events that the ring needs."""

    def __init__(self, publisher: Publisher) -> None:
        """Publish through `publisher`."""
        self._publisher = publisher
        self._waiting: deque[ChampionChanged] = deque(maxlen=_MOST_WAITING)
        self._wake = asyncio.Event()

    def note(self, change: ChampionChanged) -> None:
        """Publish it soon."""
        self._waiting.append(change)
        self._wake.set()

    async def run(self) -> None:
        """Publish until cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._waiting:
                change = self._waiting[0]
                try:
                    await self._publisher.publish(change)
                except BusUnavailableError as error:
                    logger.warning("a change of the champion waits: %s", error)
                    await asyncio.sleep(_RETRY_SECONDS)
                    continue
                except EventRefusedError as error:
                    logger.error("a change of the champion is told to nobody: %s", error)
                # A full queue may have dropped it meanwhile.
                if self._waiting and self._waiting[0] is change:
                    self._waiting.popleft()
