"""Valid readings for tests, each with some fields replaced."""

from typing import Any

from rlaif.contracts.telemetry.readings import JudgeCall, RewardModelStatus, TrainingProgress
from rlaif.testing.data.events import NOON


def training_progress(**changes: Any) -> TrainingProgress:
    """A run in its first iteration."""
    values = {"run_id": "run-1", "status": "training", "iteration": 1, "env_steps": 4096}
    return TrainingProgress.model_validate({"at": NOON, "episodes": 3, **values, **changes})


def judge_call_ended(outcome: str = "ok", **changes: Any) -> JudgeCall:
    """One call of a judge."""
    values = {"judge": "state", "route": "/dialog", "model": "m", "segment_id": "s"}
    ended = {"at": NOON, "outcome": outcome, "latency_seconds": 1.0}
    return JudgeCall.model_validate({**values, **ended, **changes})


def reward_model_status(**changes: Any) -> RewardModelStatus:
    """The service waits, and nothing is live."""
    values = {"at": NOON, "state": "idle", "labels": 3, "missing": ()}
    return RewardModelStatus.model_validate({**values, **changes})
