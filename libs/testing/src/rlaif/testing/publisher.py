"""A publisher without a bus."""

from rlaif.contracts.events import EventData


class RecordingPublisher:
    """Keeps what is published.

    Attributes:
        published: The events, in order.
        error: While set, every publish fails with it and keeps nothing.
    """

    def __init__(self) -> None:
        self.published: list[EventData] = []
        self.error: Exception | None = None

    async def publish(self, data: EventData) -> bool:
        """Keep the event; fits `rlaif.bus.ports.Publisher`."""
        if self.error is not None:
            raise self.error
        self.published.append(data)
        return True
