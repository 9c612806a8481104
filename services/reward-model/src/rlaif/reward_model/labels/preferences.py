"""Scores in, preferences out: which of two segments the judges put higher, and how surely.

A label is soft: the margin between two segments comes from the mean votes, not from the majority,
and votes that disagree draw the target towards one half. What judges said when they were shown both
segments is a second witness, whatever the scores say (`side_by_side.py`). What people said of a
pair takes the place of both (`votes.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from rlaif.reward_model.labels import votes
from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.labels.side_by_side import SideBySide, log_odds
from rlaif.reward_model.labels.weights import episode_factors, label_weights

_ROUNDING = 1e-9
_ROUNDS_PER_PAIR = 4
_LEAST_WEIGHT = 0.5

_MARGIN_SCALE = 0.1
"""Rubric difference at which the target is sigmoid(1) = 0.73. Higher makes targets softer, lower
makes every decided pair certain."""


class PairSettings(BaseModel, frozen=True, extra="forbid"):
    """How pairs are made."""

    tie_band: float = Field(
        default=0.05,
        ge=0,
        le=1,
        description="Rubric difference below which two segments are a tie. Higher: fewer, clearer "
        "pairs. Lower: more pairs that hang on one vote.",
    )
    # Of the loss; the target of a tie is 0.5.
    tie_weight: float = Field(
        default=0.25,
        ge=0,
        le=1,
        description="Loss weight of ties; 0 drops them. Higher: flatter potential among equals.",
    )
    # A segment's score teaches in all of its pairs; a comparison has only this one.
    compared_weight: float = Field(
        default=16.0,
        ge=0,
        le=256,
        description="Loss weight of a pair that judges or people were shown side by side; 1 is "
        "that of a pair by its scores alone. Higher: what only a comparison tells is learned, and "
        "its mistakes too.",
    )
    most_pairs: int = Field(
        default=16,
        ge=1,
        le=256,
        description="Most pairs of one segment. More: slower, little gained, as pairs of one "
        "segment repeat each other. Fewer: noisier.",
    )


@dataclass(frozen=True)
class Preference:
    """One pair; `a` and `b` are indices of segments.

    Attributes:
        margin: Rubric mean of A minus that of B over the criteria judged in both, in [-1, 1]; of a
            pair that was shown side by side, the margin that would have taught the same target.
        decided: Whether the margin reaches the tie band.
        target: P(A better than B) that the network is taught.
        weight: Weight in the loss: that of its kind over the pairs in which its segments take part,
            so that a segment in many pairs does not count many times, by how much they count.
        side_by_side: Judges or people were shown both.
        voted: People were, and the target is theirs.
    """

    a: int
    b: int
    margin: float
    decided: bool
    target: float
    weight: float
    side_by_side: bool = False
    voted: bool = False


@dataclass(frozen=True)
class Compared:
    """Pairs as columns, all `[P]`.

    Where two segments cannot be compared, the margin is NaN and the weight 0. The deviation is that
    of the margin by scores, as far as the judges' votes disagree; 0 where they agree.
    """

    margin: NDArray[np.float64]
    decided: NDArray[np.bool_]
    target: NDArray[np.float64]
    weight: NDArray[np.float64]
    side_by_side: NDArray[np.bool_]
    voted: NDArray[np.bool_]
    deviation: NDArray[np.float64]


class PairTable:
    """The values of segments as columns, so that many pairs are compared at once."""

    def __init__(self, segments: Sequence[LabelledSegment], settings: PairSettings) -> None:
        """Read the values of `segments`; indices of pairs point into them."""
        names = sorted({name for item in segments for name in item.weights})
        rubrics: dict[tuple[tuple[str, float], ...], int] = {}
        numbers = [
            rubrics.setdefault(tuple(sorted(item.weights.items())), len(rubrics))
            for item in segments
        ]
        self._settings = settings
        self._rubric = np.array(numbers, np.int64)
        self._weights = _columns([item.weights for item in segments], names, 0.0)
        self._values = _columns([item.values for item in segments], names, np.nan)
        self._doubts = _columns([item.doubts for item in segments], names, 0.0)
        self.side_by_side = SideBySide(segments)
        self._importance = label_weights(segments)

    def __len__(self) -> int:
        return len(self._rubric)

    def compare(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> Compared:
        """Compare segments `a` with segments `b`, both `[P]` indices.

        Only criteria that were judged in both count, with their weights renormalised. Segments of
        different rubrics, and those whose common criteria carry less than half of the weight,
        cannot be compared, unless judges or people were shown both.
        """
        settings = self._settings
        difference = self._values[a] - self._values[b]
        common = np.isfinite(difference)
        weights = self._weights[a] * common
        total = weights.sum(axis=1)
        whole = self._weights[a].sum(axis=1)
        usable = (self._rubric[a] == self._rubric[b]) & (total > 0)
        usable &= total >= _LEAST_WEIGHT * whole - _ROUNDING
        share = weights / np.where(total > 0, total, 1.0)[:, None]
        margin = np.clip((share * np.where(common, difference, 0.0)).sum(axis=1), -1.0, 1.0)
        variance = (share**2 * (self._doubts[a] + self._doubts[b])).sum(axis=1)
        decided = usable & (np.abs(margin) >= settings.tie_band - _ROUNDING)
        softness = np.sqrt(_MARGIN_SCALE**2 + variance)
        target = np.where(decided, 1.0 / (1.0 + np.exp(-margin / softness)), 0.5)
        shares, leans = self.side_by_side.shares(a, b), self.side_by_side.leans(a, b)
        voted = np.isfinite(leans)
        seen = np.isfinite(shares) | voted
        by_judges = log_odds(np.where(usable, target, 0.5), np.where(seen & ~voted, shares, 0.5))
        told = np.where(voted, votes.log_odds(np.where(voted, leans, 0.0)), by_judges)[seen]
        margin[seen] = _MARGIN_SCALE * told
        usable |= seen
        decided[seen] = np.abs(margin[seen]) >= settings.tie_band - _ROUNDING
        target[seen] = np.where(decided[seen], 1.0 / (1.0 + np.exp(-told)), 0.5)
        weight = np.where(decided, 1.0, settings.tie_weight) * usable
        weight[seen] *= settings.compared_weight
        known = np.where(usable, margin, np.nan)
        return Compared(known, decided, target, weight, seen, voted, np.sqrt(variance))

    def importance(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
        """`[P]`: how much pairs of segments `a` and `b` count, by what they stand for."""
        return np.sqrt(self._importance[a] * self._importance[b])


def by_degree(
    weight: NDArray[np.float64], a: NDArray[np.int64], b: NDArray[np.int64], count: int
) -> NDArray[np.float64]:
    """`[P]` weights divided by how much their segments weigh in all, geometric mean of both ends.

    `a` and `b` are `[P]` indices of the `count` segments.
    """
    degree = np.bincount(a, weight, count) + np.bincount(b, weight, count)
    ends = np.sqrt(degree[a] * degree[b])
    return np.where(ends > 0, weight / np.where(ends > 0, ends, 1.0), 0.0)


def sample_preferences(
    segments: Sequence[LabelledSegment], *, settings: PairSettings, rng: np.random.Generator
) -> list[Preference]:
    """Pairs among `segments`, each segment in at most `settings.most_pairs` of them.

    Segments of an episode that has more than its share take part in fewer, at least in one.
    Decided pairs come first; ties fill at most a quarter of a segment's places, because early in
    a run nearly every segment is equally bad and ties would crowd out what can be learned.
    No pair comes twice.
    """
    if len(segments) < 2:
        return []
    table = PairTable(segments, settings)
    drawn = _candidates(len(segments), settings.most_pairs, rng)
    candidates = _first(table.side_by_side.pairs, drawn)
    compared = table.compare(candidates[:, 0], candidates[:, 1])
    most = np.maximum(1, np.rint(settings.most_pairs * episode_factors(segments)).astype(int))
    places, tie_places = most.tolist(), np.maximum(1, most // 4).tolist()
    chosen: list[int] = []
    decided, usable = compared.decided.tolist(), (compared.weight > 0).tolist()
    for index, (a, b) in enumerate(candidates.tolist()):
        taken = (places,) if decided[index] else (places, tie_places)
        if not usable[index] or not all(left[a] and left[b] for left in taken):
            continue
        for left in taken:
            left[a] -= 1
            left[b] -= 1
        chosen.append(index)
    return _listed(candidates[chosen], compared, chosen, table)


def _listed(
    pairs: NDArray[np.int64], compared: Compared, chosen: list[int], table: PairTable
) -> list[Preference]:
    """The chosen pairs, weighted by the degree of their segments and by how much these count."""
    a, b = pairs[:, 0], pairs[:, 1]
    weight = by_degree(compared.weight[chosen], a, b, len(table)) * table.importance(a, b)
    judged = (column[chosen] for column in (compared.margin, compared.decided, compared.target))
    seen, voted = compared.side_by_side[chosen], compared.voted[chosen]
    columns = (column.tolist() for column in (a, b, *judged, weight, seen, voted))
    return [Preference(*row) for row in zip(*columns, strict=True)]


def _columns(
    rows: Sequence[dict[str, float]], names: Sequence[str], missing: float
) -> NDArray[np.float64]:
    """`[N, C]` float64."""
    table = [[row.get(name, missing) for name in names] for row in rows]
    return np.array(table, np.float64).reshape(len(rows), len(names))


def _first(some: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.int64]:
    """`[P, 2]`: some pairs, then the others without them."""
    known = {(a, b) for a, b in some.tolist()}
    if not known:
        return others
    rest = [pair for pair in others.tolist() if (pair[0], pair[1]) not in known]
    return np.concatenate([some, np.array(rest, np.int64).reshape(len(rest), 2)])


def _candidates(count: int, most_pairs: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """`[P, 2]` distinct pairs in random order: all of a small set, random matchings of a large one.

    The smaller index comes first.
    """
    if count <= 2 * most_pairs:
        every = np.stack(np.triu_indices(count, 1), axis=1)
        return every[rng.permutation(len(every))]
    rounds = [rng.permutation(count) for _ in range(_ROUNDS_PER_PAIR * most_pairs)]
    half = count // 2 * 2
    drawn = np.sort(np.concatenate([order[:half].reshape(-1, 2) for order in rounds]), axis=1)
    _, first = np.unique(drawn[:, 0] * count + drawn[:, 1], return_index=True)
    return drawn[np.sort(first)]
