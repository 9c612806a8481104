"""How long calls took: seconds in, a histogram whose edges are the same for all routes out."""

from bisect import bisect_left
from collections.abc import Sequence

from rlaif.hud.read_model.llm_views import LatencyBucket

EDGES = tuple(
    round(step * 10.0**decade, 3) for decade in range(-2, 3) for step in (1, 1.5, 2, 3, 5, 7)
)
"""Seconds, 10 ms to 700 s, about equally far apart by ratio: a small model answers in 0.1 s, one
that thinks first in minutes."""


def histogram(seconds: Sequence[float]) -> tuple[LatencyBucket, ...] | None:
    """Calls by how long they took, from the quickest to the slowest; None of no call.

    A call is in the bucket whose upper edge is the first that it does not exceed. Buckets follow
    each other without a gap; those before the quickest call and after the slowest are left out.
    """
    if not seconds:
        return None
    places = [bisect_left(EDGES, each) for each in seconds]
    return tuple(
        LatencyBucket(
            from_seconds=EDGES[place - 1] if place else 0.0,
            to_seconds=EDGES[place] if place < len(EDGES) else None,
            calls=places.count(place),
        )
        for place in range(min(places), max(places) + 1)
    )
