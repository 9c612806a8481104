"""Which scores are kept as labels when there are too many: half the newest, half a sample.

The newest half shows the present policy. Alone it would be half an hour of play, and the network
would forget the rest, such as the first rooms or a boss that was met once. The other half is
sampled from octaves of age (each reaches twice as far back as the one before) and from episodes,
which take turns; ties are broken by hash. Labels have no influence, nor has the split.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import chain, zip_longest
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_SALT = b"label-reservoir"


class Scored(NamedTuple):
    """A score that may be kept; `at` is its time in seconds since 1970."""

    key: str
    at: float
    episode: str


def keep(scores: Sequence[Scored], times: NDArray[np.float64], *, most: int) -> list[Scored]:
    """At most `most` of the scores, the newest half first.

    `times`, sorted `[N]`, are those of all scores ever made: age is a rank among them, so it does
    not matter how many of them are still candidates.
    """
    if len(scores) <= most:
        return list(scores)
    if most <= 0:
        return []
    by_age = sorted(scores, key=lambda item: (item.at, item.key), reverse=True)
    newest = by_age[: most - most // 2]
    unit = max(1, len(times) - int(np.searchsorted(times, newest[-1].at)))

    def octave(item: Scored) -> int:
        rank = len(times) - int(np.searchsorted(times, item.at))
        return max(0, int(np.log2(max(rank, unit) / unit)))

    sample = _take_turns(by_age[len(newest) :], octave, _by_episode)
    return newest + sample[: most - len(newest)]


def _by_episode(items: list[Scored]) -> list[Scored]:
    return _take_turns(
        items, lambda item: item.episode, lambda own: sorted(own, key=lambda item: _hash(item.key))
    )


def _take_turns(
    items: Iterable[Scored],
    stratum: Callable[[Scored], Hashable],
    order: Callable[[list[Scored]], list[Scored]],
) -> list[Scored]:
    """One of each stratum in turns, each stratum in its own `order`."""
    strata: dict[Hashable, list[Scored]] = defaultdict(list)
    for item in items:
        strata[stratum(item)].append(item)
    named = sorted(strata.items(), key=lambda pair: _hash(str(pair[0])))
    turns = zip_longest(*(order(members) for _, members in named))
    return [item for item in chain.from_iterable(turns) if item is not None]


def _hash(name: str) -> bytes:
    return hashlib.blake2b(name.encode(), digest_size=8, key=_SALT).digest()
