"""Fill levels of the streams and backlogs of the consumers."""

from dataclasses import dataclass
from datetime import datetime

from nats.js import JetStreamContext

from rlaif.contracts.catalog import CATALOG, STREAMS


@dataclass(frozen=True)
class StreamFill:
    """Fill level of a stream; `max_bytes` is None if only the server limits it."""

    name: str
    messages: int
    bytes: int
    max_bytes: int | None


@dataclass(frozen=True)
class Queue:
    """Backlog of a consumer.

    Attributes:
        event: Type of the events.
        pending: Undelivered events.
        in_flight: Delivered events without an acknowledgement.
        redelivered: Of these, delivered more than once.
        acknowledged_at: Time of the last acknowledgement; None if there is none.
    """

    consumer: str
    stream: str
    event: str
    pending: int
    in_flight: int
    redelivered: int
    acknowledged_at: datetime | None


@dataclass(frozen=True)
class Queues:
    """All streams and all durable consumers of the catalog."""

    streams: tuple[StreamFill, ...]
    queues: tuple[Queue, ...]


async def read_queues(js: JetStreamContext) -> Queues:
    """Read all of them from the server."""
    streams = []
    for name in STREAMS:
        info = await js.stream_info(name)
        most = info.config.max_bytes
        streams.append(
            StreamFill(
                name=name,
                messages=info.state.messages,
                bytes=info.state.bytes,
                max_bytes=most if most is not None and most > 0 else None,
            )
        )
    queues = []
    for spec in CATALOG:
        for consumer in spec.consumers:
            found = await js.consumer_info(spec.stream, consumer)
            floor = found.ack_floor
            queues.append(
                Queue(
                    consumer=consumer,
                    stream=spec.stream,
                    event=spec.type,
                    pending=found.num_pending or 0,
                    in_flight=found.num_ack_pending or 0,
                    redelivered=found.num_redelivered or 0,
                    acknowledged_at=floor.last_active if floor is not None else None,
                )
            )
    return Queues(tuple(streams), tuple(queues))
