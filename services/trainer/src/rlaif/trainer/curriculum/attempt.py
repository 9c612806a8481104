"""One episode along a demonstration: what it is to reach, what it has, how long it may take."""

from collections.abc import Mapping
from typing import Any

from rlaif.trainer.search.marks import Marks

SLACK_FRAMES = 240
"""Beside the multiple of the demonstration's frames: four seconds, for goals a step away."""


class Attempt:
    """A try of a segment from a place, until its goal is reached or its time is over.

    A goal is reached when all its marks have been there since the try began, in whatever order and
    by whatever way; one that is used up again, such as a key, counts. A goal of a segment after
    this one is seen, too: who reaches it first has missed this one.

    Attributes:
        leg: Number of the segment in the route.
        place: Where in it the try began.
        until: Frames of the episode at which it is over.
        reached: Segments, this one or later ones, whose goals are complete; with any it is over.
    """

    def __init__(
        self, leg: int, place: int, goal: Marks, *, until: int, later: Mapping[int, Marks]
    ) -> None:
        """Begin; `later` are goals of segments after this one, by number, in their order."""
        self.leg, self.place = leg, place
        self.until = until
        self.reached: set[int] = set()
        self._missing = {leg: set(goal)} | {number: set(marks) for number, marks in later.items()}

    @property
    def succeeded(self) -> bool:
        """Whether its own goal is complete."""
        return self.leg in self.reached

    def see(self, marks: Marks) -> int | None:
        """The game shows these marks now; gives the last segment whose goal is complete."""
        newest = None
        for number, missing in self._missing.items():
            missing -= marks
            if not missing:
                self.reached.add(number)
                newest = number
        return newest

    def state_dict(self) -> dict[str, Any]:
        """The try as plain values."""
        return {
            "leg": self.leg,
            "place": self.place,
            "until": self.until,
            "missing": [(number, set(missing)) for number, missing in self._missing.items()],
        }

    @classmethod
    def of(cls, state: dict[str, Any]) -> "Attempt":
        """The try that `state_dict` gave."""
        missing = {number: frozenset(marks) for number, marks in state["missing"]}
        leg = state["leg"]
        goal = missing.pop(leg)
        return cls(leg, state["place"], goal, until=state["until"], later=missing)


def limit(frames: int, patience: float) -> int:
    """Frames that a try may take where the demonstration took `frames`."""
    return round(frames * patience) + SLACK_FRAMES
