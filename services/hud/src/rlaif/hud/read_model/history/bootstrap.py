"""How surely two groups differ: percentile bootstrap of the difference of their means."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from random import Random
from statistics import fmean

LEAST = 20
"""Of each group; of fewer an interval says less than it seems to."""

CONFIDENCE = 0.95
RESAMPLES = 1000
_SEED = 7


@dataclass(frozen=True)
class Difference:
    """Two means and what lies between them.

    Attributes:
        before, after: The means; None of an empty group.
        n_before, n_after: How many values each is of.
        change: `after - before`; None while a group is smaller than `LEAST`.
        low, high: Ends of its interval of 95 %; None likewise.
    """

    before: float | None
    after: float | None
    n_before: int
    n_after: int
    change: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def direction(self) -> int | None:
        """1 or -1 when the interval leaves out 0, else 0; None when it is not known."""
        if self.low is None or self.high is None:
            return None
        return 1 if self.low > 0 else -1 if self.high < 0 else 0


def difference(before: Sequence[float], after: Sequence[float]) -> Difference:
    """Compare two groups; the same groups give the same interval. 5 ms for 100 each."""
    means = [fmean(group) if group else None for group in (before, after)]
    known = Difference(means[0], means[1], len(before), len(after))
    if min(len(before), len(after)) < LEAST or None in means:
        return known
    found = sorted(
        sum(pick_after(after)) / len(after) - sum(pick_before(before)) / len(before)
        for pick_before, pick_after in zip(
            _resamples(len(before), "before"), _resamples(len(after), "after"), strict=True
        )
    )
    cut = round((1 - CONFIDENCE) / 2 * RESAMPLES)
    return Difference(
        before=means[0],
        after=means[1],
        n_before=len(before),
        n_after=len(after),
        change=fmean(after) - fmean(before),
        low=found[cut],
        high=found[-1 - cut],
    )


@lru_cache(maxsize=16)
def _resamples(size: int, side: str) -> tuple[Callable[[Sequence[float]], tuple[float, ...]], ...]:
    """What picks each resample out of a group of this size; 1 MB for 100. Groups are often full."""
    draw = Random(f"{_SEED}/{side}")
    return tuple(itemgetter(*draw.choices(range(size), k=size)) for _ in range(RESAMPLES))
