"""A publisher without a bus."""

from rlaif.contracts.events import EventData


class RecordingPublisher:
    """Stores published events.

    Attributes:
        published: The events, in order.
        error: While set, every publish raises it and stores nothing.
    """

    def __init__(self) -> None:
        self.published: list[EventData] = []
        self.error: Exception | None = None

    async def publish(self, data: EventData) -> bool:
        """Store the event; implements `rlaif.bus.ports.Publisher`."""
        if self.error is not None:
            raise self.error
        self.published.append(data)
        return True
