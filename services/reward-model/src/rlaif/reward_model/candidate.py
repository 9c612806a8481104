"""One attempt: labels in; a fitted network, its measurements and the gate's verdict out.

labels ─ split by episode ─┬─ training pairs ── fit ── freeze shift and spread ──┐
                           └─ held-out pairs, seen only by the measurement ──────┴─ gate
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rlaif.contracts.reward_models import GateMetrics, RewardNetSpec
from rlaif.reward_model.bradley_terry import (
    FitSettings,
    fit,
    freeze_constants,
    row_weights,
    segment_rows,
)
from rlaif.reward_model.evaluation import Accuracy, Potential, measure, segment_statistics
from rlaif.reward_model.gate import (
    GateSettings,
    faults_of_potential,
    lacking_data,
    newest_quarter,
    shortcomings,
)
from rlaif.reward_model.labels import LabelledSegment, label_digest
from rlaif.reward_model.preferences import PairSettings, Preference, sample_preferences
from rlaif.reward_model.split import split_episodes
from rlaif.reward_net.network import RewardNet
from rlaif.reward_net.potential import PotentialFunction

_ROWS_FOR_CONSTANTS = 8
# Streams of random numbers, so that drawing more of one kind leaves the others as they were.
_TRAIN, _HELDOUT, _BOOTSTRAP = range(3)


@dataclass(frozen=True)
class CandidateSettings:
    """Everything that decides what an attempt gives, besides its labels."""

    seed: int = 0
    heldout_fraction: float = 0.25
    scale: float = 1.0
    pairs: PairSettings = field(default_factory=PairSettings)
    fit: FitSettings = field(default_factory=FitSettings)
    gate: GateSettings = field(default_factory=GateSettings)


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


@dataclass(frozen=True)
class _Side:
    """Segments of one side of the split with their pairs."""

    name: str
    segments: list[LabelledSegment]
    preferences: list[Preference]

    def rows(self, settings: FitSettings) -> NDArray[np.float32]:
        """`[N, R, inputs]` float32."""
        chosen = [segment_rows(item.observations, settings.statistic) for item in self.segments]
        return np.stack(chosen)

    def decided(self) -> int:
        return sum(item.decided for item in self.preferences)


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
        heldout_pairs=heldout.decided(),
        heldout_episodes=len({item.episode_id for item in heldout.segments}),
    )
    reasons = lacking_data(metrics, labels=len(labels), episodes=episodes, settings=settings.gate)
    if not train.decided():
        reasons.append("no decided pair to learn from: the judges put every segment alike")
    net = None
    if not reasons:
        net = _fit(train, settings)
        potential = PotentialFunction(net)
        metrics = _measure(potential, champion, train, heldout, settings, metrics)
        reasons = faults_of_potential(
            potential(_spaced_rows(train.segments)) / settings.scale, settings.gate
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


def _sides(labels: Sequence[LabelledSegment], settings: CandidateSettings) -> tuple[_Side, _Side]:
    """(training, held out); the order of `labels` has no influence."""
    ordered = sorted(labels, key=lambda item: item.segment_id)
    split = split_episodes(
        (item.episode_id for item in ordered), heldout_fraction=settings.heldout_fraction
    )

    def side(name: str, episodes: frozenset[str], stream: int) -> _Side:
        segments = [item for item in ordered if item.episode_id in episodes]
        rng = np.random.default_rng([settings.seed, stream])
        return _Side(name, segments, sample_preferences(segments, settings=settings.pairs, rng=rng))

    return side("train", split.train, _TRAIN), side("heldout", split.heldout, _HELDOUT)


def _fit(train: _Side, settings: CandidateSettings) -> RewardNet:
    first = train.segments[0]
    spec = RewardNetSpec(
        layout_version=first.layout_version,
        inputs=first.observations.shape[1],
        activation=settings.fit.activation,
        scale=settings.scale,
    )
    net = fit(
        train.rows(settings.fit),
        train.preferences,
        spec=spec,
        settings=settings.fit,
        seed=settings.seed,
    )
    starts = [item.observations[:1] for item in train.segments if item.start_step == 0]
    initial = np.concatenate(starts) if starts else np.empty((0, spec.inputs), np.float32)
    return freeze_constants(net, _spaced_rows(train.segments), initial)


def _measure(
    potential: Potential,
    champion: Potential | None,
    train: _Side,
    heldout: _Side,
    settings: CandidateSettings,
    metrics: GateMetrics,
) -> GateMetrics:
    own = _accuracy(potential, heldout, settings)
    from_step = newest_quarter([item.env_step for item in heldout.segments])
    new = [item.env_step >= from_step for item in heldout.segments]
    newest = _Side(
        "newest",
        heldout.segments,
        [item for item in heldout.preferences if new[item.a] or new[item.b]],
    )
    forward = _accuracy(potential, newest, settings)
    return metrics.model_copy(
        update={
            "train_accuracy": _accuracy(potential, train, settings).value,
            "heldout_accuracy": own.value,
            "heldout_accuracy_low": own.low,
            "heldout_accuracy_high": own.high,
            "newest_heldout_accuracy": forward.value,
            "newest_heldout_pairs": forward.pairs,
            "champion_heldout_accuracy": (
                _accuracy(champion, heldout, settings).value if champion else None
            ),
        }
    )


def _accuracy(potential: Potential, side: _Side, settings: CandidateSettings) -> Accuracy:
    statistics = segment_statistics(
        potential, side.rows(settings.fit), row_weights(settings.fit.statistic)
    )
    return measure(
        statistics,
        side.preferences,
        [item.episode_id for item in side.segments],
        confidence=settings.gate.confidence,
        rng=np.random.default_rng([settings.seed, _BOOTSTRAP]),
    )


def _compared(
    net: RewardNet | None, sides: Sequence[_Side], settings: CandidateSettings
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


def _predictions(
    net: RewardNet, side: _Side, settings: CandidateSettings
) -> Sequence[float | None]:
    """P(A better) of each pair: sigmoid(b (ΔΦ(A) - ΔΦ(B))), b undoing the potential's scaling."""
    statistics = segment_statistics(
        PotentialFunction(net), side.rows(settings.fit), row_weights(settings.fit.statistic)
    )
    sharpness = net.spec.spread / net.spec.scale
    noise = settings.fit.noise
    difference = np.array([statistics[item.a] - statistics[item.b] for item in side.preferences])
    probability = 1.0 / (1.0 + np.exp(-sharpness * difference))
    mixed: list[float] = ((1.0 - noise) * probability + 0.5 * noise).tolist()
    return mixed


def _spaced_rows(segments: Sequence[LabelledSegment]) -> NDArray[np.float32]:
    """`[M, inputs]` float32: some observations of every segment, evenly spaced in time."""
    chosen = []
    for item in segments:
        places = np.linspace(0, len(item.observations) - 1, _ROWS_FOR_CONSTANTS)
        chosen.append(item.observations[places.round().astype(np.int64)])
    return np.concatenate(chosen)


def _candidate_id(digest: str, settings: CandidateSettings) -> str:
    whole = hashlib.sha256(f"{digest} {settings!r}".encode()).hexdigest()
    return f"candidate-{whole[:24]}"
