"""How a curriculum stands, as an environment runner tells it with a fragment."""

from typing import Any, NamedTuple


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


class CourseFigures(NamedTuple):
    """How all segments stand, and how far play comes without them.

    Attributes:
        legs: The segments.
        whole: Of the last episodes from where the game itself starts, oldest first, whether they
            came to the end of the way.
    """

    legs: tuple[LegFigures, ...] = ()
    whole: tuple[bool, ...] = ()

    @property
    def whole_success(self) -> float | None:
        """Share of `whole` that came to the end; None while there are none."""
        return sum(self.whole) / len(self.whole) if self.whole else None

    def plain(self) -> dict[str, Any]:
        return {"legs": [tuple(leg) for leg in self.legs], "whole": list(self.whole)}

    @classmethod
    def of(cls, saved: Any) -> "CourseFigures":
        """The figures that `plain` gave; a checkpoint of before has a list of segments alone."""
        legs, whole = (saved["legs"], saved["whole"]) if isinstance(saved, dict) else (saved, ())
        return cls(tuple(LegFigures(*leg) for leg in legs), tuple(map(bool, whole)))
