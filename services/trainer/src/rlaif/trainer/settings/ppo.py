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
        description="PPO's numbers, as far as they are not set one by one: default is what learns "
        "most a second, seed is the seeds' own (ADR 0011). Each says below what they differ in.",
    )
    minibatch_size: int = Field(
        default=1024,
        ge=16,
        description="Samples a gradient step; at most the batch size. Preset seed: 512.",
    )
    epochs: int = Field(
        default=4,
        ge=1,
        le=64,
        description="Passes over each batch. More overfit the batch and cost time. Preset seed: "
        "10.",
    )
    learning_rate: float = Field(
        default=3e-4,
        gt=0,
        description="Adam step size. Higher learns faster, then diverges. Preset seed: 5e-05.",
    )
    gamma: float = Field(
        default=0.999,
        gt=0,
        lt=1,
        description="Discount of four frames. Preset seed: 0.99, which forgets a segment "
        "(ADR 0004).",
        json_schema_extra=UNLESS_SET,
    )
    gae_lambda: float = Field(
        default=0.95, ge=0, le=1, description="Lambda of GAE, in both presets."
    )
    clip: float = Field(default=0.2, gt=0, description="PPO ratio clip, in both presets.")
    share_layers: bool = Field(
        default=False,
        description="Whether the critic goes on from what the policy's layers make of a moment. "
        "Off it has layers of its own, its gradient is clipped apart, and neither moves the other: "
        "more time an update, nothing more a step. A resumed run keeps what it began with, and "
        "POLICY=cnn always shares. Preset seed: on (ADR 0029).",
        json_schema_extra=FIXED,
    )
    value_loss: Literal["huber", "squared"] = Field(
        default="huber",
        description="What an error of the critic costs: huber is half the square up to one unit "
        "and straight beyond, so that a large reward pulls no harder than a middling one and is "
        "still learned; squared is RLlib's. Preset seed: squared.",
        json_schema_extra=UNLESS_SET,
    )
    value_clip: float = Field(
        default=0.0,
        ge=0,
        description="The value loss of a sample is cut there, and an error beyond it teaches "
        "nothing: with squared and 10 that is every error above 3.2. 0 cuts nothing. Preset seed: "
        "10.",
        json_schema_extra=UNLESS_SET,
    )
    normalize_values: bool = Field(
        default=True,
        description="The critic learns returns in their running standard deviations (PopArt), and "
        "the unit of huber is one of those. Off it learns them as they are paid. Preset seed: off.",
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
        description="mlp reads the 128 numbers of the observation; cnn looks at the last four "
        "screens, grey, 80 x 72, with those numbers as memory channels. It draws every step and "
        "learns several times slower.",
        json_schema_extra=FIXED,
    )
    hidden: int = Field(
        default=256,
        ge=8,
        le=4096,
        description="Units of each policy layer.",
        json_schema_extra=FIXED,
    )
    normalize_inputs: bool = Field(
        default=True,
        description="A policy of decisions reads the 128 numbers in their running deviations, so "
        "that what moves little, such as money, counts as much as the rest. Off it reads them as "
        "they are.",
        json_schema_extra=FIXED,
    )


class SamplingSettings(BaseModel, frozen=True, extra="forbid", populate_by_name=True):
    """Who plays the next batch, and when."""

    batch_size: int = Field(
        default=4096,
        validation_alias="BATCH_SIZE",
        ge=64,
        description="Environment steps an iteration. Larger is steadier and slower to react.",
    )
    envs_per_worker: int = Field(
        default=1,
        validation_alias="ENVS_PER_WORKER",
        ge=1,
        le=64,
        description="Emulators a runner steps together. More cost memory, about 30 MB each.",
    )
    overlap: bool = Field(
        default=True,
        description="Play the next batch while the update runs, with the policy of one update "
        "before: 1.2 to 1.5 times the steps. Off, a resumed run repeats the uninterrupted one bit "
        "for bit. Without effect when RAY_WORKERS is 0.",
    )
