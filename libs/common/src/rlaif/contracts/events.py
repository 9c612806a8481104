"""The events of the ring, in the order in which one segment meets them.

Events are hints: each names objects by key and digest, and a consumer re-reads the object. They
carry counts and hashes, never pixels. `rlaif.contracts.catalog` says which subject carries which.
"""

from typing import Any

from pydantic import AwareDatetime, Field

from rlaif.contracts.ids import Id, Sha256
from rlaif.contracts.model import Contract


class EventData(Contract):
    """The `data` part of a CloudEvent."""


class SegmentCaptured(EventData):
    """The trainer stored a capture: a keyframe and the actions since it."""

    segment_id: Id
    episode_id: Id
    run_id: Id
    capture_key: str
    capture_sha256: Sha256
    keyframe_key: str
    keyframe_sha256: Sha256
    decision_steps: int = Field(ge=1, description="Actions inside the segment.")
    env_step: int = Field(ge=0, description="Environment steps of the run when it was captured.")


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


class RewardModelPublished(EventData):
    """A reward model is now the champion: it passed the gate, or a person went back to it."""

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
