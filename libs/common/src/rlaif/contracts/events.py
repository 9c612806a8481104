"""The events of the pipeline, in the order in which one segment meets them.

Events are hints: each names objects by key and digest, and a consumer re-reads the object. They
carry counts and hashes, never pixels. `rlaif.contracts.catalog` says which subject carries which.
"""

from typing import Any, ClassVar, Generic, Literal, TypeVar

from pydantic import AwareDatetime, Field, SerializerFunctionWrapHandler, model_serializer

from rlaif.contracts.game.captures import RoomNumber
from rlaif.contracts.model import Contract, Id, Sha256
from rlaif.contracts.reward_models import GateMetrics
from rlaif.contracts.run_points import RunPoint


class EventData(Contract):
    """The `data` part of a CloudEvent.

    Fields that were added to a released version are `LATER`: without a value they are left out, so
    that the event of an older writer is passed on as it came.
    """

    LATER: ClassVar[frozenset[str]] = frozenset()

    @model_serializer(mode="wrap")
    def _without_unset_later_fields(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = handler(self)
        return {k: v for k, v in written.items() if v is not None or k not in self.LATER}


D = TypeVar("D", bound=EventData)


class CloudEvent(Contract, Generic[D]):
    """One event with its context attributes.

    `id` is also the `Nats-Msg-Id`, so that publishing twice within the stream's duplicate window
    stores one message. Specification: CloudEvents 1.0.2, JSON event format.
    """

    specversion: Literal["1.0"] = "1.0"
    id: str = Field(min_length=1, max_length=200)
    source: str = Field(description="Who published it, such as `rlaif/exporter`.")
    type: str
    subject: str | None = Field(default=None, description="Id of the thing it is about.")
    time: AwareDatetime
    datacontenttype: Literal["application/json"] = "application/json"
    traceparent: str | None = Field(default=None, description="W3C trace context.")
    data: D


class SegmentCaptured(EventData):
    """The trainer stored a capture: a keyframe and the actions since it."""

    LATER = frozenset({"selected_by", "reward_model_version", "rooms", "milestones", "model_rise"})

    segment_id: Id
    episode_id: Id
    run_id: Id
    capture_key: str
    capture_sha256: Sha256
    keyframe_key: str
    keyframe_sha256: Sha256
    decision_steps: int = Field(ge=1, description="Actions inside the segment.")
    env_step: int = Field(ge=0, description="Environment steps of the run when it was captured.")
    selected_by: str | None = Field(default=None, description="Why it was chosen for the judges.")
    reward_model_version: int | None = Field(
        default=None, description="The reward model that was live; null: none, or unknown."
    )
    rooms: tuple[RoomNumber, ...] | None = Field(
        default=None, description="(group, room) of what it shows, at most the first 32."
    )
    milestones: tuple[str, ...] | None = Field(
        default=None, description="Story steps that were reached in it."
    )
    model_rise: float | None = Field(
        default=None,
        description="How far the live model says that it led: last potential less the first.",
    )


class SegmentExported(EventData):
    """The exporter replayed a capture, verified it, and committed the segment's manifest."""

    segment_id: Id
    episode_id: Id
    run_id: Id
    manifest_key: str
    manifest_sha256: Sha256
    frames: int = Field(ge=1, description="Game frames at 60 Hz.")
    decision_steps: int = Field(ge=1)


class SegmentScored(EventData):
    """The judges scored a segment, or abstained; the score object says which and why."""

    LATER = frozenset({"agreement"})

    segment_id: Id
    episode_id: Id
    run_id: Id
    judge_config: Id
    score_key: str
    score_sha256: Sha256
    weighted: float | None = Field(
        default=None, ge=0, le=1, description="Rubric mean; null when too few criteria were judged."
    )
    abstained: tuple[str, ...] = Field(default=(), description="Criteria without a score.")
    agreement: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Of the language models' votes: mean over the criteria that they decided; "
        "null when they decided none.",
    )


class RewardModelPublished(EventData):
    """A reward model is now the champion: it passed the gate, or a person rolled back to it."""

    version: int = Field(ge=1)
    model_key: str
    model_sha256: Sha256
    manifest_key: str
    layout_version: str
    parent_version: int | None = None
    labels: int = Field(ge=1, description="Scored segments it was trained on.")
    episodes: int = Field(ge=1)
    heldout_accuracy: float = Field(ge=0, le=1, description="On episodes it never saw.")
    heldout_pairs: int = Field(ge=1)
    activation: int = Field(
        default=1,
        ge=1,
        description="Rises with every change of the champion, so that going back to a version is "
        "a new event.",
    )


class RewardModelRejected(EventData):
    """A candidate reward model did not pass the gate; the champion stays."""

    candidate_id: Id
    reasons: tuple[str, ...] = Field(min_length=1)
    labels: int = Field(ge=0)
    episodes: int = Field(ge=0)
    heldout_accuracy: float | None = Field(default=None, ge=0, le=1)
    metrics: GateMetrics | None = Field(
        default=None, description="What the gate measured; left out where nothing was."
    )

    @model_serializer(mode="wrap")
    def _as_older_writers_do(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without metrics it is what it was before there were any."""
        data: dict[str, Any] = write(self)
        if data.get("metrics") is None:
            data.pop("metrics", None)
        return data


class ChampionChanged(EventData):
    """The champion, or its pin, changed; also published at each start of the service.

    Unlike `RewardModelPublished` it has a reason, and covers pins and champions that were taken
    out of use. No service acts on it.
    """

    version: int = Field(ge=1)
    activation: int = Field(ge=1, description="As in rm.published.")
    why: Literal["gate", "person", "watchdog", "demotion", "start"] = Field(
        description="gate: a candidate passed. person: activated, pinned or unpinned by REST. "
        "watchdog: the one before paid for what the game did not. demotion: newer labels spoke "
        "against the one before. start: as the service found it."
    )
    words: str | None = Field(default=None, max_length=500, description="Why, for people.")
    pinned: bool = False
    pin_reason: str | None = Field(default=None, max_length=500)
    pinned_until: AwareDatetime | None = None
    withdrawn: str | None = Field(
        default=None, max_length=500, description="Why no model pays now; null when this one does."
    )
    changed_at: AwareDatetime


class RunStarted(EventData):
    """A training process started or resumed a run.

    Earlier reports about steps after `env_step` are void: the run resumed from a checkpoint that
    was saved before them.
    """

    run_id: Id
    attempt: int = Field(ge=0)
    env_step: int = Field(ge=0)
    at: AwareDatetime
    judged: bool | None = Field(
        default=None, description="Whether a reward model may shape its rewards; null: unknown."
    )
    recipe: str | None = Field(
        default=None,
        max_length=64,
        description="Digest of the settings but for the seed and what reward models pay: runs of "
        "one recipe differ in the judges alone.",
    )


class RunLoaded(EventData):
    """A run's rewards come from another reward model now, or from none."""

    run_id: Id
    attempt: int = Field(ge=0)
    env_step: int = Field(ge=0, description="From this step on.")
    version: int | None = Field(default=None, ge=1, description="Null for none.")
    at: AwareDatetime


class RunIterated(RunPoint, EventData):
    """Iterations of a run: each one at first, later many per event."""

    run_id: Id
    attempt: int = Field(ge=0)


class DeadLetter(EventData):
    """A consumer gave up on an event. The original is kept whole so that it can be sent again."""

    stream: str
    subject: str
    consumer: str
    event_id: str
    reason: str = Field(description="Stable word for machines, such as `ram_hash_mismatch`.")
    detail: str = Field(description="One sentence for people.")
    attempts: int = Field(ge=1)
    dead_at: AwareDatetime
    original: dict[str, Any] | str = Field(
        description="The event as it was received: parsed JSON, text when it was not JSON, or a "
        "`data:` URL of its bytes when it was not text."
    )
