"""Published reward models: shape of the network, measurements of the gate, and the champion."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, Field, model_validator

from rlaif.contracts.game.observation import OBSERVATION_SIZE
from rlaif.contracts.model import Contract, Count, Difference, Id, Positive, Sha256, Share

Number = Annotated[int, Field(ge=1, le=2**31 - 1)]
"""Number of a version or activation; services never write larger ones."""


class RewardNetSpec(Contract):
    """The shape of the network, from which trainer and reward-model service build it.

    The potential is `scale * tanh((r(x) - shift) / spread)`, r the mean of the members' outputs:
    bounded by `scale`, with constants frozen at training, so that a swap never re-normalises
    (normalising per batch would break the invariance of potential-based shaping).
    """

    layout_version: str
    inputs: int = Field(default=OBSERVATION_SIZE, ge=1, le=4096)
    hidden: tuple[int, ...] = Field(default=(64, 64), min_length=1, max_length=8)
    activation: Literal["relu", "tanh"] = "relu"
    shift: float = 0.0
    spread: float = Field(default=1.0, ge=1e-4, le=1e4)
    scale: float = Field(default=1.0, gt=0, le=100)
    members: int = Field(default=1, ge=1, le=32, description="Networks of the ensemble.")
    temperature: float = Field(
        default=1.0,
        gt=0,
        description="P(A better) = (1 - lapse) sigmoid((R(A) - R(B)) / temperature) + lapse / 2, R "
        "the statistic of r.",
    )
    lapse: Share = Field(default=0.0, description="Estimated share of random labels.")

    @model_validator(mode="after")
    def _grows_with_its_spread(self) -> Self:
        # Training sets both alike; a larger scale alone would reward more than any objective.
        if self.scale > max(10.0, self.spread):
            raise ValueError(f"scale {self.scale:g} is too large for spread {self.spread:g}")
        return self


class Slope(Contract):
    """Slope of the reward over the judges' positions; 1: each objective has its full value."""

    stage: Literal["early", "middle", "late"] = Field(description="Third of the labels' reach.")
    kind: Literal["reached", "walked"] = Field(
        description="Segments that reach an objective, or that move between two."
    )
    value: float
    high: float = Field(description="Upper end of the one-sided interval.")
    segments: Positive


class GateMetrics(Contract):
    """Measurements of the gate. Unknown is null.

    Intervals are one-sided; `_low` and `_high` are their ends.
    """

    train_accuracy: Share | None = None
    heldout_accuracy: Share | None = None
    heldout_pairs: Count = 0
    heldout_episodes: Count = 0
    heldout_accuracy_low: Share | None = None
    heldout_accuracy_high: Share | None = None
    crossfit_accuracy: Share | None = Field(
        default=None, description="Each episode is ranked by networks fitted to the others."
    )
    crossfit_accuracy_low: Share | None = Field(
        default=None, description="The gate requires more than 0.5."
    )
    crossfit_pairs: Count = 0
    paid_accuracy: Share | None = Field(
        default=None, description="Held-out pairs ranked by the shaping reward of the segments."
    )
    best_slot: str | None = Field(
        default=None, description="The single number of the observation that ranks best."
    )
    best_slot_accuracy: Share | None = Field(
        default=None, description="Its accuracy, chosen on other episodes."
    )
    ridge_accuracy: Share | None = Field(
        default=None, description="Accuracy of a linear fit of all numbers, on other episodes."
    )
    gain_over_slot_low: Difference | None = Field(
        default=None, description="Cross-fitted accuracy minus that of the best slot."
    )
    gain_over_ridge_low: Difference | None = None
    permutation_p: Share | None = Field(
        default=None,
        description="Probability of labels this predictable if permuted among episodes.",
    )
    champion_heldout_accuracy: Share | None = None
    champion_gain_low: Difference | None = None
    champion_gain_high: Difference | None = Field(
        default=None, description="Accuracy minus that of the champion, pair by pair."
    )
    forward_accuracy: Share | None = Field(
        default=None, description="On the newest episodes, by a network fitted to older ones."
    )
    forward_accuracy_low: Share | None = None
    forward_accuracy_high: Share | None = None
    forward_pairs: Count = 0
    ram_accuracy: Share | None = Field(
        default=None,
        description="On held-out pairs whose order is clear from RAM; never used as labels.",
    )
    ram_accuracy_high: Share | None = None
    ram_pairs: Count = 0
    heldout_ece: Share | None = Field(
        default=None, description="Expected calibration error, 10 bins."
    )
    disagreement: float | None = Field(
        default=None,
        ge=0,
        description="Standard deviation between members over that between observations.",
    )
    slopes: tuple[Slope, ...] = ()
    llm_only_share: Share | None = Field(
        default=None, description="Decided pairs whose order does not follow from RAM counters."
    )


class Lineage(Contract):
    """Inputs of a reward model beyond its labels."""

    statistic: str = Field(description="Statistic of a segment that is compared.")
    duplicates: Count = Field(default=0, description="Near-duplicate labels that were merged.")
    overrides: Count = Field(default=0, description="Labels decided by a person.")
    comparisons: Count = Field(default=0, description="Pairs compared side by side by judges.")
    votes: Count = Field(default=0, description="Pairs compared side by side by people.")
    vote_digest: Sha256 | None = Field(default=None, description="Digest of these votes.")
    rubrics: tuple[Sha256, ...] = Field(default=(), description="Frozen prompts of the judges.")
    models: tuple[str, ...] = Field(default=(), description="Language models that voted.")
    newest_env_step: Count = 0
    settings: str = Field(default="", description="Settings of the fit and of the gate.")
    settings_digest: Sha256 | None = Field(
        default=None, description="Digest of the settings; null in records of older writers."
    )


class RewardModelManifest(Contract):
    """`reward_model/epoch_N/manifest.json`."""

    schema_version: Literal[1] = 1
    version: Positive
    model_key: str
    model_sha256: Sha256
    spec: RewardNetSpec
    judge_config: Id
    parent_version: int | None
    labels: Positive
    preferences: Positive
    episodes: Positive
    label_digest: Sha256 = Field(description="Digest of the sorted (segment id, score digest).")
    seed: int
    metrics: GateMetrics
    created_at: AwareDatetime
    lineage: Lineage | None = None

    @property
    def settings_digest(self) -> str | None:
        return self.lineage.settings_digest if self.lineage else None


class Champion(Contract):
    """`reward_model/champion.json`: the only mutable object, which names the live model."""

    version: Number
    manifest_key: str
    model_key: str
    model_sha256: Sha256
    activation: Number = Field(
        default=1, description="Increases with every change of the champion, roll-backs included."
    )
    newest_version: Number | None = Field(
        default=None,
        description="Newest version at the time of writing: a newer manifest was published by a "
        "service that crashed before it wrote the champion.",
    )
    pinned: bool = Field(default=False, description="No candidate replaces it until the pin ends.")
    pin_reason: str | None = None
    pinned_until: AwareDatetime | None = Field(
        default=None, description="End of the pin; null: when a person unpins it."
    )
    withdrawn: str | None = Field(
        default=None,
        description="Reason why this version was withdrawn without a replacement, so that no model "
        "is live; null: it is live.",
    )

    def held(self, now: datetime) -> bool:
        """Whether no candidate may replace it now."""
        return self.pinned and (self.pinned_until is None or now < self.pinned_until)


class GamingReason(StrEnum):
    """Evidence of reward hacking: the policy raises the potential without progress."""

    RAM_PROGRESS_FLAT = "ram_progress_flat"
    """Milestones, rooms and the environment return did not rise."""

    JUDGES_SCORES_FALL = "judges_scores_fall"
    """The judges' scores of the same episodes fell."""


class GamingAlarm(Contract):
    """The reward hacking monitor raised an alarm."""

    version: Positive = Field(description="The live version.")
    run_id: Id
    env_step: Count = Field(description="Environment steps of the run at the end of the window.")
    rise: float = Field(description="Rise of the mean potential over the window.")
    reasons: tuple[GamingReason, ...] = Field(min_length=1)
    description: str
    raised_at: AwareDatetime
