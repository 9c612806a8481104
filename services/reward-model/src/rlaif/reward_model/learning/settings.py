"""What decides what an attempt gives, besides its labels and the champion.

Nothing heavy is imported here: `--help` reads it.
"""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from rlaif.reward_model.labels.preferences import PairSettings
from rlaif.reward_net.pay import DISCOUNT

Activation = Literal["relu", "tanh"]


class FitSettings(BaseModel, frozen=True, extra="forbid"):
    """How the network is fitted."""

    # Each member has its own first weights and sees the episodes with other weights (Bayesian
    # bootstrap), so that they differ where the labels say little.
    members: int = Field(
        default=5,
        ge=1,
        le=32,
        description="Networks of the ensemble. More: steadier, and says where it is unsure; each "
        "costs the trainer another 128-64-64-1 network.",
    )
    # tanh starts nearly linear: 0.70 against 0.67 held-out accuracy from 60 labels, 0.78 from 200.
    activation: Activation = Field(
        default="tanh",
        description="Between the layers of the 128-64-64-1 network. tanh learns from fewer labels; "
        "relu bends more sharply once there are thousands.",
    )
    epochs: int = Field(
        default=200,
        ge=1,
        le=2000,
        description="Passes over the segments. More: slower, finer. Fewer: what lies near each "
        "other is not told apart.",
    )
    learning_rate: float = Field(
        default=4e-2,
        gt=0,
        le=0.1,
        description="Highest step of Adam, reached after a third of the passes. Higher: unsteady. "
        "Lower: needs more epochs.",
    )
    weight_decay: float = Field(
        default=1e-3,
        ge=0,
        le=1,
        description="Decay of the weights a step, in units of the step. Higher: smoother, follows "
        "few labels less closely.",
    )
    # ε: the loss sees (1 - ε) P + ε/2, so no single wrong label pulls without bound.
    noise: float = Field(
        default=0.05,
        ge=0,
        lt=1,
        description="Share of pairs assumed to be labelled by chance. Higher: wrong labels pull "
        "less, right ones too.",
    )


class GateSettings(BaseModel, frozen=True, extra="forbid"):
    """What a candidate must show."""

    min_labels: int = Field(
        default=24,
        ge=2,
        description="Labels before the first training. More: later and surer. Fewer: more "
        "candidates that the gate refuses.",
    )
    min_episodes: int = Field(
        default=4,
        ge=2,
        description="Episodes before the first training. More: later, tested on more variety.",
    )
    min_heldout_pairs: int = Field(
        default=20,
        ge=1,
        description="Decided held-out pairs that the gate needs. More: later and surer.",
    )
    # Of all intervals: cross-fitted accuracy must exceed 0.5 with it, and no set of pairs may speak
    # against the candidate with it.
    confidence: float = Field(
        default=0.99,
        ge=0.5,
        lt=1,
        description="One-sided confidence that episodes can be ranked from other episodes better "
        "than by chance. Higher: pure noise passes less often (0.99: 1 candidate in 40), real "
        "signal needs more labels.",
    )
    level: float = Field(
        default=0.01,
        gt=0,
        lt=0.5,
        description="Probability with which labels that are chance may ever pass, all looks of a "
        "run together; each look spends a part of it. Higher: a signal is believed from fewer "
        "labels.",
    )
    simple_margin: float = Field(
        default=0.01,
        ge=-1,
        le=0.5,
        description="By how much the networks must surely rank better than a potential that rises "
        "with the best single number of the observation, and than a linear one. Higher: labels "
        "that one number tells are refused more surely; -1 asks for nothing.",
    )
    # Beyond it a candidate is refused when it is surely worse: on few segments the champion's
    # accuracy is luck too, and all the more so because luck made it the champion.
    champion_margin: float = Field(
        default=0.05,
        ge=0,
        le=0.5,
        description="By how much a candidate may fall short of the champion's held-out accuracy. "
        "Higher: fresher models win more easily. Lower: fewer swaps.",
    )
    max_ece: float = Field(
        default=0.25,
        gt=0,
        le=1,
        description="Largest calibration error on held-out pairs. Small held-out sides measure it "
        "too high (0.1 on 20 pairs that are right); lower it when there are hundreds of labels.",
    )
    min_probe_correlation: float = Field(
        default=0.5,
        ge=-1,
        le=1,
        description="Rank correlation with the champion below which a candidate must be better, "
        "not only about as good. Higher: steadier rewards, slower change.",
    )


@dataclass(frozen=True)
class CandidateSettings:
    """Everything that decides what an attempt gives, besides its labels and the champion."""

    seed: int = 0
    heldout_fraction: float = 0.25
    scale: float = 1.0
    gamma: float = DISCOUNT
    pairs: PairSettings = field(default_factory=PairSettings)
    fit: FitSettings = field(default_factory=FitSettings)
    gate: GateSettings = field(default_factory=GateSettings)


def settings_text(settings: CandidateSettings) -> str:
    """The settings as JSON, equal for equal settings."""
    values = TypeAdapter(CandidateSettings).dump_python(settings, mode="json")
    return json.dumps(values, sort_keys=True)


def settings_of(text: str) -> CandidateSettings | None:
    """What `settings_text` wrote; None for what another version of this code wrote."""
    try:
        return TypeAdapter(CandidateSettings).validate_json(text)
    except ValidationError:
        return None


def settings_digest(settings: CandidateSettings) -> str:
    """SHA-256 of `settings_text`: attempts on equal labels with equal digests are the same."""
    return hashlib.sha256(settings_text(settings).encode()).hexdigest()
