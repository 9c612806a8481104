"""One place says which event travels on which subject, in which stream, from whom to whom.

No other module spells a subject, a stream or a consumer name.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any, TypeVar

from pydantic import ValidationError

from rlaif.contracts.events import (
    ChampionChanged,
    CloudEvent,
    DeadLetter,
    EventData,
    RewardModelPublished,
    RewardModelRejected,
    RunIterated,
    RunLoaded,
    RunStarted,
    SegmentCaptured,
    SegmentExported,
    SegmentScored,
)

D = TypeVar("D", bound=EventData)


class UnknownEventError(ValueError):
    """The message is not an event of this catalog; its text says what was wrong."""


@dataclass(frozen=True)
class EventSpec:
    """The route of one event type.

    Attributes:
        data: Class of the event's data.
        type: CloudEvents type; the version is part of it.
        subject: NATS subject. `{stream}` is filled in for dead letters.
        stream: JetStream stream that stores it.
        dedupe_key: Event id from the data: equal effects give equal ids.
        about: Id of the thing that the event is about (CloudEvents `subject`).
        producer: Service that publishes it.
        consumers: Durable pull consumers, one queue group each.
    """

    data: type[EventData]
    type: str
    subject: str
    stream: str
    dedupe_key: Callable[[Any], str]
    about: Callable[[Any], str]
    producer: str
    consumers: tuple[str, ...] = ()

    @property
    def pattern(self) -> str:
        """The subject with a wildcard where it holds a name: all events of this row match it."""
        return self.subject.format(stream=">")

    def subject_for(self, data: EventData) -> str:
        """The concrete subject on which `data` travels."""
        if isinstance(data, DeadLetter):
            return self.subject.format(stream=data.stream)
        return self.subject


@dataclass(frozen=True)
class StreamSpec:
    """How one stream keeps its events; a `max_age` of zero keeps them until they are deleted.

    `share` is its room, as a share of a busy stream's. A full stream refuses new events, or drops
    the oldest if `drops_oldest` is set: such events are not handled one by one.
    """

    name: str
    max_age: timedelta = timedelta(days=30)
    share: float = 1.0
    max_message_bytes: int = 64 * 1024
    drops_oldest: bool = False

    @property
    def subjects(self) -> tuple[str, ...]:
        """The subjects that it stores, in catalog order."""
        return tuple(spec.pattern for spec in CATALOG if spec.stream == self.name)


STREAMS: dict[str, StreamSpec] = {
    stream.name: stream
    for stream in (
        StreamSpec("CAPTURES"),
        StreamSpec("SEGMENTS"),
        StreamSpec("SCORES"),
        StreamSpec("REWARD_MODELS", max_age=timedelta(days=365), share=0.5),
        # For people who look back; a day of training is about 5 MB.
        StreamSpec("HISTORY", max_age=timedelta(days=365), share=0.25, drops_oldest=True),
        # A dead letter holds its original, and a text that was not JSON grows up to six-fold when
        # it is escaped.
        StreamSpec("DEAD", max_age=timedelta(0), max_message_bytes=512 * 1024),
    )
}
"""Every stream by its name."""

CATALOG: tuple[EventSpec, ...] = (
    EventSpec(
        data=SegmentCaptured,
        type="rlaif.segment.captured.v1",
        subject="segment.captured",
        stream="CAPTURES",
        dedupe_key=lambda e: f"captured:{e.segment_id}",
        about=lambda e: e.segment_id,
        producer="trainer",
        consumers=("exporter",),
    ),
    EventSpec(
        data=SegmentExported,
        type="rlaif.segment.exported.v1",
        subject="segment.exported",
        stream="SEGMENTS",
        dedupe_key=lambda e: f"exported:{e.segment_id}",
        about=lambda e: e.segment_id,
        producer="exporter",
        consumers=("judge",),
    ),
    EventSpec(
        data=SegmentScored,
        type="rlaif.segment.scored.v1",
        subject="segment.scored",
        stream="SCORES",
        dedupe_key=lambda e: f"scored:{e.judge_config}:{e.segment_id}",
        about=lambda e: e.segment_id,
        producer="judge",
        consumers=("reward-model",),
    ),
    EventSpec(
        data=RewardModelPublished,
        type="rlaif.rm.published.v1",
        subject="rm.published",
        stream="REWARD_MODELS",
        dedupe_key=lambda e: f"published:{e.version}:{e.model_sha256[:16]}:{e.activation}",
        about=lambda e: f"v{e.version}",
        producer="reward-model",
        consumers=("trainer",),
    ),
    EventSpec(
        data=RewardModelRejected,
        type="rlaif.rm.rejected.v1",
        subject="rm.rejected",
        stream="REWARD_MODELS",
        dedupe_key=lambda e: f"rejected:{e.candidate_id}",
        about=lambda e: e.candidate_id,
        producer="reward-model",
    ),
    EventSpec(
        data=ChampionChanged,
        type="rlaif.rm.changed.v1",
        subject="rm.changed",
        stream="HISTORY",
        dedupe_key=lambda e: f"changed:{e.activation}:{e.changed_at}",
        about=lambda e: f"v{e.version}",
        producer="reward-model",
    ),
    EventSpec(
        data=RunStarted,
        type="rlaif.run.started.v1",
        subject="run.started",
        stream="HISTORY",
        dedupe_key=lambda e: f"started:{e.run_id}:{e.attempt}",
        about=lambda e: e.run_id,
        producer="trainer",
    ),
    EventSpec(
        data=RunLoaded,
        type="rlaif.run.loaded.v1",
        subject="run.loaded",
        stream="HISTORY",
        dedupe_key=lambda e: f"loaded:{e.run_id}:{e.attempt}:{e.env_step}:{e.version}",
        about=lambda e: e.run_id,
        producer="trainer",
    ),
    EventSpec(
        data=RunIterated,
        type="rlaif.run.iterated.v1",
        subject="run.iterated",
        stream="HISTORY",
        dedupe_key=lambda e: f"iterated:{e.run_id}:{e.attempt}:{e.env_step}",
        about=lambda e: e.run_id,
        producer="trainer",
    ),
    EventSpec(
        data=DeadLetter,
        type="rlaif.dead-letter.v1",
        subject="dead.{stream}",
        stream="DEAD",
        dedupe_key=lambda e: f"dead:{e.consumer}:{e.event_id}",
        about=lambda e: e.event_id,
        producer="any",
    ),
)

_BY_DATA = {spec.data: spec for spec in CATALOG}
_BY_TYPE = {spec.type: spec for spec in CATALOG}


def spec_of(data: type[EventData]) -> EventSpec:
    """The catalog row of an event class."""
    return _BY_DATA[data]


def envelop(
    data: D, *, source: str, time: datetime, traceparent: str | None = None
) -> CloudEvent[D]:
    """Put `data` into its envelope; equal data gives an equal event id."""
    spec = spec_of(type(data))
    return CloudEvent(
        id=spec.dedupe_key(data),
        source=source,
        type=spec.type,
        subject=spec.about(data),
        time=time,
        traceparent=traceparent,
        data=data,
    )


@cache
def _envelope_of(data: type[EventData]) -> type[CloudEvent[Any]]:
    """The envelope's class for an event class; pydantic would build it for each event."""
    return CloudEvent[data]  # type: ignore[valid-type]  # the class is chosen at run time


def parse_event(payload: bytes) -> CloudEvent[Any]:
    """Read one event; its `data` has the class that the catalog gives for its type.

    Raises:
        UnknownEventError: Not JSON, not a CloudEvent, of a type that the catalog lacks, or with
            data that does not fit its class.
    """
    try:
        head = _envelope_of(EventData).model_validate_json(payload)
        spec = _BY_TYPE.get(head.type)
        if spec is None:
            raise UnknownEventError(
                f"event type {head.type!r} is not in the catalog; known: {', '.join(_BY_TYPE)}"
            )
        return _envelope_of(spec.data).model_validate_json(payload)
    except ValidationError as error:
        raise UnknownEventError(f"not a valid event: {error}") from error
