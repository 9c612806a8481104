"""Interfaces of the bus for services."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol

from rlaif.contracts.events import CloudEvent, EventData
from rlaif.contracts.telemetry.readings import Telemetry

Handler = Callable[[CloudEvent[Any]], Awaitable[None]]
"""Handles one event; returns, or raises an `Outcome` (`rlaif.bus.outcome`)."""


class Publisher(Protocol):
    """Publishes events."""

    async def publish(self, data: EventData) -> bool:
        """Store one event in its stream within the current trace; False for a duplicate.

        Raises:
            BusUnavailableError: Not stored within the publisher's deadline.
        """


class TelemetryPublisher(Protocol):
    """Sends live readings; never blocks or fails, and drops them while the bus is unavailable."""

    async def send(self, reading: Telemetry) -> None:
        """Send one JSON reading on its subject."""

    async def send_bytes(self, subject: str, payload: bytes) -> None:
        """Send raw bytes, such as a screen frame."""


class EventFeed(Protocol):
    """Follows streams without a durable consumer and without acknowledgements."""

    def follow(self, *events: type[EventData], history: bool) -> AsyncIterator[CloudEvent[Any]]:
        """Yield events of these classes: all that are stored, then new ones (or only new ones).

        Their `time` is when they were stored.
        """


@dataclass(frozen=True)
class WorkerSettings:
    """Parameters of one worker.

    Attributes:
        ack_wait: An event without a heartbeat for this long is redelivered to another worker. Set
            on the consumer, so equal for all its workers.
        heartbeat: Interval of heartbeats; at most a third of `ack_wait` is used.
        deadline: A handler that runs longer is cancelled and its event retried.
        max_attempts: For an event whose handler raises `Suspect` or fails unexpectedly.
        retry_base: Wait after the first failure; doubles up to `retry_cap`.
        stop_timeout: How long `stop` waits for running handlers.
        fetch_timeout: Of one fetch; an idle worker stops within this time.
    """

    concurrency: int = 1
    ack_wait: timedelta = timedelta(seconds=30)
    heartbeat: timedelta = timedelta(seconds=10)
    deadline: timedelta = timedelta(minutes=10)
    max_attempts: int = 5
    retry_base: timedelta = timedelta(seconds=1)
    retry_cap: timedelta = timedelta(seconds=60)
    stop_timeout: timedelta = timedelta(seconds=8)
    fetch_timeout: timedelta = timedelta(seconds=1)
