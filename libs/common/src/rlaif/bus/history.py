"""All stored events of a kind, read once to their end."""

from dataclasses import dataclass
from typing import Any

from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy
from nats.js.errors import NotFoundError

from rlaif.contracts.catalog import UnknownEventError, parse_event, spec_of
from rlaif.contracts.events import EventData

_BATCH = 200
_FETCH_SECONDS = 10.0


@dataclass(frozen=True)
class StoredEvents:
    """What a stream has of one kind of events.

    Attributes:
        data: Data of each event, oldest first; what is no event is left out.
        unfinished: Those of them that a consumer has not finished.
        complete: Whether the stream has never dropped an event.
    """

    data: tuple[Any, ...]
    unfinished: tuple[Any, ...]
    complete: bool


async def stored_events(js: JetStreamContext, kind: type[EventData]) -> StoredEvents:
    """Read the events that are stored now."""
    spec = spec_of(kind)
    reader = await js.add_consumer(
        spec.stream,
        ConsumerConfig(
            deliver_policy=DeliverPolicy.ALL,
            ack_policy=AckPolicy.NONE,
            filter_subjects=[spec.pattern],
            inactive_threshold=30,  # seconds
            mem_storage=True,
        ),
    )
    subscription = await js.pull_subscribe_bind(reader.name, stream=spec.stream)
    found, left = [], reader.num_pending or 0
    while left:
        for message in await subscription.fetch(min(left, _BATCH), timeout=_FETCH_SECONDS):
            left = message.metadata.num_pending or 0
            try:
                found.append((message.metadata.sequence.stream, parse_event(message.data).data))
            except UnknownEventError:
                continue  # its consumer writes a dead letter
    await subscription.unsubscribe()
    finished = min([await _finished(js, spec.stream, each) for each in spec.consumers], default=0)
    first = (await js.stream_info(spec.stream)).state.first_seq
    return StoredEvents(
        data=tuple(data for _, data in found),
        unfinished=tuple(data for sequence, data in found if sequence > finished),
        complete=first <= 1,
    )


async def _finished(js: JetStreamContext, stream: str, consumer: str) -> int:
    """The sequence up to which a consumer has finished all events."""
    try:
        floor = (await js.consumer_info(stream, consumer)).ack_floor
    except NotFoundError:
        return 0
    return (floor.stream_seq or 0) if floor is not None else 0
