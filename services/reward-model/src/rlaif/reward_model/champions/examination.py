"""Examines published versions on the current labels: accuracy, calibration, reward by slot."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rlaif.contracts.game.observation import LAYOUT, LAYOUT_VERSION
from rlaif.contracts.reward_model_rest import (
    ComparisonReport,
    ExaminationReport,
    PayBySlot,
    ReliabilityBin,
    SlotPay,
)
from rlaif.reward_model.champions.registry import ModelRegistry
from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.labels.preferences import PairTable
from rlaif.reward_model.learning.fit.sides import Side, spaced_observations, split_sides
from rlaif.reward_model.learning.gate.evaluation import (
    NOT_MEASURED,
    accuracy_on,
    calibration_bins,
    differences,
    expected_calibration_error,
    probability,
)
from rlaif.reward_model.learning.settings import CONFIDENCE, CandidateSettings
from rlaif.reward_net.pay import DISCOUNT
from rlaif.reward_net.potential import PotentialFunction
from rlaif.reward_net.weights import Weighted

_MAX_SEGMENTS = 512
"""Newest labels whose reward is attributed to slots; takes about a second."""

_MIN_REWARD = 1e-9
"""Smaller rewards of a slot are rounding errors of float32."""

_POINTS = 24
"""Points of the path integral; the error stays below a thousandth of the reward."""

_CHUNK = 64

_NO_PAY = PayBySlot(segments=0, mean_pay=None, mean_absolute_pay=None, largest_rest=None, slots=())


def examine_version(
    registry: ModelRegistry,
    version: int,
    labels: Sequence[LabelledSegment],
    settings: CandidateSettings,
) -> ExaminationReport:
    """Examine a published version on `labels`, oldest first. Blocks.

    Raises what `ModelRegistry.network` does if the version is missing or has another layout.
    """
    net = _network(registry, version, labels)
    _, heldout = split_sides(labels, settings)
    accuracy, error = NOT_MEASURED, None
    bins: list[ReliabilityBin] = []
    if heldout.decided:
        pay = heldout.pay(PotentialFunction(net))
        difference, outcomes = differences(pay, heldout.decided)
        likely = probability(net, difference)
        accuracy = accuracy_on(pay, heldout, seed=settings.seed)
        error = expected_calibration_error(likely, outcomes)
        confidence, place = calibration_bins(likely)
        for at in np.unique(place).tolist():
            inside = np.flatnonzero(place == at)
            own = heldout.with_pairs([heldout.decided[one] for one in inside.tolist()])
            right = accuracy_on(pay, own, seed=settings.seed)
            expected = float(confidence[inside].mean())
            bins.append(
                ReliabilityBin(
                    expected=expected, right=right.value, low=right.low, high=right.high,
                    pairs=right.pairs,
                )
            )  # fmt: skip
    newest = list(labels[-_MAX_SEGMENTS:])
    return ExaminationReport(
        version=version,
        labels=len(labels),
        confidence=CONFIDENCE,
        accuracy=accuracy,
        calibration_error=error,
        reliability=tuple(bins),
        pay=_pay_by_slot(net, newest) if newest else _NO_PAY,
    )


def compare_versions(
    registry: ModelRegistry,
    first: int,
    second: int,
    labels: Sequence[LabelledSegment],
    settings: CandidateSettings,
) -> ComparisonReport:
    """Compare two published versions on the held-out side of `labels`. Blocks.

    Raises what `ModelRegistry.network` does if a version is missing or has another layout.
    """
    one, other = (PotentialFunction(_network(registry, v, labels)) for v in (first, second))
    _, heldout = split_sides(labels, settings)
    accuracies = [NOT_MEASURED, NOT_MEASURED]
    correlation = disagree = None
    if heldout.segments:
        ones, others = heldout.pay(one), heldout.pay(other)
        accuracies = [accuracy_on(pay, heldout, seed=settings.seed) for pay in (ones, others)]
        apart = [(ones[i.a] - ones[i.b]) * (others[i.a] - others[i.b]) < 0 for i in heldout.decided]
        disagree = float(np.mean(apart)) if apart else None
        rows = spaced_observations(heldout.segments)
        correlation = rank_correlation(one(rows), other(rows))
    return ComparisonReport(
        first=first,
        second=second,
        first_accuracy=accuracies[0],
        second_accuracy=accuracies[1],
        first_metrics=registry.manifest(first).metrics,
        second_metrics=registry.manifest(second).metrics,
        correlation=correlation,
        disagree=disagree,
    )


def rank_correlation(first: NDArray[np.float32], second: NDArray[np.float32]) -> float | None:
    """Spearman's correlation of two `[N]` arrays; None if one of them is constant."""
    ranks = []
    for values in (first, second):
        _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
        # Equal values share their mean rank.
        ranks.append((np.cumsum(counts) - (counts - 1) / 2.0)[place])
    if any(len(each) < 2 or each.std() == 0 for each in ranks):
        return None
    return float(np.clip(np.corrcoef(ranks[0], ranks[1])[0, 1], -1.0, 1.0))


def attribute(net: Weighted, side: Side) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(`[N, D]` reward of each slot, `[N]` reward of each segment). Blocks.

    Integrated gradients (Sundararajan, Taly & Yan 2017) from a segment's first to its last
    observation: gamma^(T - 1) (last - first) times the mean gradient on the straight path. Slots
    that did not change get nothing; the slots sum to the reward but for the numerical error.
    """
    steps = np.array([item.decision_steps - 1 for item in side.segments], np.float64)
    potential, ends = PotentialFunction(net), side.ends
    parts = [_integrated(potential, ends[at : at + _CHUNK]) for at in range(0, len(ends), _CHUNK)]
    slots: NDArray[np.float64] = np.concatenate(parts) * (DISCOUNT**steps)[:, None]
    return slots, side.pay(potential)


def _network(registry: ModelRegistry, version: int, labels: Sequence[LabelledSegment]) -> Weighted:
    """The network of a version; it must read the layout of the labels, if there are any."""
    layout = labels[0].layout_version if labels else registry.manifest(version).spec.layout_version
    return registry.network(version, layout_version=layout)


def _integrated(potential: PotentialFunction, ends: NDArray[np.float32]) -> NDArray[np.float64]:
    """`[N, D]` of the ends `[N, 2, D]`."""
    first, last = ends[:, 0], ends[:, 1]
    change = last - first
    places = ((np.arange(_POINTS) + 0.5) / _POINTS).astype(np.float32)
    path = first[:, None] + places[:, None] * change[:, None]
    slopes = potential.slopes(path.reshape(-1, ends.shape[-1])).reshape(path.shape)
    found: NDArray[np.float64] = slopes.mean(axis=1, dtype=np.float64) * change
    return found


def _pay_by_slot(net: Weighted, segments: list[LabelledSegment]) -> PayBySlot:
    slots, pay = attribute(net, Side("newest", segments, PairTable(segments), []))
    sizes = np.abs(slots)
    used = np.flatnonzero(sizes.max(axis=0) > _MIN_REWARD)
    order = used[np.argsort(-sizes[:, used].mean(axis=0), kind="stable")]
    layout = segments[0].layout_version
    return PayBySlot(
        segments=len(pay),
        mean_pay=float(pay.mean()),
        mean_absolute_pay=float(np.abs(pay).mean()),
        largest_rest=float(np.abs(pay - slots.sum(axis=1)).max()),
        slots=tuple(_slot(slots[:, at], at, layout) for at in order.tolist()),
    )


def _slot(own: NDArray[np.float64], at: int, layout: str) -> SlotPay:
    known = LAYOUT[at] if layout == LAYOUT_VERSION and at < len(LAYOUT) else None
    return SlotPay(
        slot=at,
        name=known.name if known else f"slot {at}",
        group=known.group if known else "unknown",
        meaning=known.meaning if known else "",
        mean=float(own.mean()),
        mean_absolute=float(np.abs(own).mean()),
        segments=int((np.abs(own) > _MIN_REWARD).sum()),
    )
