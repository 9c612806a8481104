"""What the learner adds to the rewards: the reward model's answer, curiosity; and imitation."""

from dataclasses import dataclass, field
from typing import Self

from pydantic import BaseModel, Field, model_validator

from rlaif.service.settings import INTERNAL
from rlaif.trainer.settings.kept import UNLESS_SET


class ShapingSettings(BaseModel, frozen=True, extra="forbid"):
    """How a reward model pays, and how one takes over from another."""

    weight: float = Field(
        default=10.0,
        ge=0,
        description="Scale of the shaping reward: one objective of the quest is worth about 1. "
        "Higher values dominate the rewards of the game. 0 trains without judges.",
        json_schema_extra=UNLESS_SET,
    )
    ramp_iterations: int = Field(
        default=5,
        ge=0,
        description="Iterations over which a new reward model replaces the previous one. More are "
        "easier for the critic but delay the new model; 0 and 1 swap at once.",
    )
    swap_iterations: int = Field(default=10, ge=0, json_schema_extra=INTERNAL)
    """Minimum iterations between two swaps of the reward model; not below the ramp. The first one
    of a run does not wait."""

    @model_validator(mode="after")
    def _ramp_ends_before_the_next_swap(self) -> Self:
        if self.ramp_iterations > max(1, self.swap_iterations):
            raise ValueError(
                f"shaping_ramp_iterations is {self.ramp_iterations} but reward models may "
                f"be swapped every {self.swap_iterations} iterations: a ramp must end "
                "before the next one begins; lower the ramp or raise shaping_swap_iterations"
            )
        return self


class CuriositySettings(BaseModel, frozen=True, extra="forbid"):
    """What a novel observation pays."""

    weight: float = Field(
        default=0.0,
        ge=0,
        description="Intrinsic reward for an observation whose novelty is one standard deviation "
        "of the discounted return (random network distillation). 0 disables it (ADR 0012).",
    )


class ImitationSettings(BaseModel, frozen=True, extra="forbid"):
    """How much the best segments are imitated."""

    weight: float = Field(
        default=0.0,
        ge=0,
        description="Weight of the imitation of the best segments of the last 50 iterations "
        "(advantage-weighted regression), beside the PPO loss. 0 disables it. Higher values keep "
        "rare successes, including lucky ones.",
    )
    segments: int = Field(default=64, ge=1, json_schema_extra=INTERNAL)
    """Number of segments that are imitated: the best ones."""


@dataclass(frozen=True)
class RewardSettings:
    """How the parts of the reward are made that the learner adds."""

    shaping: ShapingSettings = field(default_factory=ShapingSettings)
    curiosity: CuriositySettings = field(default_factory=CuriositySettings)
