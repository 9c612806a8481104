"""Which labels stay when there are too many: half are the newest, half a sample of all ages.

The newest half is nearly what the policy does now. Alone it would be half an hour of play, and the
network would forget what it was taught about everything else: the first rooms, a boss met once. So
the other half is spread over the whole past, in strata:

    age       octaves of the rank: each reaches twice as far back as the one before it
    kind      what the segment shows: the objective that was next, and RAM's level of progress
    episode   so that no episode fills a stratum

Strata take turns, so each has an equal share as long as it has anything left: what is old or rare
stays. Inside, the order is a hash of the segment's id. No label and no score has a say in it, nor
has the side of the split, which is another hash.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

import numpy as np
from numpy.typing import NDArray

_SALT = b"label-reservoir"


@dataclass(frozen=True)
class Candidate:
    """A score that may be kept.

    Attributes:
        at: When it was scored, in seconds since 1970.
        kind: What the segment shows; empty while the score has not been read.
    """

    key: str
    at: float
    episode: str
    kind: str = ""


def keep(
    candidates: Sequence[Candidate], ever: NDArray[np.float64], *, most: int
) -> list[Candidate]:
    """At most `most` of the candidates, the newest half of them first.

    `ever`, sorted `[N]`, has the times of all scores there ever were: ages are ranks among them, so
    that it does not matter how many of them are still candidates.
    """
    if len(candidates) <= most:
        return list(candidates)
    if most <= 0:
        return []
    by_age = sorted(candidates, key=lambda item: (item.at, item.key), reverse=True)
    newest = by_age[: most - most // 2]
    older = by_age[len(newest) :]
    spread = _in_turns(older, _octave_of(ever, newest[-1].at), _by_kind)
    return newest + spread[: most - len(newest)]


def _octave_of(ever: NDArray[np.float64], edge: float) -> Callable[[Candidate], int]:
    """Age in octaves: 0 up to twice the rank of `edge`, 1 up to four times, and so on."""
    unit = max(1, len(ever) - int(np.searchsorted(ever, edge)))

    def octave(item: Candidate) -> int:
        rank = len(ever) - int(np.searchsorted(ever, item.at))
        return max(0, int(np.log2(max(rank, unit) / unit)))

    return octave


def _by_kind(items: list[Candidate]) -> list[Candidate]:
    return _in_turns(items, lambda item: item.kind, _by_episode)


def _by_episode(items: list[Candidate]) -> list[Candidate]:
    return _in_turns(items, lambda item: item.episode, _by_hash)


def _by_hash(items: list[Candidate]) -> list[Candidate]:
    return sorted(items, key=lambda item: _place(item.key))


def _in_turns(
    items: Iterable[Candidate],
    stratum: Callable[[Candidate], Hashable],
    order: Callable[[list[Candidate]], list[Candidate]],
) -> list[Candidate]:
    """One of each stratum in turns, each stratum in its own `order`."""
    strata: dict[Hashable, list[Candidate]] = defaultdict(list)
    for item in items:
        strata[stratum(item)].append(item)
    # Of strata of one size the first in this order may have one more.
    named = sorted(strata.items(), key=lambda pair: _place(str(pair[0])))
    turns = zip_longest(*(order(members) for _, members in named))
    return [item for item in chain.from_iterable(turns) if item is not None]


def _place(name: str) -> bytes:
    return hashlib.blake2b(name.encode(), digest_size=8, key=_SALT).digest()
