"""Publishes what runs went through, as it becomes due; nothing in the ring waits for it."""

import asyncio
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol

from rlaif.bus.errors import BusUnavailableError, EventRefusedError
from rlaif.bus.ports import Publisher
from rlaif.contracts.events import EventData

log = logging.getLogger(__name__)

_LOOK_SECONDS = 1.0
_RETRY_SECONDS = 5.0


class Pasts(Protocol):
    """What is still to be told, of all runs."""

    def next_past(self) -> EventData | None:
        """The event to publish now; None while there is none."""

    def told_past(self, event: EventData, now: datetime) -> None:
        """It was published, or nobody can."""


async def tell_pasts(
    pasts: Pasts, publisher: Publisher, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> None:
    """Publish until cancelled; while NATS is away, pieces grow instead of being many."""
    while True:
        event = pasts.next_past()
        if event is None:
            await asyncio.sleep(_LOOK_SECONDS)
            continue
        try:
            await publisher.publish(event)
        except BusUnavailableError as error:
            log.warning("the run's past waits", extra={"reason": str(error)})
            await asyncio.sleep(_RETRY_SECONDS)
            continue
        except EventRefusedError as error:
            log.error("a piece of the run's past is lost", extra={"reason": str(error)})
        pasts.told_past(event, now())
