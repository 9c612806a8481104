"""The gate: nothing unproved goes live."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from rlaif.contracts.reward_models import GateMetrics
from rlaif.reward_net.network import RewardNet


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


def lacking_data(
    metrics: GateMetrics, *, labels: int, episodes: int, settings: GateSettings
) -> list[str]:
    """Why there is too little data to judge a candidate; empty when there is enough."""
    wanted = (
        (labels, settings.min_labels, "labels"),
        (episodes, settings.min_episodes, "episodes"),
        (metrics.heldout_episodes, settings.min_heldout_episodes, "held-out episodes"),
        (metrics.heldout_pairs, settings.min_heldout_pairs, "decided held-out pairs"),
    )
    return [f"{found} {what}, needs {least}" for found, least, what in wanted if found < least]


def shortcomings(metrics: GateMetrics, settings: GateSettings) -> list[str]:
    """Why a candidate is not good enough; empty when it is."""
    if metrics.heldout_accuracy is None or metrics.crossfit_accuracy_low is None:
        return ["no held-out accuracy could be measured"]
    return [
        *_against_chance(metrics, settings),
        *_over_time(metrics, settings),
        *_leaks(metrics, settings),
        *_against_the_champion(metrics, settings),
        *_calibration(metrics, settings),
    ]


def _against_chance(metrics: GateMetrics, settings: GateSettings) -> list[str]:
    accuracy, low = metrics.heldout_accuracy, metrics.crossfit_accuracy_low
    high, recipe = metrics.heldout_accuracy_high, metrics.folds_accuracy_low
    reasons = []
    if low is not None and low <= 0.5:
        reasons.append(
            f"nothing proves a signal in the labels: predicting each episode from the others is "
            f"right in {metrics.crossfit_accuracy:.3f} of the pairs, at {settings.confidence:.0%} "
            f"confidence perhaps in {low:.3f}, not above chance"
        )
    if accuracy is not None and accuracy < settings.min_accuracy:
        reasons.append(
            f"held-out accuracy {accuracy:.3f} is below the {settings.min_accuracy} that is asked"
        )
    if high is not None and recipe is not None and high < recipe:
        reasons.append(
            f"held-out accuracy is at most {high:.3f}, although these labels can be predicted "
            f"right in at least {recipe:.3f}: this network did not learn them"
        )
    return reasons


def _over_time(metrics: GateMetrics, settings: GateSettings) -> list[str]:
    reasons = []
    newest = metrics.newest_heldout_accuracy
    if newest is not None and newest < 0.5 and _enough(metrics.newest_heldout_pairs, settings):
        reasons.append(f"accuracy on the newest held-out segments is {newest:.3f}, below chance")
    forward = metrics.forward_accuracy
    if forward is not None and forward < 0.5 and _enough(metrics.forward_pairs, settings):
        reasons.append(
            f"the newest episodes, predicted from older ones, are right in {forward:.3f} of the "
            "pairs, below chance: what was learned does not hold for what comes next"
        )
    return reasons


def _leaks(metrics: GateMetrics, settings: GateSettings) -> list[str]:
    low = metrics.control_accuracy_low
    if low is None or low <= 0.5:
        return []
    return [
        f"the control fails: on shuffled labels the same recipe is right in "
        f"{metrics.control_accuracy:.3f} of the held-out pairs, at {settings.confidence:.0%} "
        f"confidence at least in {low:.3f}, where nothing above 0.5 is possible; labels leak into "
        "the inputs, or the held-out side is not held out"
    ]


def _against_the_champion(metrics: GateMetrics, settings: GateSettings) -> list[str]:
    accuracy, champion = metrics.heldout_accuracy, metrics.champion_heldout_accuracy
    if accuracy is None or champion is None:
        return []
    reasons = []
    gain = metrics.champion_gain_high
    if accuracy < champion - settings.champion_margin and (gain is None or gain < 0):
        reasons.append(
            f"held-out accuracy {accuracy:.3f} is more than {settings.champion_margin} below the "
            f"champion's {champion:.3f} on the same pairs, and not by chance"
        )
    correlation = metrics.probe_correlation
    if (
        correlation is not None
        and correlation < settings.min_probe_correlation
        and accuracy <= champion
    ):
        reasons.append(
            f"it ranks the probes otherwise than the champion (correlation {correlation:.2f}) "
            f"without being better: {accuracy:.3f} against {champion:.3f}"
        )
    return reasons


def _calibration(metrics: GateMetrics, settings: GateSettings) -> list[str]:
    ece = metrics.heldout_ece
    if ece is None or ece <= settings.max_ece:
        return []
    return [
        f"its probabilities are wrong by {ece:.3f} on the held-out pairs, more than "
        f"{settings.max_ece}"
    ]


def _enough(pairs: int, settings: GateSettings) -> bool:
    return pairs >= settings.min_heldout_pairs


def faults_of_network(net: RewardNet, *, layout_version: str) -> list[str]:
    """What is wrong with a network before it is asked anything."""
    if net.spec.layout_version != layout_version:
        return [
            f"it reads observation layout {net.spec.layout_version!r}, the labels are of "
            f"{layout_version!r}"
        ]
    broken = [name for name, value in net.state_dict().items() if not torch.isfinite(value).all()]
    return [f"{broken[0]} holds NaN or infinity"] if broken else []


def faults_of_potential(potentials: NDArray[np.float32], settings: GateSettings) -> list[str]:
    """What is wrong with a potential's values over the labelled observations.

    Args:
        potentials: `[N]` float32, in units of the potential's scale: in [-1, 1].
        settings: What a candidate must show.
    """
    if not np.isfinite(potentials).all():
        return ["the potential is NaN or infinite on training observations"]
    if np.abs(potentials).max() > 1.0 + 1e-6:
        return [f"the potential leaves its bound: {np.abs(potentials).max():.3g} times it"]
    if potentials.std() < settings.least_deviation:
        return [f"the potential is constant: its deviation is {potentials.std():.2g}"]
    return []


def newest_quarter(order: Sequence[int]) -> int:
    """The place in time from which a label belongs to the newest quarter."""
    return sorted(order)[-max(1, len(order) // 4)]
