"""Keeps the HUD connected: whatever fails is tried again, and `why` says what is missing."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from rlaif.bus.errors import BusError
from rlaif.hud.broadcast import Broadcast
from rlaif.hud.consumers import LiveBus, listen
from rlaif.pacing.backoff import backoff
from rlaif.storage.ports import ObjectStore, StorageError

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 10.0
PROBE_KEY = "hud/readiness-probe"
"""An object that need not exist: asking for it shows whether the store answers."""

logger = logging.getLogger(__name__)


class BusLink:
    """Connects to the bus and listens, again and again; `why` is None while it does."""

    def __init__(self, connect: Callable[[], Awaitable[LiveBus]], broadcast: Broadcast) -> None:
        self.why: str | None = "not connected yet"
        self._connect = connect
        self._broadcast = broadcast
        self._bus: LiveBus | None = None

    def bus(self) -> LiveBus | None:
        """The bus while it is there."""
        return self._bus if self.check() is None else None

    def check(self) -> str | None:
        """Why the bus is not usable; None when it is."""
        if self.why is None and self._bus is not None and not self._bus.connected:
            return "NATS does not answer; reconnecting"
        return self.why

    async def run(self) -> None:
        """Listen until cancelled."""
        failures = 0
        while True:
            try:
                self._bus = await self._connect()
                self.why, failures = None, 0
                await listen(self._bus, self._broadcast)
            except BusError as error:
                self.why = str(error)
            except ExceptionGroup as group:
                self.why = "; ".join(str(error) for error in group.exceptions)
                if group.split(BusError)[1] is not None:
                    logger.warning("listening ended: %s", self.why, exc_info=group)
            finally:
                await self._close()
            failures += 1
            pause = backoff(failures, base=FIRST_PAUSE, cap=LONGEST_PAUSE)
            logger.info("no bus: %s; next try in %.1f s", self.why, pause)
            await asyncio.sleep(pause)

    async def _close(self) -> None:
        bus, self._bus = self._bus, None
        if bus is not None:
            try:
                await bus.close()
            except OSError as error:  # the socket broke before it could be emptied
                logger.debug("the bus was gone before it was closed: %s", error)


class StoreWatch:
    """Asks the store from time to time whether it is there; `why` is None when it is."""

    def __init__(self, store: ObjectStore, *, every: float = 5.0) -> None:
        self.why: str | None = "not asked yet"
        self._store = store
        self._every = every

    def check(self) -> str | None:
        """Why the store is not usable; None when it is."""
        return self.why

    async def run(self) -> None:
        """Ask until cancelled."""
        while True:
            try:
                await asyncio.to_thread(self._store.head, PROBE_KEY)
                self.why = None
            except StorageError as error:
                self.why = str(error)
            await asyncio.sleep(self._every)
