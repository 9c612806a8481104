"""What a published reward model is: a network's shape, its weights' digest and its record."""

from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import AwareDatetime, Field

from rlaif.contracts.game.observation import OBSERVATION_SIZE
from rlaif.contracts.model import Contract, Id, Sha256

MOST = 2**31 - 1
"""Highest version and activation; a champion that says more was not written by a service."""


class RewardNetSpec(Contract):
    """The shape of the network; both sides build it from this.

    The potential is `scale * tanh((r(x) - shift) / spread)`, r the mean of the members' outputs:
    bounded by `scale`, with constants frozen at training, so that a swap never re-normalises
    (normalising per batch would break the invariance of potential-based shaping).
    """

    layout_version: str
    inputs: int = Field(default=OBSERVATION_SIZE, ge=1, le=4096)
    hidden: tuple[int, ...] = Field(default=(64, 64), min_length=1, max_length=8)
    activation: Literal["relu", "tanh"] = "relu"
    shift: float = 0.0
    spread: float = Field(default=1.0, gt=0)
    scale: float = Field(default=1.0, gt=0, le=100)
    members: int = Field(
        default=1, ge=1, le=32, description="Networks of the ensemble, all of this shape."
    )
    temperature: float = Field(
        default=1.0,
        gt=0,
        description="P(A better) = (1 - lapse) sigmoid((R(A) - R(B)) / temperature) + lapse / 2, R "
        "the statistic of r.",
    )
    lapse: float = Field(default=0.0, ge=0, le=1, description="Share of labels that seem chance.")


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
    folds_accuracy_low: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Likewise, of the training episodes alone; of older gates only.",
    )
    paid_accuracy: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Decided held-out pairs, ranked by what the trainer pays for the segments.",
    )
    paid_accuracy_low: float | None = Field(default=None, ge=0, le=1)
    best_slot: str | None = Field(
        default=None, description="The single number of the observation that ranks best."
    )
    best_slot_accuracy: float | None = Field(
        default=None, ge=0, le=1, description="Its accuracy, chosen on other episodes."
    )
    ridge_accuracy: float | None = Field(
        default=None, ge=0, le=1, description="Of a linear fit of all numbers, on other episodes."
    )
    gain_over_slot_low: float | None = Field(
        default=None,
        ge=-1,
        le=1,
        description="Lower end of the interval of the cross-fitted accuracy less the best slot's.",
    )
    gain_over_ridge_low: float | None = Field(default=None, ge=-1, le=1)
    gain_over_paid_slot_low: float | None = Field(
        default=None, ge=-1, le=1, description="Less that of the best slot as a potential."
    )
    gain_over_paid_ridge_low: float | None = Field(
        default=None, ge=-1, le=1, description="Less that of a linear potential."
    )
    permutation_p: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Probability of labels this predictable if they were dealt among episodes.",
    )
    permutation_level: float | None = Field(
        default=None, ge=0, le=1, description="What it must not exceed at this look."
    )
    refit_gain_high: float | None = Field(
        default=None,
        ge=-1,
        le=1,
        description="Upper end of the interval of the held-out accuracy less that of another fit "
        "to the same labels.",
    )
    backward_accuracy: float | None = Field(
        default=None, ge=0, le=1, description="Oldest episodes, by a network fitted to newer ones."
    )
    newest_heldout_accuracy: float | None = Field(
        default=None, ge=0, le=1, description="On pairs with a segment of the newest quarter."
    )
    newest_heldout_pairs: int = Field(default=0, ge=0)
    champion_heldout_accuracy: float | None = Field(default=None, ge=0, le=1)
    champion_gain_high: float | None = Field(
        default=None,
        ge=-1,
        le=1,
        description="Upper end of the one-sided interval of the candidate's accuracy less the "
        "champion's, pair by pair.",
    )
    forward_accuracy: float | None = Field(
        default=None, ge=0, le=1, description="Newest episodes, by a network fitted to older ones."
    )
    forward_accuracy_low: float | None = Field(default=None, ge=0, le=1)
    forward_accuracy_high: float | None = Field(default=None, ge=0, le=1)
    forward_pairs: int = Field(default=0, ge=0)
    control_accuracy: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="The same recipe on shuffled labels; 0.5 unless something leaks.",
    )
    control_accuracy_low: float | None = Field(default=None, ge=0, le=1)
    ram_accuracy: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="On held-out pairs that the game's RAM tells clearly apart; never taught.",
    )
    ram_accuracy_high: float | None = Field(default=None, ge=0, le=1)
    ram_pairs: int = Field(default=0, ge=0)
    heldout_nll: float | None = Field(
        default=None, ge=0, description="Nats a decided held-out pair; ln 2 = 0.693 is chance."
    )
    heldout_ece: float | None = Field(
        default=None, ge=0, le=1, description="Expected calibration error, 10 bins."
    )
    probe_correlation: float | None = Field(
        default=None, ge=-1, le=1, description="Spearman of Φ with the champion's on the probes."
    )
    disagreement: float | None = Field(
        default=None,
        ge=0,
        description="Standard deviation between members over that between observations.",
    )
    largest_potential: float | None = Field(
        default=None, ge=0, description="Largest |Φ| over the labelled observations."
    )
    probes_apart: float | None = Field(
        default=None,
        ge=0,
        description="How far it answers counterfactual probes from other networks of the same "
        "labels, over how far these are apart; of the family where it is farthest.",
    )
    probes_apart_once: float | None = Field(
        default=None, ge=0, description="Likewise, of the one probe where it is farthest."
    )
    member_apart: float | None = Field(
        default=None, ge=0, description="Likewise, of its member that is farthest."
    )
    weight_ratio: float | None = Field(
        default=None, ge=0, description="Its largest weight over theirs, of the worst layer."
    )
    least_thing: float | None = Field(
        default=None,
        description="Mean rise of Φ, in units of its scale, when a thing of the quest is owned "
        "besides; of the thing that raises it least.",
    )
    llm_only_share: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Share of the decided pairs whose order the RAM's counters do not give: what "
        "only judges say.",
    )


class Lineage(Contract):
    """What a reward model was made of, beyond its labels."""

    statistic: str = Field(description="What of a segment is compared.")
    duplicates: int = Field(default=0, ge=0, description="Near-duplicate labels that were merged.")
    overrides: int = Field(default=0, ge=0, description="Labels that a person decided.")
    comparisons: int = Field(
        default=0, ge=0, description="Pairs that judges were shown side by side."
    )
    votes: int = Field(
        default=0, ge=0, description="Pairs that people were shown side by side: human overrides."
    )
    vote_digest: Sha256 | None = Field(
        default=None, description="Digest of what they said; null when they said nothing."
    )
    rubrics: tuple[Sha256, ...] = Field(default=(), description="Frozen prompts of the judges.")
    models: tuple[str, ...] = Field(default=(), description="Language models that voted.")
    newest_env_step: int = Field(default=0, ge=0)
    settings: str = Field(default="", description="Everything that decided the fit and the gate.")
    settings_digest: Sha256 | None = Field(
        default=None, description="Digest of the settings; null in records of older writers."
    )


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
    lineage: Lineage | None = None

    @property
    def settings_digest(self) -> str | None:
        """Digest of the settings that made it; None when its writer did not record one."""
        return self.lineage.settings_digest if self.lineage else None


class Champion(Contract):
    """`reward_model/champion.json`: the one mutable object, the model that is live now."""

    version: int = Field(ge=1, le=MOST)
    manifest_key: str
    model_key: str
    model_sha256: Sha256
    activation: int = Field(
        default=1,
        ge=1,
        le=MOST,
        description="Rises with every change of the champion, roll-backs included.",
    )
    newest_version: int | None = Field(
        default=None,
        ge=1,
        le=MOST,
        description="Newest version when this was written: a manifest above it was published by a "
        "service that died before it wrote the champion.",
    )
    pinned: bool = Field(default=False, description="No candidate replaces it until the pin ends.")
    pin_reason: str | None = Field(default=None, description="Why it is pinned.")
    pinned_until: AwareDatetime | None = Field(
        default=None, description="When the pin ends by itself; None: when a person unpins it."
    )

    withdrawn: str | None = Field(
        default=None,
        description="Why this version was taken out of use with none to replace it: no model is "
        "live and nothing is paid. Null: it is live.",
    )

    def held(self, now: datetime) -> bool:
        """Whether no candidate may replace it now."""
        return self.pinned and (self.pinned_until is None or now < self.pinned_until)


class GamingReason(StrEnum):
    """Evidence that the policy games the reward model while its potential rises."""

    RAM_PROGRESS_FLAT = "ram_progress_flat"
    """Milestones, rooms and the game's own return did not rise."""

    JUDGES_SCORES_FALL = "judges_scores_fall"
    """The judges' scores of the same episodes fell."""


class GamingAlarm(Contract):
    """The reward hacking monitor raised an alarm."""

    version: int = Field(ge=1, description="Version that was live.")
    run_id: Id
    iteration: int = Field(ge=0)
    rise: float = Field(description="Rise of the mean potential over the window.")
    reasons: tuple[GamingReason, ...] = Field(min_length=1)
    description: str
    raised_at: AwareDatetime
