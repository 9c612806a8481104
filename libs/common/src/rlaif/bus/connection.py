"""The operations of a service on its connection to NATS."""

from datetime import timedelta
from typing import Protocol

from rlaif.bus import dead_letters, history, queues, topology
from rlaif.bus.feed import LossyTelemetry, StreamFeed
from rlaif.bus.link import Link
from rlaif.bus.ports import EventFeed, Publisher, TelemetryPublisher
from rlaif.bus.publisher import EventPublisher
from rlaif.bus.topology import TopologySettings
from rlaif.contracts.catalog import spec_of
from rlaif.contracts.events import CloudEvent, DeadLetter, EventData

PUBLISH_DEADLINE = timedelta(seconds=30)


async def connect(
    url: str,
    *,
    name: str,
    timeout: timedelta = timedelta(seconds=3),  # noqa: ASYNC109  # nats-py has no such option with endless reconnects
    settings: TopologySettings | None = None,
    ca_file: str | None = None,
    manage_streams: bool = True,
) -> "Bus":
    """Open a connection that reconnects after every restart of NATS.

    `name` is shown in NATS monitoring; `timeout` applies to the first connection only.

    Raises:
        BusUnavailableError: No server answered in time, or it refused the credentials.
    """
    bus = Bus(url, settings or TopologySettings(), ca_file=ca_file, manage_streams=manage_streams)
    await bus.open(name, timeout)
    return bus


class NatsSettings(Protocol):
    """The settings of a service for the connection to NATS and the creation of its streams."""

    @property
    def nats_url(self) -> str: ...  # described in rlaif.service.settings
    @property
    def nats_ca_file(self) -> str: ...  # described in rlaif.service.settings
    @property
    def nats_manage_streams(self) -> bool: ...  # described in rlaif.service.settings


async def open_bus(settings: NatsSettings, *, name: str) -> "Bus":
    """Open the bus of a service: `connect_ready` with its settings, and with the same errors."""
    return await connect_ready(
        settings.nats_url,
        name=name,
        ca_file=settings.nats_ca_file or None,
        manage_streams=settings.nats_manage_streams,
    )


async def connect_ready(
    url: str, *, name: str, ca_file: str | None = None, manage_streams: bool = True
) -> "Bus":
    """Like `connect`, then ensure all streams and consumers; on an error the bus is closed.

    Raises:
        StreamsMissingError: Some are missing, and `manage_streams` is false.
    """
    bus = await connect(url, name=name, ca_file=ca_file, manage_streams=manage_streams)
    try:
        await bus.ensure_topology()
    except BaseException:
        await bus.close()
        raise
    return bus


class Bus(Link):
    """An open connection; its requests raise `BusUnavailableError` if NATS fails."""

    def publisher(
        self, source: str, *, deadline: timedelta = PUBLISH_DEADLINE, again: int | None = None
    ) -> Publisher:
        """Publisher of `source`; `again` changes the event ids, see `again_id`."""
        return EventPublisher(self, source, deadline=deadline, again=again)

    def telemetry(self) -> TelemetryPublisher:
        return LossyTelemetry(self)

    def feed(self) -> EventFeed:
        return StreamFeed(self)

    async def align_topology(self) -> list[str]:
        """Create missing streams and consumers and update others; returns a line about each."""
        with self.asking("align the streams"):
            return await topology.align_topology(self.jetstream, self._settings)

    async def make_room(self, *, above: float) -> list[str]:
        """Drop handled events of streams filled above this share; returns the changed streams."""
        with self.asking("make room in the streams"):
            full = await topology.full_streams(self.jetstream, above=above)
            return [each for each in full if await topology.make_room(self.jetstream, each)]

    async def delete_topology(self) -> None:
        """Delete every stream with all its events. For tests and for a fresh start."""
        with self.asking("delete the streams"):
            await topology.delete_topology(self.jetstream)

    async def backlog(self, event_class: type[EventData], consumer: str) -> int:
        """Number of events that are undelivered to `consumer` or not acknowledged by it."""
        stream = spec_of(event_class).stream
        with self.asking(f"read the backlog of {consumer} on {stream}"):
            info = await self.jetstream.consumer_info(stream, consumer)
        return (info.num_pending or 0) + (info.num_ack_pending or 0)

    async def stored(self, event_class: type[EventData]) -> history.StoredEvents:
        """All currently stored events of a type."""
        with self.asking(f"read the stored events of {event_class.__name__}"):
            return await history.stored_events(self.jetstream, event_class)

    async def queues(self) -> queues.Queues:
        with self.asking("read the queues"):
            return await queues.read_queues(self.jetstream)

    async def dead_letters(self) -> list[CloudEvent[DeadLetter]]:
        """All dead letters, newest first."""
        with self.asking("list the dead letters"):
            return await dead_letters.stored_letters(self.jetstream)

    async def redrive(self, event_id: str) -> str:
        """Send a dead event to its stream again, remove its dead letter, and return its new id."""
        with self.asking(f"redrive {event_id}"):
            return await dead_letters.redrive(self, event_id, deadline=PUBLISH_DEADLINE)
