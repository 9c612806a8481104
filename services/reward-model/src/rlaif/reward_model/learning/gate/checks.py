"""The gate: the checks that a candidate must pass, and how they are reported.

Everything else is rendered from a `Check`: the sentence in a rejection (`sentence`), the row of the
REST API and the page (`row`), and the unmet requirements of a training.
`gate_checks` builds the checks from the measurements that a manifest keeps, so the rows of an
old version are built from its manifest. A candidate is rejected if a check does not hold, or if a
required one could not be measured.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from rlaif.contracts.reward_model_rest import GateCheck
from rlaif.contracts.reward_models import GateMetrics
from rlaif.reward_model.learning.settings import (
    CONFIDENCE,
    MIN_EPISODES,
    MIN_HELDOUT_EPISODES,
    MIN_HELDOUT_PAIRS,
    GateSettings,
)

MIN_ACCURACY = 0.55
"""Held-out accuracy below which a candidate is useless, whatever its interval."""

MAX_PERMUTATION_P = 0.001

SIMPLE_CONFIDENCE = 0.95
"""One-sided confidence that the networks outrank simple baselines, which may use
features that shaping cannot reward."""

_MIN_OVER_TIME = 0.3
"""Share of the cross-fitted accuracy above chance that must hold for the newest episodes."""

_CHAMPION_MARGIN = 0.05
"""Held-out accuracy by which a candidate may fall short of the champion."""

_MAX_ECE = 0.25
"""Few held-out pairs overestimate the error: 0.1 on 20 pairs that are all right."""

_MIN_SLOPE = 0.25
"""Minimum reward of progress at every stage, as a share of its documented worth."""

_MIN_RISES = 6
"""Segments below which a slope is undecided."""

_CHANCE = 0.5

Relation = Literal["value >=", "value <=", "low >", "high >="]


@dataclass(frozen=True)
class Check:
    """One requirement and its measurement.

    Attributes:
        name: Stable reason code.
        question: Description of the measurement.
        value, low, high: The measurement and the ends of its one-sided intervals.
        n: Number of cases measured.
        relation: Which of the three is compared with `bound`, and how.
        bound: None if nothing is required.
        needs_n: With fewer cases the check is undecided, which does not reject; a check without
            this number is required.
        unit: What `n` counts.
    """

    name: str
    question: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    relation: Relation = "value >="
    bound: float | None = None
    needs_n: int = 0
    unit: str = "pairs"

    @property
    def measured(self) -> float | None:
        return {"value": self.value, "low": self.low, "high": self.high}[self._compared]

    @property
    def holds(self) -> bool | None:
        """Whether the check passes; None if it was not measured, or on too few cases."""
        measured, bound = self.measured, self.bound
        if measured is None or bound is None or (self.n or 0) < self.needs_n:
            return None
        operator = self.relation.split()[1]
        # NaN never holds.
        return {">=": measured >= bound, "<=": measured <= bound, ">": measured > bound}[operator]

    @property
    def lacking(self) -> bool:
        """Whether it is required and was not measured."""
        return self.measured is None and self.bound is not None and not self.needs_n

    @property
    def sentence(self) -> str:
        """The result as text: `Held-out accuracy: 0.512, must be >= 0.55 (60 pairs)`."""
        name, operator = self.relation.split()
        end = {"value": "", "low": "lower bound ", "high": "upper bound "}[name]
        count = f" ({self.n} {self.unit})" if self.n is not None else ""
        measured = "unknown" if self.measured is None else f"{self.measured:.4g}"
        return f"{self.question}: {end}{measured}, must be {operator} {self.bound:.4g}{count}"

    def row(self) -> GateCheck:
        return GateCheck(
            name=self.name,
            what=self.question,
            value=self.value,
            low=self.low,
            high=self.high,
            count=self.n,
            of=None if self.n is None else self.unit,
            compared=self._compared,
            relation=self.relation.split()[1],
            bound=self.bound,
            holds=self.holds,
        )

    @property
    def _compared(self) -> Literal["value", "low", "high"]:
        return self.relation.split()[0]  # type: ignore[return-value]  # one of the literals


def failed(checks: Iterable[Check]) -> tuple[Check, ...]:
    """The checks that do not hold, and the required ones that were not measured."""
    return tuple(check for check in checks if check.holds is False or check.lacking)


def label_checks(
    labels: int, episodes: int, settings: GateSettings, what: str = "labels"
) -> tuple[Check, ...]:
    """The checks of the labels before they are split; `what` is counted."""
    return (
        Check("labels", what, labels, bound=settings.min_labels),
        Check("episodes", "episodes", episodes, bound=MIN_EPISODES),
    )


def heldout_checks(metrics: GateMetrics) -> tuple[Check, ...]:
    """The checks of the held-out side before a network is fitted."""
    return (
        Check("heldout_episodes", "held-out episodes", metrics.heldout_episodes,
              bound=MIN_HELDOUT_EPISODES),
        Check("heldout_pairs", "decided held-out pairs", metrics.heldout_pairs,
              bound=MIN_HELDOUT_PAIRS),
    )  # fmt: skip


def gate_checks(m: GateMetrics, settings: GateSettings) -> tuple[Check, ...]:
    """The checks of a fitted candidate, or of a published version by its manifest."""
    return (
        Check(
            "heldout_accuracy",
            "Accuracy on held-out pairs",
            value=m.heldout_accuracy,
            low=m.heldout_accuracy_low,
            high=m.heldout_accuracy_high,
            n=m.heldout_pairs,
            bound=MIN_ACCURACY,
        ),
        Check(
            "crossfit_accuracy",
            "Cross-fitted accuracy (each episode ranked by networks of other episodes)",
            value=m.crossfit_accuracy,
            low=m.crossfit_accuracy_low,
            n=m.crossfit_pairs,
            relation="low >",
            bound=_CHANCE,
        ),
        Check(
            "permutation_p",
            "Probability of labels this predictable by chance (episode permutation test)",
            value=m.permutation_p,
            relation="value <=",
            bound=MAX_PERMUTATION_P,
        ),
        *_baseline_checks(m, settings),
        Check(
            "forward_accuracy",
            "Accuracy on the newest episodes, by a network of older ones",
            value=m.forward_accuracy,
            low=m.forward_accuracy_low,
            high=m.forward_accuracy_high,
            n=m.forward_pairs,
            bound=_CHANCE + _MIN_OVER_TIME * max(0.0, (m.crossfit_accuracy or _CHANCE) - _CHANCE),
            needs_n=MIN_HELDOUT_PAIRS,
        ),
        Check(
            "heldout_ece",
            "Calibration error on held-out pairs",
            value=m.heldout_ece,
            n=m.heldout_pairs,
            relation="value <=",
            bound=_MAX_ECE,
        ),
        Check(
            "ram_accuracy",
            "Accuracy on held-out pairs whose progress by the game's RAM clearly differs",
            value=m.ram_accuracy,
            high=m.ram_accuracy_high,
            n=m.ram_pairs,
            relation="high >=",
            bound=_CHANCE,
            needs_n=MIN_HELDOUT_PAIRS,
        ),
        *_slope_checks(m),
        _champion_check(m, settings),
    )


def _baseline_checks(m: GateMetrics, settings: GateSettings) -> tuple[Check, ...]:
    slot = f" ({m.best_slot})" if m.best_slot else ""
    at = f"at {SIMPLE_CONFIDENCE:.0%} confidence"
    return (
        Check(
            "gain_over_slot",
            f"Accuracy gained over the best single slot{slot}, {at}",
            low=m.gain_over_slot_low,
            relation="low >",
            bound=settings.simple_margin,
        ),
        Check(
            "gain_over_ridge",
            f"Accuracy gained over a linear fit of all slots, {at}",
            low=m.gain_over_ridge_low,
            relation="low >",
            bound=settings.simple_margin,
        ),
    )


def _slope_checks(m: GateMetrics) -> tuple[Check, ...]:
    by = {"reached": "an objective reached", "walked": "the path to the next objective"}
    return tuple(
        Check(
            f"slope_{each.stage}_{each.kind}",
            f"Reward of {by[each.kind]}, in the {each.stage} third, as a share of its worth",
            value=each.value,
            high=each.high,
            n=each.segments,
            relation="high >=",
            bound=_MIN_SLOPE,
            needs_n=_MIN_RISES,
            unit="segments",
        )
        for each in m.slopes
    )


def _champion_check(m: GateMetrics, settings: GateSettings) -> Check:
    """Compare with the champion; only a significant shortfall fails, as both accuracies are noisy.

    With `must_improve` a significant gain is required: a change to a model that is merely as good
    is a cost to the critic without a benefit.
    """
    champion, accuracy = m.champion_heldout_accuracy, m.heldout_accuracy
    gain = None if champion is None or accuracy is None else accuracy - champion
    if settings.must_improve and gain is not None:
        return Check(
            "champion_improved",
            f"Held-out accuracy minus the champion's, pair by pair, at {CONFIDENCE:.0%} confidence",
            value=gain,
            low=m.champion_gain_low,
            high=m.champion_gain_high,
            n=m.heldout_pairs,
            relation="low >",
            bound=0.0,
        )
    by_chance = m.champion_gain_high is not None and m.champion_gain_high >= 0
    return Check(
        "champion_gain",
        f"Held-out accuracy minus the champion's, if below it at {CONFIDENCE:.0%} confidence",
        value=gain,
        high=m.champion_gain_high,
        bound=None if gain is None or by_chance else -_CHAMPION_MARGIN,
    )
