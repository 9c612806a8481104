"""Valid events for tests; the events of a segment are consistent."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from rlaif.contracts.catalog import spec_of
from rlaif.contracts.events import (
    ChampionChanged,
    DeadLetter,
    RewardModelPublished,
    RewardModelRejected,
    RunEvaluated,
    RunIterated,
    RunLoaded,
    RunStarted,
    SegmentCaptured,
    SegmentExported,
    SegmentScored,
)
from rlaif.contracts.run_points import EndedEpisodes

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def segment_captured(segment_id: str = "segment-1", *, capture_key: str = "") -> SegmentCaptured:
    """A capture of 75 emulator steps."""
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


def dead_letter_of(event_id: str = "captured:segment-1", **changes: Any) -> DeadLetter:
    """A capture that the exporter abandoned after one attempt."""
    values = {
        "stream": spec_of(SegmentCaptured).stream,
        "subject": spec_of(SegmentCaptured).subject,
        "consumer": "exporter",
        "event_id": event_id,
        "reason": "corrupt_capture",
        "detail": "It is cut off.",
        "attempts": 1,
        "dead_at": NOON,
        "original": {},
    }
    return DeadLetter.model_validate(values | changes)


def reward_model_published(version: int = 1) -> RewardModelPublished:
    """A champion with a held-out accuracy above chance."""
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
    """A candidate with an accuracy below chance."""
    return RewardModelRejected(
        candidate_id=candidate_id,
        reasons=("heldout_accuracy",),
        labels=60,
        episodes=6,
        heldout_accuracy=0.48,
    )


def champion_changed(version: int = 1, **changes: Any) -> ChampionChanged:
    """A candidate passed and became the champion, unpinned."""
    values = {"version": version, "activation": version, "why": "gate", "changed_at": NOON}
    return ChampionChanged(**{**values, **changes})


def run_started(env_step: int = 0, *, attempt: int = 0, **changes: Any) -> RunStarted:
    """Start of a run with a shaping reward."""
    values = {"run_id": "run-1", "at": NOON, "judged": True, "recipe": "recipe-1"}
    return RunStarted(attempt=attempt, env_step=env_step, **{**values, **changes})


def run_loaded(version: int | None = 1, env_step: int = 4096, *, attempt: int = 0) -> RunLoaded:
    """A reward model is loaded at `env_step`."""
    return RunLoaded(run_id="run-1", attempt=attempt, env_step=env_step, version=version, at=NOON)


def run_evaluated(
    env_step: int = 30_000, milestones: float = 2.0, *, player: str = "trained", **changes: Any
) -> RunEvaluated:
    """Eight episodes from power-on, at the end of an epoch."""
    values = {"run_id": "run-1", "attempt": 0, "at": NOON, "episodes": 8, "player": player}
    ends = {"milestones": milestones, "low": milestones - 0.5, "high": milestones + 0.5}
    return RunEvaluated(env_step=env_step, **{**values, **ends, **changes})


def run_iterated(
    since: int = 0,
    until: int = 4096,
    *,
    gained: Sequence[int] = (),
    began: Sequence[int | None] | None = None,
    attempt: int = 0,
    **changes: Any,
) -> RunIterated:
    """One iteration with an episode for each of `gained`, started with it unless `began` is given.

    The parts sum to the learned reward.
    """
    values = {
        "run_id": "run-1",
        "at": NOON,
        "iterations": 1,
        "episodes": ended_episodes(gained, began if began is not None else [since] * len(gained)),
        "oldest_open": until,
        "paid": {"rooms": 4.0, "death": -1.5, "shaping": 0.5},
        "learned_from": 3.0,
        "entropy": 1.5,
        "policy_lag": 1.0,
        "steps_per_second": 900.0,
    }
    return RunIterated(since_step=since, env_step=until, attempt=attempt, **{**values, **changes})


def ended_episodes(gained: Sequence[int], began: Sequence[int | None]) -> EndedEpisodes:
    """Episodes that reached these numbers of story steps; other fields are derived."""
    return EndedEpisodes(
        count=len(gained),
        began=tuple(began),
        gained=tuple(gained),
        rooms=tuple(2 + 3 * steps for steps in gained),
        returns=tuple(1.5 * steps for steps in gained),
        shaped=tuple(0.25 * steps for steps in gained),
        lengths=tuple(100 + 50 * steps for steps in gained),
        died=tuple(steps == 0 for steps in gained),
    )


def _digest(*parts: str) -> str:
    return hashlib.sha256("/".join(parts).encode()).hexdigest()
