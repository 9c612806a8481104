"""Everything that decides what an attempt gives, besides its labels and the champion.

Nothing heavy is imported here: `--help` reads it.
"""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import Literal

from rlaif.reward_model.labels.preferences import PairSettings

Statistic = Literal["end_minus_start", "mean"]
Activation = Literal["relu", "tanh"]


@dataclass(frozen=True)
class FitSettings:
    """How the network is fitted.

    Attributes:
        statistic: The number of a segment that is compared.
        members: Networks of the ensemble. Each has its own first weights and sees the episodes with
            other weights (Bayesian bootstrap), so that they differ where the labels say little.
        activation: Between the layers. `tanh` starts nearly linear, which learns from fewer labels
            than `relu`: 0.70 against 0.67 held-out accuracy from 60 labels, 0.78 from 200.
        epochs: Passes over the segments.
        warm_epochs: Passes when the fit begins with the champion's weights.
        check_epochs: Passes of the small fits that show what the labels can teach.
        learning_rate: Of Adam.
        weight_decay: L2 penalty inside Adam. It replaces stopping early, which would have to hold
            out a part of the training labels (0.62 instead of 0.70 from 60 labels) or to look at
            the gate's own held-out pairs (which would flatter the accuracy measured on them).
            Four times the default shrinks the network to a constant, which the gate refuses.
        batch_segments: Segments a step; all pairs among them are compared.
        centring: Weight of mean(r²), which keeps the scale of r from growing without end:
            preferences fix differences only.
        noise: Share ε of pairs thought to be labelled by chance: the loss sees
            (1 - ε) P + ε/2, so no single wrong label pulls without bound.
    """

    statistic: Statistic = "mean"
    members: int = 5
    activation: Activation = "tanh"
    epochs: int = 30
    warm_epochs: int = 10
    check_epochs: int = 20
    learning_rate: float = 3e-3
    weight_decay: float = 1e-2
    batch_segments: int = 64
    centring: float = 1e-2
    noise: float = 0.05


@dataclass(frozen=True)
class GateSettings:
    """What a candidate must show.

    Attributes:
        min_labels: Scored segments in all.
        min_episodes: Episodes in all.
        min_heldout_episodes: Episodes that it never saw.
        min_heldout_pairs: Decided pairs among held-out segments.
        confidence: One-sided confidence of all intervals. Cross-fitted accuracy must exceed 0.5
            with it, and no pair set may speak against the candidate with it.
        min_accuracy: Held-out accuracy below which it is of no use, whatever its interval.
        champion_margin: By how much it may fall short of the champion on the same pairs. Beyond
            it, it is refused when it is surely worse: on few segments the champion's accuracy is
            luck too, and all the more so because luck made it the champion.
        least_deviation: Standard deviation of Φ over the training data, in units of its scale,
            below which it counts as constant.
        max_ece: Largest calibration error on the held-out pairs.
        min_probe_correlation: Rank correlation with the champion on the probes below which a
            candidate must be better than the champion, not only about as good.
    """

    min_labels: int = 24
    min_episodes: int = 4
    min_heldout_episodes: int = 2
    min_heldout_pairs: int = 20
    confidence: float = 0.99
    min_accuracy: float = 0.55
    champion_margin: float = 0.05
    least_deviation: float = 0.01
    max_ece: float = 0.25
    min_probe_correlation: float = 0.5


@dataclass(frozen=True)
class CandidateSettings:
    """Everything that decides what an attempt gives, besides its labels and the champion."""

    seed: int = 0
    heldout_fraction: float = 0.25
    scale: float = 1.0
    pairs: PairSettings = field(default_factory=PairSettings)
    fit: FitSettings = field(default_factory=FitSettings)
    gate: GateSettings = field(default_factory=GateSettings)


def settings_text(settings: CandidateSettings) -> str:
    """The settings as JSON, equal for equal settings whatever made them."""
    return json.dumps(asdict(settings), sort_keys=True)


def settings_digest(settings: CandidateSettings) -> str:
    """SHA-256 of `settings_text`: two attempts on equal labels with equal digests are the same."""
    return hashlib.sha256(settings_text(settings).encode()).hexdigest()
