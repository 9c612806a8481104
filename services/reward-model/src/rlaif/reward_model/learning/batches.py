"""The batches of one pass of a fit: segments in random order, compared ones together.

A pair teaches only where both of its segments are in one batch. Among some hundred segments two
that were compared would seldom meet by chance, and what only the comparison tells would be lost.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray


def batches(
    order: NDArray[np.int64], compared: NDArray[np.int64], size: int
) -> Iterator[NDArray[np.int64]]:
    """All of `order` once, in batches of at most `size` and of one length, or one more.

    A short last batch would be as large a step as the others, in a direction of its own.

    `order` is a random permutation of the segments, `compared` the `[C, 2]` pairs. A segment that
    was compared is followed by the first of its partners that is left, which depends on the order:
    in another pass it is another one. Only the border of a batch parts the two.
    """
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    partners: dict[int, list[int]] = {}
    for a, b in compared.tolist():
        partners.setdefault(a, []).append(b)
        partners.setdefault(b, []).append(a)
    rank = place.astype(np.float64)
    taken: set[int] = set()
    for segment in sorted(partners, key=lambda one: place[one]):
        if segment in taken:
            continue
        taken.add(segment)
        left = [other for other in partners[segment] if other not in taken]
        if left:
            partner = min(left, key=lambda other: place[other])
            taken.add(partner)
            rank[partner] = place[segment] + 0.5
    yield from np.array_split(np.argsort(rank), -(-len(order) // size))
