"""Where the training stands: what REST shows, and what telemetry says to people."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field, computed_field

from rlaif.contracts.reward_models import GateMetrics
from rlaif.reward_model.labels.configurations import ConfigStanding
from rlaif.reward_model.learning.gate import Need, unmet

Outcome = Literal["published", "rejected", "unchanged", "held"]


class Attempt(BaseModel, frozen=True):
    """One training and how it ended."""

    candidate_id: str
    outcome: Outcome = Field(
        description="`unchanged`: the champion was made of these labels by these settings; `held`: "
        "it passed, and the champion is pinned."
    )
    version: int | None = Field(description="The version that was published.")
    reasons: tuple[str, ...] = Field(description="Why it was rejected.")
    metrics: GateMetrics
    labels: int
    episodes: int
    seconds: float = Field(description="Time of the fit and the gate.")
    ended_at: datetime


class TrainingStatus(BaseModel, frozen=True):
    """Where the training stands."""

    state: Literal["idle", "training"]
    judge_config: str | None = Field(description="Whose scores are learned; null before the first.")
    labels: int = Field(description="Labels of the newest observation layout.")
    new_labels: int = Field(
        description="Those that no training has used, and pairs that people voted on since."
    )
    episodes: int
    votes: int = Field(
        default=0,
        description="Pairs of labels that people compared; the next training learns them.",
    )
    needs: tuple[Need, ...] = Field(description="What a training takes until it starts by itself.")
    pairs: Need | None = Field(
        description="Decided held-out pairs of the last training, and how many the gate wants; "
        "more labels bring more."
    )
    skipped: dict[str, int] = Field(description="Reason → score objects that are no label.")
    judge_configs: tuple[ConfigStanding, ...] = Field(
        default=(), description="All configurations that scored, the learned one among them."
    )
    last_attempt: Attempt | None = Field(description="The newest of this process.")
    last_rejection: Attempt | None
    demotion: str | None = Field(
        default=None, description="Why this process took a champion out of use the last time."
    )

    @computed_field  # type: ignore[prop-decorator]  # mypy knows no decorated property
    @property
    def waiting_for(self) -> tuple[str, ...]:
        """What is missing until it trains by itself."""
        return unmet(self.needs)
