"""The gate: nothing unproved goes live."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlaif.contracts.reward_models import GateMetrics


@dataclass(frozen=True)
class GateSettings:
    """What a candidate must show.

    Attributes:
        min_labels: Scored segments in all.
        min_episodes: Episodes in all.
        min_heldout_episodes: Episodes that it never saw.
        min_heldout_pairs: Decided pairs among held-out segments.
        confidence: One-sided confidence with which cross-fitted accuracy must exceed 0.5.
        min_accuracy: Held-out accuracy below which it is of no use, whatever its interval.
        champion_margin: By how much it may fall short of the champion on the same pairs.
        least_deviation: Standard deviation of Φ over the training data, in units of its scale,
            below which it counts as constant.
    """

    min_labels: int = 24
    min_episodes: int = 4
    min_heldout_episodes: int = 2
    min_heldout_pairs: int = 20
    confidence: float = 0.99
    min_accuracy: float = 0.55
    champion_margin: float = 0.05
    least_deviation: float = 0.01


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
    reasons: list[str] = []
    accuracy, low = metrics.heldout_accuracy, metrics.crossfit_accuracy_low
    if accuracy is None or low is None:
        return ["no held-out accuracy could be measured"]
    if low <= 0.5:
        reasons.append(
            f"nothing proves a signal in the labels: predicting each episode from the others is "
            f"right in {metrics.crossfit_accuracy:.3f} of the pairs, at {settings.confidence:.0%} "
            f"confidence perhaps in {low:.3f}, not above chance"
        )
    if accuracy < settings.min_accuracy:
        reasons.append(
            f"held-out accuracy {accuracy:.3f} is below the {settings.min_accuracy} that is asked"
        )
    champion = metrics.champion_heldout_accuracy
    if champion is not None and accuracy < champion - settings.champion_margin:
        reasons.append(
            f"held-out accuracy {accuracy:.3f} is more than {settings.champion_margin} below the "
            f"champion's {champion:.3f} on the same pairs"
        )
    newest = metrics.newest_heldout_accuracy
    enough = metrics.newest_heldout_pairs >= settings.min_heldout_pairs
    if newest is not None and enough and newest < 0.5:
        reasons.append(f"accuracy on the newest held-out segments is {newest:.3f}, below chance")
    return reasons


def faults_of_potential(potentials: NDArray[np.float32], settings: GateSettings) -> list[str]:
    """What is wrong with a potential's values over the training data.

    Args:
        potentials: `[N]` float32, in units of the potential's scale: in [-1, 1].
        settings: What a candidate must show.
    """
    if not np.isfinite(potentials).all():
        return ["the potential is NaN or infinite on training observations"]
    if potentials.std() < settings.least_deviation:
        return [f"the potential is constant: its deviation is {potentials.std():.2g}"]
    return []


def newest_quarter(env_steps: Sequence[int]) -> int:
    """The environment step from which a label belongs to the newest quarter."""
    return sorted(env_steps)[-max(1, len(env_steps) // 4)]
