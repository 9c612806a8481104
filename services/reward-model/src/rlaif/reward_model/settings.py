"""The settings of the reward-model service."""

from dataclasses import dataclass
from typing import Self

from pydantic import Field, model_validator
from pydantic_settings import SettingsConfigDict

from rlaif.contracts.model import ID_PATTERN
from rlaif.reward_model.learning.settings import CandidateSettings, FitSettings, GateSettings
from rlaif.service.settings import INTERNAL, ServiceSettings


@dataclass(frozen=True)
class TrainingSettings:
    """When a candidate is trained, and how often the object store is polled.

    Attributes:
        retrain_min_new: New labels that start a training. With fewer, models are fresher but more
            candidates pass by chance.
        poll_seconds: Pause between polls without an event.
        relist_seconds: Pause between full listings, which find scores whose events were lost.
    """

    retrain_min_new: int = 12
    poll_seconds: float = 10.0
    relist_seconds: float = 120.0


class RewardModelSettings(ServiceSettings):
    """Settings of the training of reward models and of the gate."""

    model_config = SettingsConfigDict(env_prefix="REWARD_MODEL_")

    port: int = Field(default=8084, ge=0, le=65535, description="TCP port to listen on.")

    judge_config: str | None = Field(
        default=None,
        pattern=ID_PATTERN,
        description="Judge configuration whose scores are used as labels. Unset: the newest "
        "configuration with enough labels for a first training. Scores of different configurations "
        "are never mixed.",
    )
    most_labels: int = Field(
        default=2000,
        ge=24,
        le=20_000,
        description="Maximum number of labels in a training set: half are the newest, half are "
        "sampled from all ages. Higher values give steadier models but slower training, "
        "and use 10 kB of memory per label.",
    )
    min_labels: int = Field(
        default=GateSettings().min_labels,
        ge=2,
        description="Labels required before the first training. Lower values give more candidates "
        "that the gate rejects.",
    )
    simple_margin: float = Field(
        default=GateSettings().simple_margin,
        ge=-1,
        le=0.5,
        description="Minimum accuracy gain over two simple baselines: the best single slot of "
        "the observation, and a linear model. -1 disables the check.",
    )
    epochs: int = Field(
        default=FitSettings().epochs, ge=1, le=2000, description="Training passes over the labels."
    )
    learning_rate: float = Field(
        default=FitSettings().learning_rate, gt=0, le=0.1, json_schema_extra=INTERNAL
    )
    """Peak learning rate of Adam, reached after a third of the passes."""
    must_improve: bool = Field(
        default=False,
        description="Replace the live version only if a candidate is significantly more accurate "
        "on held-out preferences, so that a run keeps one model. If false, a newer version that "
        "is not worse replaces it.",
    )
    watchdog_rollback: bool = Field(
        default=True,
        description="Roll back to the previous version and pin it when the watchdog raises an "
        "alarm. If false, alarms are only counted and logged.",
    )

    @model_validator(mode="after")
    def _a_training_can_start(self) -> Self:
        if self.min_labels > self.most_labels:
            raise ValueError(
                f"REWARD_MODEL_MIN_LABELS is {self.min_labels}, but at most {self.most_labels} "
                "labels are kept, so no training would start: lower it, or raise --most-labels"
            )
        return self

    @property
    def candidate(self) -> CandidateSettings:
        """Everything that decides the result of a training, besides the labels."""
        return CandidateSettings(
            fit=FitSettings(epochs=self.epochs, learning_rate=self.learning_rate),
            gate=GateSettings(
                min_labels=self.min_labels,
                simple_margin=self.simple_margin,
                must_improve=self.must_improve,
            ),
        )
