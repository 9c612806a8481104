"""One attempt: labels in; a fitted network, its measurements and the gate's verdict out.

labels ─ split by episode ─┬─ training pairs ── fit ── freeze shift and spread ──┐
                           └─ held-out pairs, seen only by the measurement ──────┴─ gate
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rlaif.contracts.reward_models import GateMetrics
from rlaif.reward_model.crossfit import cross_fit
from rlaif.reward_model.evaluation import Accuracy, Potential, measure
from rlaif.reward_model.gate import (
    faults_of_potential,
    lacking_data,
    newest_quarter,
    shortcomings,
)
from rlaif.reward_model.labels import LabelledSegment, label_digest
from rlaif.reward_model.sides import (
    BOOTSTRAP_STREAM,
    HELDOUT_STREAM,
    TRAIN_STREAM,
    CandidateSettings,
    Side,
    fit_side,
    make_side,
    side_statistics,
    spaced_observations,
)
from rlaif.reward_model.split import split_episodes
from rlaif.reward_net.network import RewardNet
from rlaif.reward_net.potential import PotentialFunction


@dataclass(frozen=True)
class ComparedPair:
    """One preference with what the candidate says of it.

    Attributes:
        a: Segment id.
        b: Segment id.
        side: Where it was used.
        margin: Rubric difference A minus B, in [-1, 1].
        decided: Whether the margin reaches the tie band.
        target: P(A better) by the judges.
        predicted: P(A better) by the candidate; None when none was fitted.
    """

    a: str
    b: str
    side: str
    margin: float
    decided: bool
    target: float
    predicted: float | None


@dataclass(frozen=True)
class Candidate:
    """What one attempt gave.

    Attributes:
        candidate_id: Equal labels and settings give equal ids.
        net: The network; None when there was too little data to fit one.
        reasons: Why the gate refused it; empty when it passed.
        metrics: What the gate measured.
        labels: Scored segments.
        episodes: Their episodes.
        preferences: Pairs that the fit used.
        label_digest: Digest of the labels.
        pairs: Every pair, with the prediction.
    """

    candidate_id: str
    net: RewardNet | None
    reasons: tuple[str, ...]
    metrics: GateMetrics
    labels: int
    episodes: int
    preferences: int
    label_digest: str
    pairs: tuple[ComparedPair, ...]

    @property
    def passed(self) -> bool:
        """Whether it may go live."""
        return self.net is not None and not self.reasons


def train_candidate(
    labels: Sequence[LabelledSegment],
    *,
    settings: CandidateSettings,
    champion: Potential | None = None,
) -> Candidate:
    """Fit a network to the labels and put it before the gate.

    Args:
        labels: At least one, all of one observation layout.
        settings: What decides the outcome.
        champion: The potential that is live; None when there is none that reads this layout.

    Returns:
        The candidate; equal arguments give an equal one on one machine.
    """
    train, heldout = _sides(labels, settings)
    episodes = len({item.episode_id for item in labels})
    metrics = GateMetrics(
        heldout_pairs=heldout.decided,
        heldout_episodes=len({item.episode_id for item in heldout.segments}),
    )
    reasons = lacking_data(metrics, labels=len(labels), episodes=episodes, settings=settings.gate)
    if not train.decided:
        reasons.append("no decided pair to learn from: the judges put every segment alike")
    net = None
    if not reasons:
        net = fit_side(train, settings)
        potential = PotentialFunction(net)
        metrics = _measure(potential, champion, train, heldout, settings, metrics)
        reasons = faults_of_potential(
            potential(spaced_observations(train.segments)) / settings.scale, settings.gate
        ) or shortcomings(metrics, settings.gate)
    digest = label_digest(labels)
    return Candidate(
        candidate_id=_candidate_id(digest, settings),
        net=net,
        reasons=tuple(reasons),
        metrics=metrics,
        labels=len(labels),
        episodes=episodes,
        preferences=len(train.preferences),
        label_digest=digest,
        pairs=tuple(_compared(net, (train, heldout), settings)),
    )


def _sides(labels: Sequence[LabelledSegment], settings: CandidateSettings) -> tuple[Side, Side]:
    """(training, held out); the order of `labels` has no influence."""
    ordered = sorted(labels, key=lambda item: item.segment_id)
    split = split_episodes(
        (item.episode_id for item in ordered), heldout_fraction=settings.heldout_fraction
    )
    train = [item for item in ordered if item.episode_id in split.train]
    heldout = [item for item in ordered if item.episode_id in split.heldout]
    return (
        make_side("train", train, settings, stream=TRAIN_STREAM),
        make_side("heldout", heldout, settings, stream=HELDOUT_STREAM),
    )


def _measure(
    potential: Potential,
    champion: Potential | None,
    train: Side,
    heldout: Side,
    settings: CandidateSettings,
    metrics: GateMetrics,
) -> GateMetrics:
    own = _accuracy(potential, heldout, settings)
    forward = _accuracy(potential, _newest_pairs(heldout), settings)
    crossed = cross_fit(train, heldout, side_statistics(potential, heldout, settings), settings)
    return metrics.model_copy(
        update={
            "train_accuracy": _accuracy(potential, train, settings).value,
            "heldout_accuracy": own.value,
            "heldout_accuracy_low": own.low,
            "heldout_accuracy_high": own.high,
            "crossfit_accuracy": crossed.value,
            "crossfit_accuracy_low": crossed.low,
            "crossfit_pairs": crossed.pairs,
            "newest_heldout_accuracy": forward.value,
            "newest_heldout_pairs": forward.pairs,
            "champion_heldout_accuracy": (
                _accuracy(champion, heldout, settings).value if champion else None
            ),
        }
    )


def _newest_pairs(side: Side) -> Side:
    """The side with only those pairs that have a segment of the newest quarter."""
    from_step = newest_quarter([item.env_step for item in side.segments])
    new = [item.env_step >= from_step for item in side.segments]
    pairs = [item for item in side.preferences if new[item.a] or new[item.b]]
    return Side("newest", side.segments, pairs)


def _accuracy(potential: Potential, side: Side, settings: CandidateSettings) -> Accuracy:
    return measure(
        side_statistics(potential, side, settings),
        side.preferences,
        confidence=settings.gate.confidence,
        rng=np.random.default_rng([settings.seed, BOOTSTRAP_STREAM]),
    )


def _compared(
    net: RewardNet | None, sides: Sequence[Side], settings: CandidateSettings
) -> list[ComparedPair]:
    found: list[ComparedPair] = []
    for side in sides:
        if not side.preferences:
            continue
        predicted = _predictions(net, side, settings) if net else [None] * len(side.preferences)
        found.extend(
            ComparedPair(
                a=side.segments[item.a].segment_id,
                b=side.segments[item.b].segment_id,
                side=side.name,
                margin=item.margin,
                decided=item.decided,
                target=item.target,
                predicted=guess,
            )
            for item, guess in zip(side.preferences, predicted, strict=True)
        )
    return found


def _predictions(net: RewardNet, side: Side, settings: CandidateSettings) -> Sequence[float | None]:
    """P(A better) of each pair: sigmoid(b (ΔΦ(A) - ΔΦ(B))), b undoing the potential's scaling."""
    statistics = side_statistics(PotentialFunction(net), side, settings)
    sharpness = net.spec.spread / net.spec.scale
    noise = settings.fit.noise
    difference = np.array([statistics[item.a] - statistics[item.b] for item in side.preferences])
    probability = 1.0 / (1.0 + np.exp(-sharpness * difference))
    mixed: list[float] = ((1.0 - noise) * probability + 0.5 * noise).tolist()
    return mixed


def _candidate_id(digest: str, settings: CandidateSettings) -> str:
    whole = hashlib.sha256(f"{digest} {settings!r}".encode()).hexdigest()
    return f"candidate-{whole[:24]}"
