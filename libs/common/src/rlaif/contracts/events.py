"""The events of the pipeline, in processing order.

Events name objects by key and digest; consumers read the objects. They contain counts and digests,
never pixels. Their subjects are in `rlaif.contracts.catalog`.
"""

from typing import Any, ClassVar, Generic, Literal, TypeVar

from pydantic import AwareDatetime, Field, SerializerFunctionWrapHandler, model_serializer

from rlaif.contracts.game.captures import RoomNumber
from rlaif.contracts.model import Contract, Count, Id, Positive, Sha256, Share
from rlaif.contracts.reward_models import GateMetrics
from rlaif.contracts.run_origin import RunDescription, RunProvenance
from rlaif.contracts.run_points import RunPoint


class EventData(Contract):
    """The `data` part of a CloudEvent.

    Fields that were added to a released version are `LATER`: without a value they are omitted, so
    that the event of an older writer is passed on unchanged.
    """

    LATER: ClassVar[frozenset[str]] = frozenset()

    @model_serializer(mode="wrap")
    def _without_unset_later_fields(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = handler(self)
        return {k: v for k, v in written.items() if v is not None or k not in self.LATER}


D = TypeVar("D", bound=EventData)


class CloudEvent(Contract, Generic[D]):
    """One event with its context attributes.

    `id` is also the `Nats-Msg-Id`, so that repeated publishing within the stream's duplicate window
    stores one message. Specification: CloudEvents 1.0.2, JSON event format.
    """

    specversion: Literal["1.0"] = "1.0"
    id: str = Field(min_length=1, max_length=200)
    source: str = Field(description="Publisher, such as `rlaif/exporter`.")
    type: str
    subject: str | None = Field(default=None, description="Id of its subject.")
    time: AwareDatetime
    datacontenttype: Literal["application/json"] = "application/json"
    traceparent: str | None = Field(default=None, description="W3C trace context.")
    data: D


class SegmentCaptured(EventData):
    """The trainer stored a capture: a keyframe and the actions since it."""

    LATER = frozenset(
        {
            "selected_by", "reward_model_version", "rooms", "milestones", "model_rise",
            "from_own_start",
        }
    )  # fmt: skip

    segment_id: Id
    episode_id: Id
    run_id: Id
    capture_key: str
    capture_sha256: Sha256
    keyframe_key: str
    keyframe_sha256: Sha256
    decision_steps: Positive = Field(description="Actions inside the segment.")
    env_step: Count = Field(description="Environment steps of the run at the capture.")
    selected_by: str | None = Field(default=None, description="Reason of its selection.")
    reward_model_version: int | None = Field(
        default=None, description="The live reward model; null: none, or unknown."
    )
    rooms: tuple[RoomNumber, ...] | None = Field(
        default=None, description="(group, room) of the first 32 rooms."
    )
    milestones: tuple[str, ...] | None = Field(
        default=None, description="Story steps reached in it."
    )
    model_rise: float | None = Field(
        default=None,
        description="Last minus first potential, by the live model.",
    )
    from_own_start: bool | None = Field(
        default=None, description="As in the capture: the episode shows the progress of the policy."
    )


class SegmentExported(EventData):
    """The exporter replayed a capture, verified it, and committed the segment's manifest."""

    segment_id: Id
    episode_id: Id
    run_id: Id
    manifest_key: str
    manifest_sha256: Sha256
    frames: Positive = Field(description="Game frames at 60 Hz.")
    decision_steps: Positive


class SegmentScored(EventData):
    """The judges scored a segment, or abstained; details are in the score object."""

    LATER = frozenset({"agreement", "position"})

    segment_id: Id
    episode_id: Id
    run_id: Id
    judge_config: Id
    score_key: str
    score_sha256: Sha256
    weighted: Share | None = Field(
        default=None, description="Rubric mean; null when too few criteria were judged."
    )
    abstained: tuple[str, ...] = Field(default=(), description="Criteria without a score.")
    agreement: Share | None = Field(
        default=None,
        description="Agreement of the votes: mean over the criteria decided by votes; null: none.",
    )
    position: float | None = Field(
        default=None,
        description="Position on the quest at its end, in objectives reached; null: not judged.",
    )


class RewardModelPublished(EventData):
    """A reward model is now the champion: it passed the gate, or a person rolled back to it."""

    version: Positive
    model_key: str
    model_sha256: Sha256
    manifest_key: str
    layout_version: str
    parent_version: int | None = None
    labels: Positive = Field(description="Scored segments in its training.")
    episodes: Positive
    heldout_accuracy: Share = Field(description="On held-out episodes.")
    heldout_pairs: Positive
    activation: Positive = Field(
        default=1,
        description="Increases with every change of the champion, so that a roll-back is a new "
        "event.",
    )


class RewardModelRejected(EventData):
    """A candidate reward model did not pass the gate; the champion remains."""

    LATER = frozenset({"metrics"})

    candidate_id: Id
    reasons: tuple[str, ...] = Field(min_length=1)
    labels: Count
    episodes: Count
    heldout_accuracy: Share | None = None
    metrics: GateMetrics | None = Field(
        default=None, description="Available measurements of the gate."
    )


class ChampionChanged(EventData):
    """The champion or its pin changed, with the reason.

    Also published at each start of the service. No service acts on it.
    """

    version: Positive
    activation: Positive = Field(description="As in rm.published.")
    why: Literal["gate", "person", "watchdog", "demotion", "start"] = Field(
        description="gate: a candidate passed. person: activated, pinned or unpinned by REST. "
        "watchdog: the reward hacking monitor raised an alarm. demotion: newer labels contradict "
        "the earlier champion. start: state at the start of the service."
    )
    words: str | None = Field(default=None, max_length=500, description="Description.")
    pinned: bool = False
    pin_reason: str | None = Field(default=None, max_length=500)
    pinned_until: AwareDatetime | None = None
    withdrawn: str | None = Field(
        default=None, max_length=500, description="Reason why none is live; null if this one is."
    )
    changed_at: AwareDatetime


class RunStarted(EventData):
    """A training process started or resumed a run.

    Earlier reports about steps after `env_step` are invalid.
    """

    LATER = frozenset({"provenance"})

    run_id: Id
    attempt: Count
    env_step: Count
    at: AwareDatetime
    judged: bool | None = Field(
        default=None, description="Whether reward shaping is enabled; null: unknown."
    )
    recipe: str | None = Field(
        default=None,
        max_length=64,
        description="Digest of the settings except the seed and those of reward shaping: runs of"
        " one recipe differ in the judges only.",
    )
    provenance: RunProvenance | None = Field(default=None, description="Null: unknown.")


class RunDescribed(RunDescription, EventData):
    """A user named or described a run; the newest event counts."""

    run_id: Id
    at: AwareDatetime


class RunLoaded(EventData):
    """A run switched to another reward model, or to none."""

    run_id: Id
    attempt: Count
    env_step: Count = Field(description="From this step on.")
    version: Positive | None = Field(default=None, description="Null for none.")
    at: AwareDatetime


class RunIterated(RunPoint, EventData):
    """Iterations of a run: one per event at first, later many."""

    LATER = frozenset({"potential_mean"})

    run_id: Id
    attempt: Count


class RunEvaluated(EventData):
    """Evaluation of a run's frozen policy, or of a random one, from the run's own start."""

    run_id: Id
    attempt: Count
    env_step: Count = Field(description="Environment steps of training before.")
    at: AwareDatetime
    player: Literal["trained", "random"]
    episodes: Positive
    milestones: float = Field(ge=0, description="Interquartile mean per episode.")
    low: float = Field(ge=0, description="Bounds of its 95 % bootstrap interval.")
    high: float = Field(ge=0)


class DeadLetter(EventData):
    """An event that a consumer could not handle, with the original for a redrive."""

    stream: str
    subject: str
    consumer: str
    event_id: str
    reason: str = Field(description="Reason code, such as `ram_hash_mismatch`.")
    detail: str = Field(description="Description.")
    attempts: Positive
    dead_at: AwareDatetime
    original: dict[str, Any] | str = Field(
        description="The received event: parsed JSON, other text, or a `data:` URL of other bytes."
    )
