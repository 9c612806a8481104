"""A publisher without a bus."""

from typing import Any

from rlaif.contracts.envelope import CloudEvent
from rlaif.contracts.events import EventData


class RecordingPublisher:
    """Keeps what is published.

    Attributes:
        published: The events, in order.
        causes: The cause of each.
        error: While set, every publish fails with it and keeps nothing.
    """

    def __init__(self) -> None:
        self.published: list[EventData] = []
        self.causes: list[CloudEvent[Any] | None] = []
        self.error: Exception | None = None

    async def publish(self, data: EventData, *, cause: CloudEvent[Any] | None = None) -> bool:
        """Keep the event; fits `rlaif.bus.ports.Publisher`."""
        if self.error is not None:
            raise self.error
        self.published.append(data)
        self.causes.append(cause)
        return True
