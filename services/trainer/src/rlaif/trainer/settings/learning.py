"""PPO, its network, sampling, the rewards that the learner adds, curricula."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, Field, model_validator

from rlaif.service.settings import INTERNAL
from rlaif.trainer.settings.kept import FIXED, UNLESS_SET

PRESETS: dict[str, dict[str, float | str]] = {
    "default": {},
    "seed": {
        "minibatch_size": 512,
        "epochs": 10,
        "learning_rate": 5e-5,
        "gamma": 0.99,
        "share_layers": True,
        "value_loss": "squared",
        "value_clip": 10.0,
        "normalize_values": False,
    },
}
"""Changes of a preset to the defaults below. Reasons and measurements: ADRs 0011 and 0029."""


class PpoSettings(BaseModel, frozen=True, extra="forbid"):
    """Parameters of the PPO update."""

    preset: Literal["default", "seed"] = Field(
        default="default",
        description="Values of the PPO settings that are not set individually: default learns most "
        "per second, seed has those of the original specification (ADR 0011).",
    )
    minibatch_size: int = Field(
        default=1024,
        ge=16,
        description="Samples per gradient step, at most BATCH_SIZE. Preset seed: 512.",
    )
    epochs: int = Field(
        default=4,
        ge=1,
        le=64,
        description="Passes over each batch. More passes overfit the batch and take longer. Preset "
        "seed: 10.",
    )
    learning_rate: float = Field(
        default=3e-4,
        gt=0,
        description="Learning rate of Adam. Preset seed: 5e-05.",
    )
    gamma: float = Field(
        default=0.999,
        gt=0,
        lt=1,
        description="Discount per four frames, or per decision with TRAINER_ACTIONS=seed. Preset "
        "seed: 0.99, whose horizon is shorter than a segment (ADR 0004).",
        json_schema_extra=UNLESS_SET,
    )
    gae_lambda: float = Field(
        default=0.95, ge=0, le=1, description="Lambda of generalized advantage estimation."
    )
    clip: float = Field(
        default=0.2, gt=0, description="Clip parameter of the PPO probability ratio."
    )
    share_layers: bool = Field(
        default=False,
        description="Share hidden layers between policy and value function. If false, each has its "
        "own layers and gradient clipping. A resumed run keeps its value, and POLICY=cnn always "
        "shares. Preset seed: true (ADR 0029).",
        json_schema_extra=FIXED,
    )
    value_loss: Literal["huber", "squared"] = Field(
        default="huber",
        description="Value loss: huber (quadratic up to 1, linear beyond) or squared, as in RLlib. "
        "Preset seed: squared.",
        json_schema_extra=UNLESS_SET,
    )
    value_clip: float = Field(
        default=0.0,
        ge=0,
        description="Clip the value loss of a sample at this value; clipped samples have no "
        "gradient. 0 disables it. Preset seed: 10.",
        json_schema_extra=UNLESS_SET,
    )
    normalize_values: bool = Field(
        default=True,
        description="Train the value function on returns divided by their running standard "
        "deviation (PopArt). Preset seed: false.",
        json_schema_extra=FIXED,
    )
    entropy: float = Field(
        default=0.01,
        ge=0,
        description="Weight of the entropy bonus, in both presets. Higher values explore more and "
        "converge later.",
    )

    @model_validator(mode="before")
    @classmethod
    def _fill_in_the_preset(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        return PRESETS.get(given.get("preset", "default"), {}) | given


class NetworkSettings(BaseModel, frozen=True, extra="forbid", populate_by_name=True):
    """The policy network."""

    policy: Literal["mlp", "cnn"] = Field(
        default="mlp",
        validation_alias="POLICY",
        description="Policy network. mlp: the 128 numbers of the observation; cnn: additionally "
        "the last four screens (grey, 80 x 72), several times slower.",
        json_schema_extra=FIXED,
    )
    hidden: int = Field(
        default=256,
        ge=8,
        le=4096,
        description="Units per hidden layer.",
        json_schema_extra=FIXED,
    )
    normalize_inputs: bool = Field(
        default=True,
        description="Divide the 128 observation numbers by their running standard deviation, for "
        "policies with decisions.",
        json_schema_extra=FIXED,
    )


class SamplingSettings(BaseModel, frozen=True, extra="forbid", populate_by_name=True):
    """How batches are sampled."""

    batch_size: int = Field(
        default=4096,
        validation_alias="BATCH_SIZE",
        ge=64,
        description="Environment steps per iteration. Larger batches are more stable but react "
        "more slowly.",
    )
    envs_per_worker: int = Field(
        default=1,
        validation_alias="ENVS_PER_WORKER",
        ge=1,
        le=64,
        description="Emulators per runner, stepped together; each needs about 30 MB.",
    )
    overlap: bool = Field(
        default=True,
        description="Collect the next batch during the update, with the previous policy: 1.2 to "
        "1.5 times the steps per second. If false, a resumed run is bit-identical to an "
        "uninterrupted one. No effect if RAY_WORKERS is 0.",
    )


class ShapingSettings(BaseModel, frozen=True, extra="forbid"):
    """Kind and scale of the shaping reward, and swaps of reward models."""

    mode: Literal["potential", "height"] = Field(
        default="potential",
        description="Shaping reward. potential: differences of the potential, which keep the "
        "optimal policies; height: rises above its highest value in the episode (ADR 0007).",
        json_schema_extra=UNLESS_SET,
    )
    weight: float = Field(
        default=10.0,
        ge=0,
        description="Scale of the shaping reward: one objective of the quest is worth about 1. "
        "Higher values dominate the rewards of the game. 0 trains without judges.",
        json_schema_extra=UNLESS_SET,
    )
    ramp_iterations: int = Field(default=5, ge=0, json_schema_extra=INTERNAL)
    """Iterations over which a new reward model replaces the previous one. More are easier for the
    critic but delay the new model; 0 and 1 swap at once."""
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
    """Intrinsic reward for novel observations."""

    weight: float = Field(
        default=0.0,
        ge=0,
        description="Intrinsic reward for an observation whose novelty is one standard deviation "
        "of the discounted return (random network distillation). 0 disables it (ADR 0012).",
        json_schema_extra=UNLESS_SET,
    )


@dataclass(frozen=True)
class RewardSettings:
    """Rewards that the learner adds."""

    shaping: ShapingSettings = field(default_factory=ShapingSettings)
    curiosity: CuriositySettings = field(default_factory=CuriositySettings)


class CurriculumSettings(BaseModel, frozen=True, extra="forbid"):
    """Backward curriculum along demonstrations, and imitation of them (ADR 0031)."""

    path: Path | None = Field(
        default=None,
        description="Directory of demonstrations. Unset: no curriculum.",
    )
    tries: int = Field(default=12, ge=2, le=256, json_schema_extra=INTERNAL)
    """Last attempts from a frontier that decide whether it moves."""
    success: float = Field(default=0.5, gt=0, lt=1, json_schema_extra=INTERNAL)
    """Success rate of those attempts above which the frontier of a subtask moves back."""
    behind: float = Field(default=0.25, ge=0, le=1, json_schema_extra=INTERNAL)
    """Share of the starts of a subtask between its frontier and its end."""
    power_on: float = Field(default=0.1, ge=0, le=1, json_schema_extra=INTERNAL)
    """Share of the play, in frames, that starts at power-on while no subtask is mastered."""
    chained: float = Field(default=0.5, ge=0, le=1, json_schema_extra=INTERNAL)
    """The same once every subtask is mastered; interpolated quadratically."""
    noised: float = Field(default=0.5, ge=0, le=1, json_schema_extra=INTERNAL)
    """Share of the starts on demonstrations randomized by `noop_start` and `walk_start`."""
    arrived: float = Field(default=0.5, ge=0, le=1, json_schema_extra=INTERNAL)
    """Share of the attempts of a whole subtask that start where play arrived at its beginning."""
    goes_on: float = Field(default=0.5, ge=0, le=1, json_schema_extra=INTERNAL)
    """Chance that an episode continues into the next subtask instead of being truncated."""
    patience: float = Field(default=3.0, ge=1, json_schema_extra=INTERNAL)
    """An episode from a demonstration is truncated after this many times the frames of the
    demonstration."""
    warm_start: int = Field(
        default=600,
        ge=0,
        le=100_000,
        description="Gradient steps of 256 decisions that imitate the demonstrations before PPO "
        "starts. 0 disables it.",
    )
    strayed: float = Field(default=0.2, ge=0, lt=1, json_schema_extra=INTERNAL)
    """Share of the inputs of half of the imitated timesteps that is replaced by those of others,
    so that a decision does not depend on coincidences."""
    imitation: float = Field(
        default=0.1,
        ge=0,
        description="Weight of the imitation of subtasks that are not mastered, beside the PPO "
        "loss. 0 disables it.",
    )

    def absolute(self) -> Self:
        """Return a copy for processes that run in other folders."""
        path = None if self.path is None else self.path.resolve()
        return self.model_copy(update={"path": path})
