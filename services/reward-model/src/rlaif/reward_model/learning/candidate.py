"""One attempt: labels in; a fitted network, its measurements and the gate's verdict out.

labels ─ merge duplicates ─ split by episode ─┬─ training pairs ── fit ── freeze ──┬─ examine
                                              ├─ folds, forward, control ──────────┤
                                              └─ held-out pairs ───────────────────┘

`examine` takes any network, so that a planted bad one meets the same gate.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from numpy.typing import NDArray

from rlaif.contracts.reward_models import GateMetrics, Lineage
from rlaif.reward_model.labels.duplicates import merge_duplicates
from rlaif.reward_model.labels.labels import LabelledSegment, in_order, label_digest
from rlaif.reward_model.labels.split import split_episodes
from rlaif.reward_model.learning.calibration import Calibration
from rlaif.reward_model.learning.crossfit import Evidence, cross_accuracy, gather_evidence
from rlaif.reward_model.learning.evaluation import (
    Accuracy,
    Potential,
    differences,
    expected_calibration_error,
    highest_gain,
    measure,
    negative_log_likelihood,
    rank_correlation,
)
from rlaif.reward_model.learning.gate import (
    faults_of_network,
    faults_of_potential,
    lacking_data,
    newest_quarter,
    shortcomings,
)
from rlaif.reward_model.learning.split_halves import (
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
from rlaif.reward_net.network import RewardNet
from rlaif.reward_net.potential import PotentialFunction

_PROBES = 16


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
        probes: `[P, inputs]` float32, a few training observations; their potentials go into the
            published file for readers to check. None when no network was fitted.
        lineage: What it was made of; None when no network was fitted.
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
    probes: NDArray[np.float32] | None = field(default=None, compare=False, repr=False)
    lineage: Lineage | None = None

    @property
    def passed(self) -> bool:
        """Whether it may go live."""
        return self.net is not None and not self.reasons


@dataclass(frozen=True)
class Incumbent:
    """The model that is live, as far as a candidate meets it.

    Attributes:
        potential: What the candidate is compared with.
        start: Network that the fit may begin with; None fits from fresh weights. It must have been
            fitted with the same split, or it has seen what is held out.
        name: Candidate whose network `start` is.
    """

    potential: Potential
    start: RewardNet | None = None
    name: str | None = None


def train_candidate(
    labels: Sequence[LabelledSegment],
    *,
    settings: CandidateSettings,
    champion: Potential | None = None,
    incumbent: Incumbent | None = None,
) -> Candidate:
    """Fit a network to the labels and put it before the gate.

    A fit that began with the champion's weights and is refused is done again from fresh ones: the
    champion may stand where new labels cannot move it from.

    Args:
        labels: At least one, all of one observation layout.
        settings: What decides the outcome.
        champion: The potential that is live; None when there is none that reads this layout.
        incumbent: The same with weights to begin with; takes the place of `champion`.

    Returns:
        The candidate; equal arguments give an equal one on one machine.
    """
    if incumbent is None and champion is not None:
        incumbent = Incumbent(champion)
    ordered = sorted(labels, key=lambda item: item.segment_id)
    unique = merge_duplicates(ordered)
    train, heldout = _sides(unique, settings)
    episodes = len({item.episode_id for item in unique})
    metrics = GateMetrics(
        heldout_pairs=heldout.decided,
        heldout_episodes=len({item.episode_id for item in heldout.segments}),
    )
    reasons = lacking_data(metrics, labels=len(unique), episodes=episodes, settings=settings.gate)
    if not train.decided:
        reasons.append("no decided pair to learn from: the judges put every segment alike")
    digest = label_digest(labels)
    made = Candidate(
        candidate_id=_candidate_id(digest, unique, settings, incumbent),
        net=None,
        reasons=tuple(reasons),
        metrics=metrics,
        labels=len(labels),
        episodes=episodes,
        preferences=len(train.preferences),
        label_digest=digest,
        pairs=tuple(_compared(None, (train, heldout), settings)) if reasons else (),
    )
    if reasons:
        return made
    evidence = gather_evidence(train, heldout, settings)
    starts = [incumbent.start] if incumbent and incumbent.start is not None else []
    potential = incumbent.potential if incumbent else None
    for start in [*starts, None]:
        net = calibrated(fit_side(train, settings, start=start), evidence.calibration)
        measured, reasons = examine(
            net,
            train,
            heldout,
            evidence,
            settings,
            champion=potential,
        )
        if not reasons:
            break
    return replace(
        made,
        net=net,
        reasons=tuple(reasons),
        metrics=measured,
        pairs=tuple(_compared(net, (train, heldout), settings)),
        probes=_probes(train),
        lineage=_lineage(
            labels, len(labels) - len(unique), settings,
            warm_from=incumbent.name if incumbent and start is not None else None,
        ),
    )  # fmt: skip


def examine(
    net: RewardNet,
    train: Side,
    heldout: Side,
    evidence: Evidence,
    settings: CandidateSettings,
    *,
    champion: Potential | None = None,
) -> tuple[GateMetrics, list[str]]:
    """Measure a network and ask the gate.

    Args:
        net: The network.
        train: What it was taught.
        heldout: What it has not seen.
        evidence: What the recipe shows on these labels.
        settings: What is asked.
        champion: The potential that is live, None for none.

    Returns:
        (what was measured, why it is refused); no reasons when it passed.
    """
    metrics = GateMetrics(
        heldout_pairs=heldout.decided,
        heldout_episodes=len({item.episode_id for item in heldout.segments}),
    )
    faults = faults_of_network(net, layout_version=heldout.segments[0].layout_version)
    if faults:
        return metrics, faults
    potential = PotentialFunction(net)
    everywhere = potential(spaced_observations([*train.segments, *heldout.segments]))
    faults = faults_of_potential(everywhere / net.spec.scale, settings.gate)
    if faults:
        return metrics, faults
    metrics = _measure(net, potential, champion, train, heldout, evidence, settings, metrics)
    metrics = metrics.model_copy(update={"largest_potential": float(np.abs(everywhere).max())})
    return metrics, shortcomings(metrics, settings.gate)


def calibrated(net: RewardNet, calibration: Calibration) -> RewardNet:
    """The network with the calibration in its spec."""
    return net.with_spec(
        net.spec.model_copy(
            update={"temperature": calibration.temperature, "lapse": calibration.lapse}
        )
    )


def split_sides(
    labels: Sequence[LabelledSegment], settings: CandidateSettings
) -> tuple[Side, Side]:
    """(training, held out) without near-duplicates; the order of `labels` has no influence."""
    ordered = sorted(labels, key=lambda item: item.segment_id)
    return _sides(merge_duplicates(ordered), settings)


def predictions(net: RewardNet, side: Side, settings: CandidateSettings) -> NDArray[np.float64]:
    """`[P]` P(A better) of every pair of a side, as the network's calibration has it."""
    statistics = side_statistics(PotentialFunction(net), side, settings)
    in_logits = net.spec.spread / net.spec.scale
    difference = np.array([statistics[item.a] - statistics[item.b] for item in side.preferences])
    return Calibration(net.spec.temperature, net.spec.lapse).probability(in_logits * difference)


def _probes(train: Side) -> NDArray[np.float32]:
    """`[P, inputs]`: the middle observation of segments that are evenly spaced over the side."""
    count = min(_PROBES, len(train.segments))
    places = np.linspace(0, len(train.segments) - 1, count).round().astype(np.int64)
    chosen = [train.segments[place].observations for place in places]
    return np.stack([rows[len(rows) // 2] for rows in chosen]).astype(np.float32)


def _sides(ordered: Sequence[LabelledSegment], settings: CandidateSettings) -> tuple[Side, Side]:
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
    net: RewardNet,
    potential: Potential,
    champion: Potential | None,
    train: Side,
    heldout: Side,
    evidence: Evidence,
    settings: CandidateSettings,
    metrics: GateMetrics,
) -> GateMetrics:
    statistics = side_statistics(potential, heldout, settings)
    own = _accuracy(statistics, heldout, settings)
    newest = _accuracy(statistics, _newest_pairs(heldout), settings)
    crossed = cross_accuracy(evidence.folds, heldout, statistics, settings)
    folds = cross_accuracy(evidence.folds, Side("none", [], []), np.empty(0), settings)
    difference, wanted = differences(statistics, heldout.preferences)
    likely = Calibration(net.spec.temperature, net.spec.lapse).probability(
        difference * net.spec.spread / net.spec.scale
    )
    theirs = side_statistics(champion, heldout, settings) if champion else None
    return metrics.model_copy(
        update={
            "train_accuracy": _accuracy(
                side_statistics(potential, train, settings), train, settings
            ).value,
            "heldout_accuracy": own.value,
            "heldout_accuracy_low": own.low,
            "heldout_accuracy_high": own.high,
            "crossfit_accuracy": crossed.value,
            "crossfit_accuracy_low": crossed.low,
            "crossfit_pairs": crossed.pairs,
            "folds_accuracy_low": folds.low,
            "newest_heldout_accuracy": newest.value,
            "newest_heldout_pairs": newest.pairs,
            "forward_accuracy": evidence.forward.value,
            "forward_accuracy_low": evidence.forward.low,
            "forward_accuracy_high": evidence.forward.high,
            "forward_pairs": evidence.forward.pairs,
            "control_accuracy": evidence.control.value,
            "control_accuracy_low": evidence.control.low,
            "heldout_nll": negative_log_likelihood(likely, wanted),
            "heldout_ece": expected_calibration_error(likely, wanted),
            "champion_heldout_accuracy": (
                None if theirs is None else _accuracy(theirs, heldout, settings).value
            ),
            "champion_gain_high": (
                None
                if theirs is None
                else highest_gain(
                    statistics,
                    theirs,
                    heldout.preferences,
                    confidence=settings.gate.confidence,
                    rng=np.random.default_rng([settings.seed, BOOTSTRAP_STREAM]),
                )
            ),
            "probe_correlation": _probe_correlation(potential, champion, heldout),
            "disagreement": _disagreement(net, heldout),
        }
    )


def _probe_correlation(
    potential: Potential, champion: Potential | None, heldout: Side
) -> float | None:
    """Spearman of both potentials over the held-out observations, which neither was taught."""
    if champion is None:
        return None
    probes = spaced_observations(heldout.segments)
    return rank_correlation(potential(probes), champion(probes))


def _disagreement(net: RewardNet, heldout: Side) -> float | None:
    """How far the members are apart on what they never saw, in units of the observations' spread.

    None for a single network.
    """
    if net.spec.members == 1:
        return None
    with torch.inference_mode():
        logits = net.member_logits(torch.from_numpy(spaced_observations(heldout.segments)))
    between = float(logits.mean(dim=0).std())
    return float(logits.std(dim=0).mean()) / between if between > 0 else None


def _newest_pairs(side: Side) -> Side:
    """The side with only those pairs that have a segment of the newest quarter."""
    place = {item.segment_id: at for at, item in enumerate(in_order(side.segments))}
    order = [place[item.segment_id] for item in side.segments]
    from_place = newest_quarter(order)
    pairs = [i for i in side.preferences if max(order[i.a], order[i.b]) >= from_place]
    return Side("newest", side.segments, pairs)


def _accuracy(statistics: NDArray[np.float64], side: Side, settings: CandidateSettings) -> Accuracy:
    return measure(
        statistics,
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
        guesses: Sequence[float | None] = (
            predictions(net, side, settings).tolist() if net else [None] * len(side.preferences)
        )
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
            for item, guess in zip(side.preferences, guesses, strict=True)
        )
    return found


def _lineage(
    labels: Sequence[LabelledSegment],
    duplicates: int,
    settings: CandidateSettings,
    *,
    warm_from: str | None,
) -> Lineage:
    return Lineage(
        statistic=settings.fit.statistic,
        warm_from=warm_from,
        duplicates=duplicates,
        overrides=sum(item.revision > 0 for item in labels),
        comparisons=sum(len(item.preferred) for item in labels) // 2,
        rubrics=tuple(sorted({digest for item in labels for digest in item.rubrics})),
        models=tuple(sorted({model for item in labels for model in item.models})),
        newest_env_step=max(item.env_step for item in labels),
        settings=repr(settings),
    )


def _candidate_id(
    digest: str,
    ordered: Sequence[LabelledSegment],
    settings: CandidateSettings,
    incumbent: Incumbent | None,
) -> str:
    began = incumbent.name if incumbent and incumbent.start is not None else None
    compared = [(i.segment_id, sorted(i.preferred.items())) for i in ordered if i.preferred]
    whole = hashlib.sha256(f"{digest} {compared} {settings!r} {began}".encode()).hexdigest()
    return f"candidate-{whole[:24]}"
