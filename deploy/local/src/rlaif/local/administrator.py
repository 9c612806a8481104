"""Creates the streams of a local pipeline and removes handled events; services may not."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator

from rlaif.bootstrap.preparing import FULL
from rlaif.bus.connection import Bus, connect
from rlaif.bus.errors import BusError
from rlaif.service.background import BackgroundTasks

_SECONDS = 5.0
"""Interval of the checks: the longest interruption after NATS has lost its streams."""

logger = logging.getLogger(__name__)


@contextlib.asynccontextmanager
async def administered(nats_url: str) -> AsyncIterator[None]:
    """Create the streams, then maintain them and their free space inside the context.

    Raises:
        BusUnavailableError: The streams could not be created.
    """
    bus = await connect(nats_url, name="administrator")
    try:
        for line in await bus.align_topology():
            logger.debug("%s", line)
        tasks = BackgroundTasks({"streams": lambda: _keep(bus)}, outage_errors=(BusError,))
        async with tasks.running():
            yield
    finally:
        await bus.close()


async def _keep(bus: Bus) -> None:
    while True:
        await asyncio.sleep(_SECONDS)
        await bus.ensure_topology()
        await bus.make_room(above=FULL)
