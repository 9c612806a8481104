"""Figures of a run, measured by training."""

from typing import Any

from pydantic import Field

from rlaif.contracts.model import Contract, Count, Positive


class RunFigures(Contract):
    """Figures of a run after its last iteration; null: not known yet."""

    episodes: Count | None = Field(default=None, description="Finished episodes.")
    steps_per_second: float | None = Field(
        default=None, description="Decisions per second, over the last 10 s."
    )
    frames_per_second: float | None = Field(
        default=None, description="Game frames of these decisions per second, waits included."
    )
    trained_seconds: float | None = Field(
        default=None, description="In the training loop, over all attempts; limited by RUN_HOURS."
    )
    seconds_left: float | None = Field(default=None, description="Training time to its end.")
    episode_return_mean: float | None = Field(
        default=None, description="Environment reward of the last 100 finished episodes."
    )
    shaped_return_mean: float | None = Field(
        default=None,
        description="Rise of weight * potential in the last 100 finished episodes: the shaping "
        "reward without discounting.",
    )
    episode_length_mean: float | None = Field(default=None, description="Emulator steps.")
    rooms_mean: float | None = Field(default=None, description="Distinct rooms per episode.")
    milestone_fraction: float | None = Field(
        default=None, description="Mean share of main milestones, of the last 100 episodes."
    )
    milestones_mean: float | None = Field(
        default=None, description="Milestones at the end of an episode, by RAM."
    )
    milestones: list[str] | None = Field(
        default=None, description="Milestones reached by any episode of the run."
    )
    potential_mean: float | None = Field(
        default=None, description="Mean potential of the champion over the iteration's states."
    )
    paid_share: float | None = Field(
        default=None,
        description="Shaping reward as a share of the sum of absolute rewards of the iteration, "
        "0 to 1; null without a reward model.",
    )
    paid_advantage_share: float | None = Field(
        default=None,
        description="Its share of the variance of the advantages. Below 0 it opposes the rest.",
    )
    segments_captured: Count | None = None
    segments_skipped: Count | None = Field(
        default=None, description="Not captured: over the budget."
    )
    reward_model_share: float | None = Field(
        default=None,
        description="Weight of the live version; during its ramp-in the previous one has the rest.",
    )

    def figures(self) -> dict[str, Any]:
        """The figures alone, by name, for another record that contains them."""
        return {name: getattr(self, name) for name in RunFigures.model_fields}


class RunCondition(RunFigures):
    """Figures of a run, its reward model and its issues; null: unknown, or none."""

    game: str | None = Field(
        default=None,
        max_length=64,
        description="Name of the game: seedling-vale, world-7-30, worlds 1-64, …",
    )
    reward_model_version: Positive | None = None
    reward_model_loaded_at_step: Count | None = None
    reward_model_refused: Positive | None = Field(
        default=None, description="Version that was not loaded; null once a later one was."
    )
    reward_model_refusal: str | None = Field(default=None, description="Reason of the rejection.")
    trouble: str | None = Field(
        default=None,
        description="Reason why it waits, drops files or does not learn; null: no issue.",
    )
    phase: str | None = Field(
        default=None,
        description="Phase of a run of mode quest: search, demonstrations or policy.",
    )
    phase_words: str | None = Field(
        default=None, description="Description of the phase's progress."
    )
