"""Valid score objects for tests, consistent with `rlaif.testing.data.events.segment_scored`."""

from datetime import UTC, datetime
from typing import Any

from rlaif.contracts.judging.scores import (
    RUBRIC_WEIGHTS,
    CriterionScore,
    JudgeCallRecord,
    ScoreRecord,
)


def judge_call(**changes: Any) -> JudgeCallRecord:
    """An answered call, with some fields replaced."""
    return JudgeCallRecord.model_validate(
        {
            "judge": "state",
            "route": "/dialog",
            "model": "m",
            "vote": 0,
            "seed": 0,
            "prompt_sha256": "0" * 64,
            "outcome": "ok",
            "latency_seconds": 1.0,
        }
        | changes
    )


def score_record(**changes: Any) -> ScoreRecord:
    """A score of `segment-1` by `config-1` without calls, with some fields replaced."""
    return ScoreRecord.model_validate(
        {
            "segment_id": "segment-1",
            "episode_id": "episode-1",
            "run_id": "run-1",
            "judge_config": "config-1",
            "manifest_key": "episode-1/segment-1/manifest.json",
            "manifest_sha256": "0" * 64,
            "criteria": {
                "progress": CriterionScore(value=1, votes=(2,), agreement=1, judge="state")
            },
            "weights": RUBRIC_WEIGHTS,
            "weighted": 0.65,
            "calls": (),
            "created_at": datetime(2026, 1, 1, tzinfo=UTC),
        }
        | changes
    )
