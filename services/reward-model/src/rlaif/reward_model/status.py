"""State of the training as shown by REST."""

from datetime import datetime
from typing import Literal, Self

from pydantic import BaseModel, Field, computed_field

from rlaif.contracts.reward_models import GateMetrics
from rlaif.reward_model.labels.label_log import JudgeConfigCounts
from rlaif.reward_model.learning.gate.checks import Check

Outcome = Literal["published", "rejected", "unchanged", "held"]


class Need(BaseModel, frozen=True):
    """A quantity that a training needs."""

    what: str
    found: int
    least: int

    @classmethod
    def of(cls, check: Check) -> Self:
        return cls(what=check.question, found=int(check.value or 0), least=int(check.bound or 0))

    @property
    def met(self) -> bool:
        return self.found >= self.least

    def __str__(self) -> str:
        return f"{self.found} {self.what}, needs {self.least}"


class Attempt(BaseModel, frozen=True):
    """One training and its outcome."""

    candidate_id: str
    outcome: Outcome = Field(
        description="`unchanged`: the champion was made from these labels and settings; `held`: it "
        "passed, but the champion is pinned."
    )
    version: int | None = Field(description="The published version.")
    reasons: tuple[str, ...] = Field(description="Why it was rejected.")
    metrics: GateMetrics
    labels: int
    episodes: int
    seconds: float = Field(description="Duration of the training.")
    ended_at: datetime


class TrainingStatus(BaseModel, frozen=True):
    """State of the training."""

    state: Literal["idle", "training"]
    judge_config: str | None = Field(
        description="Judge configuration in use; null before the first score."
    )
    labels: int = Field(description="Labels of the newest observation layout.")
    new_labels: int = Field(description="Labels, and votes on pairs, that no training has used.")
    episodes: int
    votes: int = Field(default=0, description="Pairs of labels with votes of people.")
    needs: tuple[Need, ...] = Field(description="Requirements of the next automatic training.")
    pairs: Need | None = Field(
        description="Decided held-out pairs of the last training, and the number that the gate "
        "requires."
    )
    skipped: dict[str, int] = Field(description="Reason → score objects that are not labels.")
    judge_configs: tuple[JudgeConfigCounts, ...] = Field(
        default=(), description="All judge configurations with scores."
    )
    last_attempt: Attempt | None = Field(description="The last training of this process.")
    last_rejection: Attempt | None
    demotion: str | None = Field(
        default=None, description="Why this process last withdrew a champion."
    )

    @computed_field  # type: ignore[prop-decorator]  # unsupported by mypy
    @property
    def waiting_for(self) -> tuple[str, ...]:
        return tuple(str(need) for need in self.needs if not need.met)
