"""Scores in, preferences out: which of two segments the judges put higher, and by how much."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rlaif.contracts.scores import rubric_mean
from rlaif.reward_model.labels import LabelledSegment

_ROUNDING = 1e-9
_ROUNDS_PER_PAIR = 4


@dataclass(frozen=True)
class PairSettings:
    """How pairs are made.

    Attributes:
        tie_band: Rubric difference below which two segments count as equal.
        margin_scale: Rubric difference at which the target is sigmoid(1) = 0.73. Higher makes
            targets softer, lower makes every decided pair certain.
        tie_weight: Loss weight of a tie, whose target is 0.5; 0 leaves ties out.
        most_pairs: Largest number of pairs in which one segment takes part.
    """

    tie_band: float = 0.05
    margin_scale: float = 0.1
    tie_weight: float = 0.25
    most_pairs: int = 16


@dataclass(frozen=True)
class Preference:
    """One pair.

    Attributes:
        a: Index of the first segment.
        b: Index of the second segment.
        margin: Rubric mean of A minus that of B over the criteria judged in both, in [-1, 1].
        decided: Whether the margin reaches the tie band.
        target: P(A better than B) that the network is taught.
        weight: Weight in the loss.
    """

    a: int
    b: int
    margin: float
    decided: bool
    target: float
    weight: float


def margin(a: LabelledSegment, b: LabelledSegment) -> float | None:
    """Rubric mean of `a` minus that of `b`.

    Only criteria that were judged in both count, with their weights renormalised.

    Returns:
        The difference in [-1, 1]; None when the rubrics differ or the common criteria carry less
        than half of the weight.
    """
    if a.weights != b.weights:
        return None
    common = [name for name in a.weights if name in a.values and name in b.values]
    mean_a = rubric_mean({name: a.values[name] for name in common}, a.weights)
    mean_b = rubric_mean({name: b.values[name] for name in common}, b.weights)
    return None if mean_a is None or mean_b is None else mean_a - mean_b


def sample_preferences(
    segments: Sequence[LabelledSegment], *, settings: PairSettings, rng: np.random.Generator
) -> list[Preference]:
    """Pairs among `segments`, each segment in at most `settings.most_pairs` of them.

    Decided pairs come first; ties fill at most a quarter of a segment's places, because early in
    a run nearly every segment is equally bad and ties would crowd out what can be learned.

    Args:
        segments: One side of the split.
        settings: How pairs are made.
        rng: Chooses the pairs.

    Returns:
        The preferences, without repeats; indices point into `segments`.
    """
    places = [settings.most_pairs] * len(segments)
    tie_places = [max(1, settings.most_pairs // 4)] * len(segments)
    chosen: list[Preference] = []
    for a, b in _candidates(len(segments), settings.most_pairs, rng):
        if not (places[a] and places[b]):
            continue
        preference = _prefer(segments, a, b, settings)
        if preference is None:
            continue
        if not preference.decided:
            if not (tie_places[a] and tie_places[b]):
                continue
            tie_places[a] -= 1
            tie_places[b] -= 1
        places[a] -= 1
        places[b] -= 1
        chosen.append(preference)
    return chosen


def _prefer(
    segments: Sequence[LabelledSegment], a: int, b: int, settings: PairSettings
) -> Preference | None:
    difference = margin(segments[a], segments[b])
    if difference is None:
        return None
    if abs(difference) < settings.tie_band - _ROUNDING:
        if settings.tie_weight <= 0:
            return None
        return Preference(a, b, difference, False, 0.5, settings.tie_weight)
    target = 1.0 / (1.0 + math.exp(-difference / settings.margin_scale))
    return Preference(a, b, difference, True, target, 1.0)


def _candidates(count: int, most_pairs: int, rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    """Distinct pairs in random order: all of a small set, random matchings of a large one."""
    if count <= 2 * most_pairs:
        every = [(a, b) for a in range(count) for b in range(a + 1, count)]
        for index in rng.permutation(len(every)):
            yield every[index]
        return
    seen: set[tuple[int, int]] = set()
    for _ in range(_ROUNDS_PER_PAIR * most_pairs):
        order = rng.permutation(count).tolist()
        for a, b in zip(order[0::2], order[1::2], strict=False):
            pair = (min(a, b), max(a, b))
            if pair not in seen:
                seen.add(pair)
                yield pair
