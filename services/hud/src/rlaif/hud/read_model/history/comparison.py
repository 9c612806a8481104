"""Difference of the means of two groups, with a percentile bootstrap interval.

Consecutive episodes are played by nearly the same policy and so are not independent: the bootstrap
resamples blocks of them (circular block bootstrap, Politis & Romano 1992).
"""

from array import array
from collections.abc import Iterator
from functools import lru_cache
from math import ceil, isqrt, sqrt
from random import Random
from statistics import fmean

from pydantic import Field

from rlaif.hud.read_model import View

MIN_EPISODES = 20
"""Per group; intervals of smaller groups are too narrow."""

CONFIDENCE = 0.95
RESAMPLES = 1000
_SEED = 7
_MAX_CACHED = 1024


class Difference(View):
    """A figure of two groups of episodes, and the difference of its means."""

    before: float | None = Field(description="Mean; null without episodes.")
    after: float | None
    n_before: int = Field(description="Episodes.")
    n_after: int
    change: float | None = Field(default=None, description="Null while a group is too small.")
    low: float | None = Field(
        default=None,
        description="Bounds of the 95 % interval: a bootstrap over blocks of episodes.",
    )
    high: float | None = None

    @property
    def direction(self) -> int | None:
        """1 or -1 when the interval excludes 0, else 0; None when it is unknown."""
        if self.low is None or self.high is None:
            return None
        return 1 if self.low > 0 else -1 if self.high < 0 else 0


@lru_cache(maxsize=_MAX_CACHED)
def difference(before: tuple[float, ...], after: tuple[float, ...]) -> Difference:
    """Compare two groups, each in the order of play; deterministic. 5 ms for groups of 100."""
    means = [fmean(group) if group else None for group in (before, after)]
    known = Difference(before=means[0], after=means[1], n_before=len(before), n_after=len(after))
    if min(len(before), len(after)) < MIN_EPISODES:
        return known
    found = sorted(
        theirs - ours
        for ours, theirs in zip(
            _resampled_means(before, "before"), _resampled_means(after, "after"), strict=True
        )
    )
    cut = round((1 - CONFIDENCE) / 2 * RESAMPLES)
    change = fmean(after) - fmean(before)
    # Means of k resampled blocks vary less than those of k new ones, by (k - 1) / k.
    blocks = min(len(group) // isqrt(len(group)) for group in (before, after))
    wider = sqrt(blocks / (blocks - 1))
    low, high = (change + wider * (end - change) for end in (found[cut], found[-1 - cut]))
    return known.model_copy(update={"change": change, "low": low, "high": high})


def _resampled_means(group: tuple[float, ...], side: str) -> Iterator[float]:
    size, value = len(group), group.__getitem__
    drawn = _drawn(size, side)
    for begin in range(0, len(drawn), size):
        yield sum(map(value, drawn[begin : begin + size])) / size


@lru_cache(maxsize=8)
def _drawn(size: int, side: str) -> "array[int]":
    """Indices of all resamples of a group of this size, one after another; 2 bytes each.

    Blocks have the length of the square root of the size. A group that grows has each size once, so
    that few are cached.
    """
    draw, drawn = Random(f"{_SEED}/{side}"), array("H" if size <= 1 << 16 else "L")
    length = isqrt(size)
    for _ in range(RESAMPLES):
        starts = draw.choices(range(size), k=ceil(size / length))
        row = [(start + each) % size for start in starts for each in range(length)]
        drawn.extend(row[:size])
    return drawn
