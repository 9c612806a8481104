"""Turns label values into preferences: which of two segments is better, and how certain that is.

The preference combines up to three sources:

* Scores. Each segment was judged alone. Labels are soft: the margin is the difference of the mean
  votes, and disagreeing votes move the target towards one half.
* Comparisons by judges who were shown both segments, in both orders. Scores and comparisons are
  independent, so their log-odds are added. Scores are assumed to order `_WRONG_SCORES / 2` of the
  pairs wrongly however far apart they are; a comparison is right with probability `_RIGHT`. A tie
  halves the log-odds of the scores.
* Votes of people who were shown both segments. They replace the judges' answer (`votes.py`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlaif.contracts.judging.scores import RUBRIC_WEIGHTS
from rlaif.reward_model.labels import votes
from rlaif.reward_model.labels.duplicates import episode_factors
from rlaif.reward_model.labels.labels import LabelledSegment

TIE_BAND = 0.05
"""Difference of label values below which two segments are a tie."""

TIE_WEIGHT = 0.25
"""Loss weight of a tie, whose target is 0.5."""

MAX_PAIRS = 16
"""Sampled pairs per segment."""

COMPARED_WEIGHT = 16.0
"""Loss weight of a pair that judges or people compared side by side. A pair known by scores alone
has weight 1, but a segment's score counts in all of its pairs."""

COUNTERS_TIE_BAND = 0.05
"""Difference of the RAM's rubric means below which it is a tie; half of the lowest weight."""

_ROUNDING = 1e-9
_ROUNDS_PER_PAIR = 4
_MIN_COMMON_WEIGHT = 0.5

_MARGIN_SCALE = 0.1
"""Difference of label values at which the target is sigmoid(1) = 0.73."""

_RIGHT = 0.8
"""P(A better) when judges preferred A in both orders and the scores are undecided."""

_WRONG_SCORES = 0.1
"""Share of pairs whose order by scores is assumed to be random."""

Indices = NDArray[np.int64]


class Preference(NamedTuple):
    """One pair; `a` and `b` are indices of segments.

    Attributes:
        margin: Label value of A minus that of B over the criteria judged in both, in [-1, 1]; of a
            compared pair, the margin that gives the same target.
        decided: Whether the margin reaches the tie band.
        target: P(A better than B).
        side_by_side: Judges or people were shown both.
        voted: People were shown both; the target is theirs.
    """

    a: int
    b: int
    margin: float
    decided: bool
    target: float
    side_by_side: bool = False
    voted: bool = False


@dataclass(frozen=True)
class Compared:
    """Pairs as columns, all `[P]`.

    Where two segments cannot be compared, the margin is NaN and the weight 0. `deviation` is the
    standard deviation of the margin by scores, from disagreeing votes.
    """

    margin: NDArray[np.float64]
    decided: NDArray[np.bool_]
    target: NDArray[np.float64]
    weight: NDArray[np.float64]
    side_by_side: NDArray[np.bool_]
    voted: NDArray[np.bool_]
    deviation: NDArray[np.float64]


class PairTable:
    """The label values of N segments as columns; compares any of their pairs.

    Attributes:
        segments: The segments that indices refer to.
        compared_pairs: `[C, 2]`: pairs that judges or people were shown side by side, the smaller
            index first.
    """

    def __init__(self, segments: Sequence[LabelledSegment]) -> None:
        names = sorted({name for item in segments for name in item.weights})
        rubrics: dict[tuple[tuple[str, float], ...], int] = {}
        numbers = [
            rubrics.setdefault(tuple(sorted(item.weights.items())), len(rubrics))
            for item in segments
        ]
        self.segments = segments
        self._rubric = np.array(numbers, np.int64)
        self._weights = _columns([item.weights for item in segments], names, 0.0)
        self._values = _columns([item.values for item in segments], names, np.nan)
        self._doubts = _columns([item.doubts for item in segments], names, 0.0)
        self._by_judges = _Answers(segments, [item.preferred for item in segments])
        self._by_people = _Answers(segments, [item.voted for item in segments])
        pairs = sorted({*self._by_judges.pairs, *self._by_people.pairs})
        self.compared_pairs: Indices = np.array(pairs, np.int64).reshape(-1, 2)

    def __len__(self) -> int:
        return len(self.segments)

    def compare(self, a: Indices, b: Indices) -> Compared:
        """Compare segments `a` with segments `b`, `[P]` indices.

        Only criteria that were judged in both count, with renormalised weights. Segments of
        different rubrics, and segments whose common criteria carry less than half of the weight,
        cannot be compared unless judges or people were shown both.
        """
        margin, variance, usable = self._by_scores(a, b)
        decided = usable & (np.abs(margin) >= TIE_BAND - _ROUNDING)
        softness = np.sqrt(_MARGIN_SCALE**2 + variance)
        target = np.where(decided, _sigmoid(margin / softness), 0.5)
        shares, leans = self._by_judges.of(a, b), self._by_people.of(a, b)
        voted = np.isfinite(leans)
        seen = np.isfinite(shares) | voted
        by_judges = _log_odds(np.where(usable, target, 0.5), np.where(seen & ~voted, shares, 0.5))
        odds = np.where(voted, votes.log_odds(np.where(voted, leans, 0.0)), by_judges)[seen]
        margin[seen] = _MARGIN_SCALE * odds
        usable |= seen
        decided[seen] = np.abs(margin[seen]) >= TIE_BAND - _ROUNDING
        target[seen] = np.where(decided[seen], _sigmoid(odds), 0.5)
        weight = np.where(decided, 1.0, TIE_WEIGHT) * usable
        weight[seen] *= COMPARED_WEIGHT
        known = np.where(usable, margin, np.nan)
        return Compared(known, decided, target, weight, seen, voted, np.sqrt(variance))

    def values_of_all(self) -> NDArray[np.float64]:
        """`[N]`: mean margin of each segment over all others; NaN where nothing is comparable.

        If every criterion was judged, differences of two of these are the margins of the pairs.
        """
        count = len(self)
        others, found = np.arange(count), np.full(count, np.nan)
        for at in range(count):
            margin = self.compare(np.full(count, at), others).margin
            usable = np.isfinite(margin) & (others != at)
            if usable.any():
                found[at] = margin[usable].mean()
        return found

    def _by_scores(
        self, a: Indices, b: Indices
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
        """(margin, its variance, whether the two can be compared), `[P]` each."""
        difference = self._values[a] - self._values[b]
        common = np.isfinite(difference)
        weights = self._weights[a] * common
        total = weights.sum(axis=1)
        usable = (self._rubric[a] == self._rubric[b]) & (total > 0)
        usable &= total >= _MIN_COMMON_WEIGHT * self._weights[a].sum(axis=1) - _ROUNDING
        share = weights / np.where(total > 0, total, 1.0)[:, None]
        margin = np.clip((share * np.where(common, difference, 0.0)).sum(axis=1), -1.0, 1.0)
        variance = (share**2 * (self._doubts[a] + self._doubts[b])).sum(axis=1)
        return margin, variance, usable


class _Answers:
    """One number for some ordered pairs of segments."""

    def __init__(
        self, segments: Sequence[LabelledSegment], answers: Sequence[Mapping[str, float]]
    ) -> None:
        place = {item.segment_id: index for index, item in enumerate(segments)}
        known = {
            (index, place[other]): value
            for index, row in enumerate(answers)
            for other, value in row.items()
            if other in place
        }
        self._count = len(segments)
        ordered = sorted(known)
        self.pairs = [pair for pair in ordered if pair[0] < pair[1]]
        both = np.array(ordered, np.int64).reshape(-1, 2)
        self._codes = both[:, 0] * self._count + both[:, 1]
        self._values = np.array([known[pair] for pair in ordered], np.float64)

    def of(self, a: Indices, b: Indices) -> NDArray[np.float64]:
        """`[P]`; NaN where there is no answer."""
        if not len(self._codes):
            return np.full(len(a), np.nan)
        code = a * self._count + b
        at = np.minimum(np.searchsorted(self._codes, code), len(self._codes) - 1)
        return np.where(self._codes[at] == code, self._values[at], np.nan)


def sample_preferences(
    table: PairTable, *, rng: np.random.Generator, inside: Indices | None = None
) -> list[Preference]:
    """Distinct pairs, each segment in at most `MAX_PAIRS` of them.

    `inside` restricts the pairs to some segments. Segments of an episode with more than its share
    take part in fewer pairs, at least in one. Decided pairs come first; ties fill at most a quarter
    of a segment's pairs, because early in a run nearly all segments are equally bad.
    """
    inside = np.arange(len(table)) if inside is None else inside
    if len(inside) < 2:
        return []
    mine = table.compared_pairs[np.isin(table.compared_pairs, inside).all(axis=1)]
    candidates = _first(mine, inside[_candidates(len(inside), rng)])
    compared = table.compare(candidates[:, 0], candidates[:, 1])
    factors = np.ones(len(table))
    factors[inside] = episode_factors([table.segments[at] for at in inside.tolist()])
    most = np.maximum(1, np.rint(MAX_PAIRS * factors).astype(int))
    places, tie_places = most.tolist(), np.maximum(1, most // 4).tolist()
    chosen: list[int] = []
    decided, usable = compared.decided.tolist(), (compared.weight > 0).tolist()
    for index, (a, b) in enumerate(candidates.tolist()):
        limits = (places,) if decided[index] else (places, tie_places)
        if not usable[index] or not all(left[a] and left[b] for left in limits):
            continue
        for left in limits:
            left[a] -= 1
            left[b] -= 1
        chosen.append(index)
    columns = (candidates[:, 0], candidates[:, 1], compared.margin, compared.decided,
               compared.target, compared.side_by_side, compared.voted)  # fmt: skip
    return [Preference(*row) for row in zip(*(c[chosen].tolist() for c in columns), strict=True)]


def judged_share(
    *sides: tuple[Sequence[LabelledSegment], Sequence[Preference]],
) -> float | None:
    """Share in [0, 1] of the decided pairs whose order only judges decide; None without pairs.

    Where the game's RAM ranks one segment clearly above the other and the judges agree, a counter
    would have been enough. Where it is undecided, unknown or contradicts, only judges decide.
    """
    judged = []
    for segments, decided in sides:
        for item in decided:
            counted = counters_margin(segments[item.a], segments[item.b]) or 0.0
            clear = abs(counted) >= COUNTERS_TIE_BAND - _ROUNDING
            judged.append(not (clear and (counted > 0) == (item.margin > 0)))
    return float(np.mean(judged)) if judged else None


def counters_margin(a: LabelledSegment, b: LabelledSegment) -> float | None:
    """RAM's rubric mean of A minus that of B, in [-1, 1], over the criteria known in both.

    None without such a criterion.
    """
    common = [name for name in RUBRIC_WEIGHTS if name in a.ram and name in b.ram]
    if not common:
        return None
    total = sum(RUBRIC_WEIGHTS[name] for name in common)
    # Levels 0, 1, 2 are the values 0, 0.5, 1.
    return sum(RUBRIC_WEIGHTS[name] * (a.ram[name] - b.ram[name]) / 2 for name in common) / total


def _sigmoid(x: NDArray[np.float64]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-x))
    return found


def _log_odds(by_scores: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """`[P]` log-odds that A is better, of scores and comparison together.

    `by_scores` is P(A better) by the scores, 0.5 if undecided; `shares` is 1, 0.5 or 0.
    """
    capped = (1.0 - _WRONG_SCORES) * by_scores + _WRONG_SCORES / 2.0
    of_scores = np.log(capped) - np.log1p(-capped)
    lean = 2.0 * shares - 1.0
    kept = np.where(lean == 0, 0.5, 1.0)
    found: NDArray[np.float64] = kept * of_scores + lean * np.log(_RIGHT / (1.0 - _RIGHT))
    return found


def _columns(
    rows: Sequence[dict[str, float]], names: Sequence[str], missing: float
) -> NDArray[np.float64]:
    """`[N, C]`."""
    table = [[row.get(name, missing) for name in names] for row in rows]
    return np.array(table, np.float64).reshape(len(rows), len(names))


def _first(some: Indices, others: Indices) -> Indices:
    """`[P, 2]`: the pairs `some`, then those of `others` that are not among them."""
    known = {(a, b) for a, b in some.tolist()}
    if not known:
        return others
    rest = [pair for pair in others.tolist() if (pair[0], pair[1]) not in known]
    return np.concatenate([some, np.array(rest, np.int64).reshape(len(rest), 2)])


def _candidates(count: int, rng: np.random.Generator) -> Indices:
    """`[P, 2]` distinct pairs in random order: all of a small set, random matchings of a large one.

    The smaller index comes first.
    """
    if count <= 2 * MAX_PAIRS:
        every = np.stack(np.triu_indices(count, 1), axis=1)
        return every[rng.permutation(len(every))]
    rounds = [rng.permutation(count) for _ in range(_ROUNDS_PER_PAIR * MAX_PAIRS)]
    half = count // 2 * 2
    drawn = np.sort(np.concatenate([order[:half].reshape(-1, 2) for order in rounds]), axis=1)
    _, first = np.unique(drawn[:, 0] * count + drawn[:, 1], return_index=True)
    return drawn[np.sort(first)]
