"""Figures of a run that training measures."""

from typing import Any

from pydantic import Field

from rlaif.contracts.model import Contract


class RunFigures(Contract):
    """Figures of a run as of its last iteration; what is not known yet is null."""

    episodes: int | None = Field(default=None, ge=0, description="Finished episodes.")
    steps_per_second: float | None = Field(
        default=None, description="Environment steps per second, over the last 10 s."
    )
    trained_seconds: float | None = Field(
        default=None, description="In the training loop, over all attempts; RUN_HOURS bounds it."
    )
    seconds_left: float | None = Field(default=None, description="Training time to its end.")
    episode_return_mean: float | None = Field(
        default=None, description="Environment reward of the last 100 finished episodes."
    )
    shaped_return_mean: float | None = Field(
        default=None, description="Shaping reward of the last 100 finished episodes."
    )
    episode_length_mean: float | None = Field(default=None, description="Steps of the game.")
    rooms_mean: float | None = Field(default=None, description="Distinct rooms per episode.")
    milestone_fraction: float | None = Field(
        default=None, description="Mean share of main milestones, of the last 100 episodes."
    )
    milestones_mean: float | None = Field(
        default=None,
        description="Story steps that hold as an episode ends, with those of its start, by RAM.",
    )
    milestones: list[str] | None = Field(
        default=None, description="All that some episode of the run has reached."
    )
    potential_mean: float | None = Field(
        default=None,
        description="Mean potential of the champion over the iteration's observations.",
    )
    paid_share: float | None = Field(
        default=None,
        description="What the reward model paid, of the sum of absolute rewards of the iteration, "
        "0 to 1; null while none counts.",
    )
    paid_advantage_share: float | None = Field(
        default=None,
        description="Likewise of the variance of the advantages: how much it decides. Below 0 it "
        "works against the rest.",
    )
    segments_captured: int | None = Field(default=None, ge=0)
    segments_skipped: int | None = Field(
        default=None, ge=0, description="Not captured: over the budget."
    )
    reward_model_share: float | None = Field(
        default=None,
        description="Of the version that paid last; below 1 while it ramps, the rest is the one "
        "before it.",
    )
    reward_model_waiting: int | None = Field(
        default=None, description="Version that takes over once this one has counted long enough."
    )

    def figures(self) -> dict[str, Any]:
        """The figures alone, by name, to make another record that carries them."""
        return {name: getattr(self, name) for name in RunFigures.model_fields}
