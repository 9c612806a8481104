"""PPO: its numbers, its network, and who plays for it."""

from typing import Any, Literal

from pydantic import BaseModel, Field, model_validator

PRESETS: dict[str, dict[str, float]] = {
    "default": {},
    "seed": {"minibatch_size": 512, "epochs": 10, "learning_rate": 5e-5, "gamma": 0.99},
}
"""What a preset changes of the defaults below. Reasons and measurements: ADR 0011."""


class PpoSettings(BaseModel, frozen=True, extra="forbid"):
    """What an update is made of."""

    preset: Literal["default", "seed"] = Field(
        default="default",
        description="PPO's numbers, as far as they are not set one by one: default is what learns "
        "most a second, seed is the seeds' own (ADR 0011). Each says below what they differ in.",
    )
    batch_size: int = Field(
        default=4096,
        ge=64,
        description="Environment steps an iteration. Larger is steadier and slower to react.",
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
        description="Discount a decision step. Preset seed: 0.99, which forgets a segment "
        "(ADR 0004).",
    )
    gae_lambda: float = Field(
        default=0.95, ge=0, le=1, description="Lambda of GAE, in both presets."
    )
    clip: float = Field(default=0.2, gt=0, description="PPO ratio clip, in both presets.")
    value_clip: float = Field(
        default=10.0, gt=0, description="Clip of the value loss, in both presets."
    )
    entropy: float = Field(
        default=0.01, ge=0, description="Weight of the entropy bonus, in both presets."
    )

    @model_validator(mode="before")
    @classmethod
    def _fill_in_the_preset(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        return PRESETS.get(given.get("preset", "default"), {}) | given


class NetworkSettings(BaseModel, frozen=True, extra="forbid"):
    """The network that plays."""

    kind: Literal["mlp", "cnn"] = Field(
        default="mlp",
        description="mlp reads the 128 numbers of the observation; cnn looks at the last four "
        "screens, grey, 80 x 72, with those numbers as memory channels. It draws every step and "
        "learns several times slower.",
    )
    hidden: int = Field(default=256, ge=8, le=4096, description="Units of each policy layer.")


class SamplingSettings(BaseModel, frozen=True, extra="forbid"):
    """Who plays the next batch, and when."""

    sampler: Literal["fast", "stock"] = Field(
        default="fast",
        description="stock plays and learns with RLlib's own runner, connectors and learner, to "
        "compare with: slower, and without captures, reward model, exploration and curiosity.",
    )
    envs_per_worker: int = Field(
        default=1,
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
