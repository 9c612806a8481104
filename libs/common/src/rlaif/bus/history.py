"""Reads all stored messages of a stream once."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from nats.aio.msg import Msg
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig
from nats.js.errors import NotFoundError

from rlaif.bus.cancellation import propagating_cancellation
from rlaif.contracts.catalog import UnknownEventError, parse_event, spec_of
from rlaif.contracts.events import EventData

_BATCH = 200
_FETCH_SECONDS = 10.0


@dataclass(frozen=True)
class StoredEvents:
    """The stored events of one type.

    Attributes:
        data: Data of each event, oldest first; invalid messages are skipped.
        unfinished: Those that at least one consumer has not acknowledged.
        complete: Whether the stream has never dropped an event.
    """

    data: tuple[Any, ...]
    unfinished: tuple[Any, ...]
    complete: bool


async def stored_messages(js: JetStreamContext, stream: str, **chosen: Any) -> AsyncIterator[Msg]:
    """Yield the currently stored messages in order; `chosen` are fields of `ConsumerConfig`.

    Raises:
        nats.errors.TimeoutError: No message arrived within ten seconds, or the last ones were
            deleted meanwhile.
    """
    config = ConsumerConfig(
        ack_policy=AckPolicy.NONE, inactive_threshold=30, mem_storage=True, **chosen
    )
    reader = await js.add_consumer(stream, config)
    subscription = await js.pull_subscribe_bind(reader.name, stream=stream)
    left = reader.num_pending or 0
    try:
        while left > 0:
            with propagating_cancellation():
                batch = await subscription.fetch(min(left, _BATCH), timeout=_FETCH_SECONDS)
            for message in batch:
                left = message.metadata.num_pending or 0
                yield message
    finally:
        await subscription.unsubscribe()


async def stored_events(js: JetStreamContext, kind: type[EventData]) -> StoredEvents:
    """Read the currently stored events of a type."""
    spec = spec_of(kind)
    found = []
    async for message in stored_messages(js, spec.stream, filter_subjects=list(spec.stored)):
        try:
            found.append((message.metadata.sequence.stream, parse_event(message.data).data))
        except UnknownEventError:
            continue  # its consumer writes a dead letter
    finished = min([await _finished(js, spec.stream, each) for each in spec.consumers], default=0)
    first = (await js.stream_info(spec.stream)).state.first_seq
    return StoredEvents(
        data=tuple(data for _, data in found),
        unfinished=tuple(data for sequence, data in found if sequence > finished),
        complete=first <= 1,
    )


async def _finished(js: JetStreamContext, stream: str, consumer: str) -> int:
    """The sequence number up to which a consumer has acknowledged all events."""
    try:
        floor = (await js.consumer_info(stream, consumer)).ack_floor
    except NotFoundError:
        return 0
    return (floor.stream_seq or 0) if floor is not None else 0
