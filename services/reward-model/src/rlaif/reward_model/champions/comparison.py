"""Two reward models side by side on labels that neither was taught."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rlaif.reward_model.champions.registry import ModelRegistry
from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.learning.candidate import split_sides
from rlaif.reward_model.learning.evaluation import NOT_MEASURED, Accuracy, rank_correlation
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_model.learning.split_halves import (
    accuracy_on,
    side_statistics,
    spaced_observations,
)


@dataclass(frozen=True)
class Comparison:
    """What both say of the held-out side.

    Attributes:
        correlation: Spearman of both potentials over the observations; None without labels.
        disagree: Share of the decided pairs that they rank differently; None without pairs.
    """

    first: Accuracy
    second: Accuracy
    correlation: float | None
    disagree: float | None


def compare_versions(
    registry: ModelRegistry,
    first: int,
    second: int,
    labels: Sequence[LabelledSegment],
    settings: CandidateSettings,
) -> Comparison:
    """Compare two published versions on the held-out side of `labels`. Blocks.

    Raises what `ModelRegistry.network` does when a version is missing or has another layout.
    """
    layout = labels[0].layout_version if labels else None
    one, other = (
        registry.potential(
            version, layout_version=layout or registry.manifest(version).spec.layout_version
        )
        for version in (first, second)
    )
    _, heldout = split_sides(labels, settings)
    if not heldout.segments:
        return Comparison(NOT_MEASURED, NOT_MEASURED, None, None)
    ones, others = (side_statistics(phi, heldout, settings) for phi in (one, other))
    pairs = [item for item in heldout.preferences if item.decided]
    apart = [(ones[i.a] - ones[i.b]) * (others[i.a] - others[i.b]) < 0 for i in pairs]
    probes = spaced_observations(heldout.segments)
    return Comparison(
        accuracy_on(ones, heldout, settings),
        accuracy_on(others, heldout, settings),
        rank_correlation(one(probes), other(probes)),
        float(np.mean(apart)) if apart else None,
    )
