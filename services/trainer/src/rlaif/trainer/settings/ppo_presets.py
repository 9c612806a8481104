"""PPO's numbers: the seeds' own, and ours. Reasons and measurements: ADR 0011."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

PpoPreset = Literal["default", "seed"]


@dataclass(frozen=True)
class PpoNumbers:
    """The settings that a preset fills in; the fields of `PpoSettings` explain them."""

    learning_rate: float
    gamma: float
    gae_lambda: float
    clip: float
    value_clip: float
    entropy: float
    batch_size: int
    minibatch_size: int
    epochs: int


PRESETS: dict[PpoPreset, PpoNumbers] = {
    "seed": PpoNumbers(
        learning_rate=5e-5, gamma=0.99, gae_lambda=0.95, clip=0.2, value_clip=10.0, entropy=0.01,
        batch_size=4096, minibatch_size=512, epochs=10,
    ),
    "default": PpoNumbers(
        learning_rate=3e-4, gamma=0.999, gae_lambda=0.95, clip=0.2, value_clip=10.0, entropy=0.01,
        batch_size=4096, minibatch_size=1024, epochs=4,
    ),
}  # fmt: skip


def filled(given: dict[str, Any]) -> dict[str, Any]:
    """`given` and, for what it leaves out, the numbers of the preset that it names."""
    numbers = PRESETS.get(given.get("preset", "default"), PRESETS["default"])
    return asdict(numbers) | given
