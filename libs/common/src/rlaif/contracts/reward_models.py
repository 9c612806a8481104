"""What a published reward model is: a network's shape, its weights' digest and its record."""

from typing import Literal

from pydantic import AwareDatetime, Field

from rlaif.contracts.ids import Id, Sha256
from rlaif.contracts.model import Contract


class RewardNetSpec(Contract):
    """The shape of the network; both sides build it from this.

    The potential is `scale * tanh((mlp(x) - shift) / spread)`: bounded by `scale`, with constants
    frozen at training, so that a swap never re-normalises (normalising per batch would break the
    invariance of potential-based shaping).
    """

    layout_version: str
    inputs: int = Field(default=128, ge=1, le=4096)
    hidden: tuple[int, ...] = Field(default=(64, 64), min_length=1, max_length=8)
    activation: Literal["relu", "tanh"] = "relu"
    shift: float = 0.0
    spread: float = Field(default=1.0, gt=0)
    scale: float = Field(default=1.0, gt=0, le=100)


class GateMetrics(Contract):
    """What the gate measured. Unknown is null."""

    train_accuracy: float | None = Field(default=None, ge=0, le=1)
    heldout_accuracy: float | None = Field(default=None, ge=0, le=1)
    heldout_pairs: int = Field(default=0, ge=0)
    heldout_episodes: int = Field(default=0, ge=0)
    heldout_accuracy_low: float | None = Field(
        default=None, ge=0, le=1, description="Lower end of its one-sided interval."
    )
    heldout_accuracy_high: float | None = Field(default=None, ge=0, le=1)
    crossfit_accuracy: float | None = Field(
        default=None, ge=0, le=1, description="Every episode ranked by networks fitted to others."
    )
    crossfit_accuracy_low: float | None = Field(
        default=None, ge=0, le=1, description="Lower end of its interval; the gate asks for > 0.5."
    )
    crossfit_pairs: int = Field(default=0, ge=0)
    newest_heldout_accuracy: float | None = Field(
        default=None, ge=0, le=1, description="On pairs with a segment of the newest quarter."
    )
    newest_heldout_pairs: int = Field(default=0, ge=0)
    champion_heldout_accuracy: float | None = Field(default=None, ge=0, le=1)


class RewardModelManifest(Contract):
    """`reward_model/epoch_N/manifest.json`."""

    schema_version: Literal[1] = 1
    version: int = Field(ge=1)
    model_key: str
    model_sha256: Sha256
    spec: RewardNetSpec
    judge_config: Id
    parent_version: int | None
    labels: int = Field(ge=1)
    preferences: int = Field(ge=1)
    episodes: int = Field(ge=1)
    label_digest: Sha256 = Field(description="Digest of the sorted (segment id, score digest).")
    seed: int
    metrics: GateMetrics
    created_at: AwareDatetime


class Champion(Contract):
    """`reward_model/champion.json`: the one mutable object, the model that is live now."""

    version: int = Field(ge=1)
    manifest_key: str
    model_key: str
    model_sha256: Sha256
    activation: int = Field(
        default=1,
        ge=1,
        description="Rises with every change of the champion, roll-backs included.",
    )
    newest_version: int | None = Field(
        default=None,
        description="Newest version when this was written: a manifest above it was published by a "
        "service that died before it wrote the champion.",
    )
