"""Pairs that were shown side by side, and what that word adds to that of the scores.

The scores of a pair and a comparison of it are two witnesses that err for reasons of their own: the
scores were given to each segment alone, three levels a criterion; the comparison saw both, in both
orders. So their log-odds add up. Neither may be surer than it is right: the scores are taken to
name the wrong one in `_WRONG_SCORES / 2` of the pairs however far apart they are, and a comparison
is right in `_RIGHT` of them. A comparison that agrees with the scores makes the pair surer, one
that contradicts a small difference turns it, one that contradicts a large difference takes most of
its certainty.

A tie, or two orders that disagree, halves the scores' log-odds: half of it says that the two are
alike, and half says nothing but that the judge followed the place.

Where people were shown both, their word stands alone (`votes.py`).
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rlaif.reward_model.labels.labels import LabelledSegment

_RIGHT = 0.8
"""P(A better) when both orders preferred A and no score says anything."""

_WRONG_SCORES = 0.1
"""Share of pairs whose order by scores is taken to be chance."""

_NEVER = np.nan


class SideBySide:
    """What judges and people said of pairs of `segments` that they were shown together."""

    def __init__(self, segments: Sequence[LabelledSegment]) -> None:
        """Read the segments; what names a segment that is not here says nothing."""
        self._judges = _Said(segments, [item.preferred for item in segments])
        self._people = _Said(segments, [item.voted for item in segments])
        pairs = sorted({pair for said in (self._judges, self._people) for pair in said.pairs})
        self.pairs = np.array(pairs, np.int64).reshape(-1, 2)
        """`[C, 2]` int64, the smaller index first, rows in order."""

    def shares(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
        """`[P]`: 1 where judges preferred A, 0 where B, 0.5 for neither; NaN where never shown."""
        return self._judges.of(a, b)

    def leans(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
        """`[P]`: by how many more people A was preferred than B; NaN where nobody was asked."""
        return self._people.of(a, b)


class _Said:
    """One number for some ordered pairs of segments, found by their indices."""

    def __init__(
        self, segments: Sequence[LabelledSegment], said: Sequence[Mapping[str, float]]
    ) -> None:
        place = {item.segment_id: index for index, item in enumerate(segments)}
        known = {
            (index, place[other]): value
            for index, row in enumerate(said)
            for other, value in row.items()
            if other in place
        }
        self._count = len(segments)
        ordered = sorted(known)
        self.pairs = [pair for pair in ordered if pair[0] < pair[1]]
        both = np.array(ordered, np.int64).reshape(-1, 2)
        self._codes = both[:, 0] * self._count + both[:, 1]
        self._values = np.array([known[pair] for pair in ordered], np.float64)

    def of(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
        """`[P]`; NaN where nothing was said."""
        if not len(self._codes):
            return np.full(len(a), _NEVER)
        code = a * self._count + b
        at = np.minimum(np.searchsorted(self._codes, code), len(self._codes) - 1)
        return np.where(self._codes[at] == code, self._values[at], _NEVER)


def log_odds(by_scores: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """`[P]` log-odds that A is better, of both witnesses together.

    `by_scores` is P(A better) by the scores, 0.5 where they say nothing; `shares` is 1, 0.5 or 0.
    """
    capped = (1.0 - _WRONG_SCORES) * by_scores + _WRONG_SCORES / 2.0
    of_scores = np.log(capped) - np.log1p(-capped)
    lean = 2.0 * shares - 1.0
    kept = np.where(lean == 0, 0.5, 1.0)
    found: NDArray[np.float64] = kept * of_scores + lean * np.log(_RIGHT / (1.0 - _RIGHT))
    return found
