"""Valid events to test with; a segment's events agree with each other."""

import hashlib

from rlaif.contracts.events import (
    RewardModelPublished,
    RewardModelRejected,
    SegmentCaptured,
    SegmentExported,
    SegmentScored,
)


def segment_captured(segment_id: str = "segment-1", *, capture_key: str = "") -> SegmentCaptured:
    """A capture of 75 decision steps."""
    return SegmentCaptured(
        segment_id=segment_id,
        episode_id="episode-1",
        run_id="run-1",
        capture_key=capture_key or f"captures/episode-1/{segment_id}.capture",
        capture_sha256=_digest("capture", segment_id),
        keyframe_key=f"keyframes/{_digest('keyframe')}.state.zst",
        keyframe_sha256=_digest("keyframe"),
        decision_steps=75,
        env_step=4096,
    )


def segment_exported(segment_id: str = "segment-1") -> SegmentExported:
    """An export of 300 game frames."""
    return SegmentExported(
        segment_id=segment_id,
        episode_id="episode-1",
        run_id="run-1",
        manifest_key=f"episode-1/{segment_id}/manifest.json",
        manifest_sha256=_digest("manifest", segment_id),
        frames=300,
        decision_steps=75,
    )


def segment_scored(
    segment_id: str = "segment-1", *, weighted: float | None = 0.65, judge_config: str = "config-1"
) -> SegmentScored:
    """A score over all criteria but `novelty`."""
    return SegmentScored(
        segment_id=segment_id,
        episode_id="episode-1",
        run_id="run-1",
        judge_config=judge_config,
        score_key=f"scores/{judge_config}/{segment_id}.json",
        score_sha256=_digest("score", judge_config, segment_id),
        weighted=weighted,
        abstained=("novelty",),
    )


def reward_model_published(version: int = 1) -> RewardModelPublished:
    """A champion that beat its held-out pairs."""
    return RewardModelPublished(
        version=version,
        model_key=f"reward_model/epoch_{version}/rm.safetensors",
        model_sha256=_digest("model", str(version)),
        manifest_key=f"reward_model/epoch_{version}/manifest.json",
        layout_version="layout-1",
        parent_version=version - 1 or None,
        labels=120,
        episodes=12,
        heldout_accuracy=0.74,
        heldout_pairs=240,
    )


def reward_model_rejected(candidate_id: str = "candidate-1") -> RewardModelRejected:
    """A candidate that stayed below chance."""
    return RewardModelRejected(
        candidate_id=candidate_id,
        reasons=("heldout_accuracy",),
        labels=60,
        episodes=6,
        heldout_accuracy=0.48,
    )


def _digest(*parts: str) -> str:
    return hashlib.sha256("/".join(parts).encode()).hexdigest()
