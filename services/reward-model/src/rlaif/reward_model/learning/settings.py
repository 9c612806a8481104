"""Settings and constants that decide the outcome of a training, besides its labels."""

import hashlib
import json
from dataclasses import dataclass, field, fields
from typing import Final, Literal

from pydantic import TypeAdapter

from rlaif.reward_model.labels.preferences import COMPARED_WEIGHT

HELDOUT_FRACTION = 0.25
"""Share of episodes that are held out: used for tests, never for training."""

ACTIVATION: Final[Literal["relu", "tanh"]] = "tanh"
"""tanh is nearly linear at first: 0.70 held-out accuracy from 60 labels, relu 0.67."""

WEIGHT_DECAY = 1e-3
LABEL_NOISE = 0.05
"""Label smoothing: share of pairs assumed to be labelled by chance."""

CONFIDENCE = 0.99
"""One-sided confidence of intervals."""

MIN_EPISODES = 4
MIN_HELDOUT_EPISODES = 2
MIN_HELDOUT_PAIRS = 20
"""Decided held-out pairs that a training requires, besides `min_labels`."""


@dataclass(frozen=True)
class FitSettings:
    """How the network is fitted.

    Attributes:
        members: Networks of the ensemble. They differ in initial weights and in episode weights
            (Bayesian bootstrap), so they disagree where labels are sparse.
        epochs: Passes over the segments.
        learning_rate: Peak learning rate of AdamW.
        owned: Whether owning something of the quest has to raise the potential. This is knowledge
            of the game: even meaningless labels then reward an item with half of its worth.
    """

    members: int = 5
    epochs: int = 200
    learning_rate: float = 4e-2
    owned: bool = True


@dataclass(frozen=True)
class GateSettings:
    """Requirements on a candidate.

    Attributes:
        min_labels: Labels before the first training.
        simple_margin: Accuracy by which the networks must outrank the baselines; -1 turns the check
            off.
        must_improve: It must be significantly better than the champion, instead of not worse.
    """

    min_labels: int = 24
    simple_margin: float = 0.0
    must_improve: bool = False


@dataclass(frozen=True)
class CandidateSettings:
    """Everything that decides the outcome of a training, besides its labels and the champion."""

    seed: int = 0
    scale: float = 1.0
    fit: FitSettings = field(default_factory=FitSettings)
    gate: GateSettings = field(default_factory=GateSettings)


def settings_text(settings: CandidateSettings) -> str:
    """The settings as JSON; equal for equal settings."""
    # Part of all stored digests.
    pairs = {"compared_weight": COMPARED_WEIGHT}
    values = TypeAdapter(CandidateSettings).dump_python(settings, mode="json")
    return json.dumps(values | {"pairs": pairs}, sort_keys=True)


def gate_settings_of(text: str) -> GateSettings | None:
    """The gate settings in `settings_text`, also of an earlier version; None if unreadable."""
    try:
        gate = {"must_improve": False} | json.loads(text)["gate"]  # not stored by 0.1.0
        return GateSettings(**{each.name: gate[each.name] for each in fields(GateSettings)})
    except (ValueError, KeyError, TypeError):
        return None


def settings_digest(settings: CandidateSettings) -> str:
    """SHA-256 of `settings_text`: trainings on equal labels with equal digests are the same."""
    return hashlib.sha256(settings_text(settings).encode()).hexdigest()
