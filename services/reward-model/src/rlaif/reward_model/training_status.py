"""Where the training stands, for people: the REST routes, the metrics and the telemetry show it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from rlaif.contracts.reward_models import GateMetrics
from rlaif.reward_model.learning.gate import Need, unmet

Outcome = Literal["published", "rejected", "unchanged", "held"]


@dataclass(frozen=True)
class Attempt:
    """One training and how it ended.

    Attributes:
        outcome: `published`, `rejected`, `unchanged`: the champion was made of these labels by
            these settings, or `held`: it passed, and the champion is pinned.
        version: The version that was published; None otherwise.
        reasons: Why it was rejected.
        seconds: Time of the fit and the gate.
    """

    candidate_id: str
    outcome: Outcome
    version: int | None
    reasons: tuple[str, ...]
    metrics: GateMetrics
    labels: int
    episodes: int
    seconds: float
    ended_at: datetime


@dataclass(frozen=True)
class TrainingStatus:
    """Where the training stands.

    Attributes:
        state: `training` or `idle`.
        judge_config: Whose scores are learned; None before the first score.
        labels: Labels of the newest observation layout.
        new_labels: Those that no attempt has used.
        episodes: Episodes of the labels.
        needs: What the next training takes until it starts by itself.
        pairs: Decided held-out pairs of the last attempt, of which the gate wants so many; more
            labels bring more. None before the first attempt.
        skipped: Reason → score objects that are no label.
        last_attempt: The newest attempt of this process; None before the first.
        last_rejection: The newest that was rejected; None when none was.
    """

    state: Literal["idle", "training"]
    judge_config: str | None
    labels: int
    new_labels: int
    episodes: int
    needs: tuple[Need, ...]
    pairs: Need | None
    skipped: dict[str, int]
    last_attempt: Attempt | None
    last_rejection: Attempt | None

    @property
    def waiting_for(self) -> tuple[str, ...]:
        """What is missing until the next training starts by itself."""
        return unmet(self.needs)
