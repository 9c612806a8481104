"""How the segments of a curriculum stand, as an environment runner tells it with a fragment."""

from typing import NamedTuple


class LegFigures(NamedTuple):
    """How one segment stands.

    Attributes:
        demonstration: Name of the one that it is a part of.
        begins_with: Marks of the segment before it, sorted; empty at the beginning.
        goal: Its own marks, sorted.
        places: Moments to start from.
        at: The one that its frontier is at; 0 is the beginning of the segment.
        is_home: It succeeds from there.
        tries: Episodes that began in it, since the run began.
        success: Share of the last tries from the frontier; None before the first.
        success_anywhere: Of the last tries wherever in it they began; None before the first.
    """

    demonstration: str
    begins_with: tuple[str, ...]
    goal: tuple[str, ...]
    places: int
    at: int
    is_home: bool
    tries: int
    success: float | None
    success_anywhere: float | None
