"""PPO: its numbers, its network, and who plays for it."""

from typing import Any, Literal

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
"""What a preset changes of the defaults below. Reasons and measurements: ADRs 0011 and 0029."""


class PpoSettings(BaseModel, frozen=True, extra="forbid"):
    """What an update is made of."""

    preset: Literal["default", "seed"] = Field(
        default="default",
        description="Values of the PPO settings that are not set individually: default learns most "
        "per second, seed has the values of the seeds (ADR 0011).",
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
        "seed: 0.99, which is shorter than a segment (ADR 0004).",
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
    entropy_end: float = Field(default=0.005, ge=0, json_schema_extra=INTERNAL)
    """Weight of the entropy bonus after `entropy_steps`; it is interpolated linearly."""
    entropy_steps: int = Field(default=0, ge=0, json_schema_extra=INTERNAL)
    """Decisions over which the entropy bonus falls to `entropy_end`; 0 keeps it constant."""

    @property
    def entropy_schedule(self) -> float | list[list[float]]:
        """The weight of the entropy bonus as RLlib takes it: a number, or (steps, weight) pairs."""
        if not self.entropy_steps:
            return self.entropy
        return [[0, self.entropy], [self.entropy_steps, self.entropy_end]]

    @model_validator(mode="before")
    @classmethod
    def _fill_in_the_preset(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        return PRESETS.get(given.get("preset", "default"), {}) | given


class NetworkSettings(BaseModel, frozen=True, extra="forbid", populate_by_name=True):
    """The network that plays."""

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
    """Who plays the next batch, and when."""

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
