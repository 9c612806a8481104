"""What a service needs of the bus."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Protocol

from rlaif.contracts.envelope import CloudEvent
from rlaif.contracts.events import EventData
from rlaif.contracts.telemetry import Telemetry

Handler = Callable[[CloudEvent[Any]], Awaitable[None]]
"""Handles one event; returns, or raises an `Outcome` (`rlaif.bus.outcome`)."""


class Publisher(Protocol):
    """Publishes events."""

    async def publish(self, data: EventData) -> bool:
        """Store one event in its stream, as part of the current trace; False when it was there.

        Retries with the same event id until stored, so an unknown outcome is never a loss.

        Raises:
            BusUnavailableError: Not stored within the publisher's deadline.
        """


class TelemetryPublisher(Protocol):
    """Sends live readings; never waits, never fails, drops when the bus is away."""

    async def send(self, reading: Telemetry) -> None:
        """Send one JSON reading on its subject."""

    async def send_bytes(self, subject: str, payload: bytes) -> None:
        """Send raw bytes, such as a screen frame."""


class EventFeed(Protocol):
    """Follows streams from the side, without a durable consumer and without acknowledging."""

    def follow(self, *events: type[EventData], history: bool) -> AsyncIterator[CloudEvent[Any]]:
        """Yield events of these classes: all that are stored, then new ones (or only new ones)."""
