"""One version on the labels of now: how often it is right, how sure it is, what it pays for."""

from collections.abc import Sequence

import numpy as np

from rlaif.contracts.observation import LAYOUT, LAYOUT_VERSION
from rlaif.contracts.reward_model_rest import (
    ExaminationReport,
    MeasuredAccuracy,
    PayBySlot,
    ReliabilityBin,
    SlotPay,
)
from rlaif.reward_model.champions.registry import ModelRegistry
from rlaif.reward_model.labels.labels import LabelledSegment, label_digest
from rlaif.reward_model.learning.attribution import Attribution, attribute
from rlaif.reward_model.learning.candidate import split_sides
from rlaif.reward_model.learning.evaluation import Accuracy
from rlaif.reward_model.learning.reliability import Reliability, reliability
from rlaif.reward_model.learning.settings import CandidateSettings

_MOST_SEGMENTS = 512
"""Newest labels whose pay is dealt among the slots; a second of one core."""

_LEAST_PAID = 1e-9
"""Below this a slot was not paid for: rounding of float32."""


def examine_version(
    registry: ModelRegistry,
    version: int,
    labels: Sequence[LabelledSegment],
    settings: CandidateSettings,
) -> ExaminationReport:
    """Examine a published version on `labels`, oldest first. Blocks.

    Raises what `ModelRegistry.network` does when the version is missing or has another layout.
    """
    layout = labels[0].layout_version if labels else None
    net = registry.network(
        version, layout_version=layout or registry.manifest(version).spec.layout_version
    )
    _, heldout = split_sides(labels, settings)
    sure = reliability(net, heldout, settings) if heldout.segments else Reliability()
    newest = list(labels[-_MOST_SEGMENTS:])
    return ExaminationReport(
        version=version,
        labels=len(labels),
        confidence=settings.gate.confidence,
        accuracy=measured(sure.accuracy),
        calibration_error=sure.error,
        reliability=tuple(
            ReliabilityBin(
                expected=each.expected,
                right=each.right.value,
                low=each.right.low,
                high=each.right.high,
                pairs=each.right.pairs,
            )
            for each in sure.bins
        ),
        pay=_pay(attribute(net, newest, settings.gamma), layout) if newest else _NO_PAY,
    )


_NO_PAY = PayBySlot(segments=0, mean_pay=None, mean_absolute_pay=None, largest_rest=None, slots=())


def measured(found: Accuracy) -> MeasuredAccuracy:
    """As REST has it."""
    return MeasuredAccuracy(value=found.value, low=found.low, high=found.high, pairs=found.pairs)


def _pay(found: Attribution, layout: str | None) -> PayBySlot:
    sizes = np.abs(found.slots)
    paid = np.flatnonzero(sizes.max(axis=0) > _LEAST_PAID)
    order = paid[np.argsort(-sizes[:, paid].mean(axis=0), kind="stable")]
    return PayBySlot(
        segments=len(found.pay),
        mean_pay=float(found.pay.mean()),
        mean_absolute_pay=float(np.abs(found.pay).mean()),
        largest_rest=float(np.abs(found.rest).max()),
        slots=tuple(_slot(found, at, layout) for at in order.tolist()),
    )


def _slot(found: Attribution, at: int, layout: str | None) -> SlotPay:
    known = LAYOUT[at] if layout == LAYOUT_VERSION and at < len(LAYOUT) else None
    own = found.slots[:, at]
    return SlotPay(
        slot=at,
        name=known.name if known else f"slot {at}",
        group=known.group if known else "unknown",
        meaning=known.meaning if known else "",
        mean=float(own.mean()),
        mean_absolute=float(np.abs(own).mean()),
        segments=int((np.abs(own) > _LEAST_PAID).sum()),
    )


class Examiner:
    """Remembers the newest answers: many pages ask the same."""

    def __init__(self, *, keep: int = 16) -> None:
        self._keep = keep
        self._known: dict[tuple[int, str], ExaminationReport] = {}

    def report(
        self,
        registry: ModelRegistry,
        version: int,
        labels: Sequence[LabelledSegment],
        settings: CandidateSettings,
    ) -> ExaminationReport:
        """As `examine_version`; blocks where the version was not asked of these labels before."""
        key = version, label_digest(labels)
        if key not in self._known:
            self._known[key] = examine_version(registry, version, labels, settings)
            while len(self._known) > self._keep:
                del self._known[next(iter(self._known))]
        return self._known[key]
