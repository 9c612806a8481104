"""Routes of all events: subject, stream, producer and consumers.

No other module contains the name of a subject, a stream or a consumer.
"""

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
    RunDescribed,
    RunEvaluated,
    RunIterated,
    RunLoaded,
    RunStarted,
    SegmentCaptured,
    SegmentExported,
    SegmentScored,
)

D = TypeVar("D", bound=EventData)


class UnknownEventError(ValueError):
    """The message is not an event of this catalog; the error message has the reason."""


@dataclass(frozen=True)
class EventSpec:
    """The route of one event type.

    Attributes:
        data: Class of the event's data.
        type: CloudEvents type, including the version.
        subject: NATS subject. `{stream}` is filled in for dead letters.
        stream: JetStream stream that stores it.
        id_format: Event id with fields of the data, equal for equal effects.
        about_format: Id of the subject of the event (CloudEvents `subject`).
        producer: Service that publishes it.
        consumers: Durable pull consumers, one queue group each.
    """

    data: type[EventData]
    type: str
    subject: str
    stream: str
    id_format: str
    about_format: str
    producer: str
    consumers: tuple[str, ...] = ()

    @property
    def pattern(self) -> str:
        """The subject with a wildcard instead of a name, which matches all events of this row."""
        return self.subject.format(stream=">")

    @property
    def stored(self) -> tuple[str, ...]:
        """The patterns of all subjects under which these events are stored."""
        return (self.pattern, *map(retry_subject, self.consumers))

    def subject_for(self, data: EventData) -> str:
        return self.subject.format_map(vars(data))

    def dedupe_key(self, data: EventData) -> str:
        return self.id_format.format_map(vars(data))

    def about(self, data: EventData) -> str:
        return self.about_format.format_map(vars(data))


@dataclass(frozen=True)
class StreamSpec:
    """Retention of one stream; a `max_age` of zero keeps events until they are deleted.

    `share` is its size relative to a busy stream. A full stream rejects new events, or drops the
    oldest if `drops_oldest` is set, for streams without durable consumers.
    """

    name: str
    max_age: timedelta = timedelta(days=30)
    share: float = 1.0
    max_message_bytes: int = 64 * 1024
    drops_oldest: bool = False

    @property
    def subjects(self) -> tuple[str, ...]:
        """The subjects of the stream, in catalog order."""
        return tuple(each for spec in CATALOG if spec.stream == self.name for each in spec.stored)


STREAMS: dict[str, StreamSpec] = {
    stream.name: stream
    for stream in (
        StreamSpec("CAPTURES"),
        StreamSpec("SEGMENTS"),
        StreamSpec("SCORES"),
        StreamSpec("REWARD_MODELS", max_age=timedelta(days=365), share=0.5),
        # For views of past runs; a day of training takes about 5 MB.
        StreamSpec("HISTORY", max_age=timedelta(days=365), share=0.25, drops_oldest=True),
        # A dead letter that cannot be stored would block its event, and so the worker, forever.
        StreamSpec("DEAD", max_age=timedelta(0), max_message_bytes=512 * 1024, drops_oldest=True),
    )
}
"""Streams by name."""

CATALOG: tuple[EventSpec, ...] = (
    EventSpec(
        SegmentCaptured, "rlaif.segment.captured.v1", "segment.captured", "CAPTURES",
        "captured:{segment_id}", "{segment_id}", "trainer", ("exporter",),
    ),
    EventSpec(
        SegmentExported, "rlaif.segment.exported.v1", "segment.exported", "SEGMENTS",
        "exported:{segment_id}", "{segment_id}", "exporter", ("judge",),
    ),
    EventSpec(
        SegmentScored, "rlaif.segment.scored.v1", "segment.scored", "SCORES",
        "scored:{judge_config}:{segment_id}", "{segment_id}", "judge", ("reward-model",),
    ),
    EventSpec(
        RewardModelPublished, "rlaif.rm.published.v1", "rm.published", "REWARD_MODELS",
        "published:{version}:{model_sha256:.16}:{activation}", "v{version}",
        "reward-model", ("trainer",),
    ),
    EventSpec(
        RewardModelRejected, "rlaif.rm.rejected.v1", "rm.rejected", "REWARD_MODELS",
        "rejected:{candidate_id}", "{candidate_id}", "reward-model",
    ),
    EventSpec(
        ChampionChanged, "rlaif.rm.changed.v1", "rm.changed", "HISTORY",
        "changed:{activation}:{changed_at}", "v{version}", "reward-model",
    ),
    EventSpec(
        RunStarted, "rlaif.run.started.v1", "run.started", "HISTORY",
        "started:{run_id}:{attempt}", "{run_id}", "trainer",
    ),
    EventSpec(
        RunDescribed, "rlaif.run.described.v1", "run.described", "HISTORY",
        "described:{run_id}:{at}", "{run_id}", "trainer",
    ),
    EventSpec(
        RunLoaded, "rlaif.run.loaded.v1", "run.loaded", "HISTORY",
        "loaded:{run_id}:{attempt}:{env_step}:{version}", "{run_id}", "trainer",
    ),
    EventSpec(
        RunIterated, "rlaif.run.iterated.v1", "run.iterated", "HISTORY",
        "iterated:{run_id}:{attempt}:{env_step}", "{run_id}", "trainer",
    ),
    EventSpec(
        RunEvaluated, "rlaif.run.evaluated.v1", "run.evaluated", "HISTORY",
        "evaluated:{run_id}:{attempt}:{env_step}:{player}", "{run_id}", "trainer",
    ),
    EventSpec(
        DeadLetter, "rlaif.dead-letter.v1", "dead.{stream}", "DEAD",
        "dead:{consumer}:{event_id}", "{event_id}", "any",
    ),
)  # fmt: skip

_BY_DATA = {spec.data: spec for spec in CATALOG}
_BY_TYPE = {spec.type: spec for spec in CATALOG}


def retry_subject(consumer: str) -> str:
    """Subject for a consumer's retried events: it may not publish to the original subject."""
    return f"retry.{consumer}"


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
    """The envelope class of an event class, cached because pydantic would build it each time."""
    return CloudEvent[data]  # type: ignore[valid-type]  # the class is chosen at run time


def parse_event(payload: bytes) -> CloudEvent[Any]:
    """Parse one event; its `data` has the class of its type in the catalog.

    Raises:
        UnknownEventError: Not JSON, not a CloudEvent, of a type outside the catalog, or with
            invalid data.
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
