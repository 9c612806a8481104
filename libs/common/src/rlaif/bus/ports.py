"""What a service needs of the bus."""

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
        """Store one event in its stream, as part of the current trace; False if it was there.

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
        """Yield events of these classes: all that are stored, then new ones (or only new ones).

        Their `time` is that at which they were stored.
        """


@dataclass(frozen=True)
class WorkerSettings:
    """Parameters of one worker.

    Attributes:
        ack_wait: An event without heartbeat for this long goes to another worker. Set on the
            consumer, so the same for all its workers.
        heartbeat: Pause between heartbeats; at most a third of `ack_wait` is used.
        deadline: A handler that runs longer is cancelled and its event retried.
        max_attempts: Of an event whose handler raises `Suspect` or fails unexpectedly.
        retry_base: Wait after the first failure; doubles up to `retry_cap`.
        stop_timeout: How long `stop` waits for running handlers.
        fetch_timeout: One wait for an event; an idle worker notices `stop` after at most this.
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
