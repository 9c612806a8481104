"""One episode along a demonstration: what it is to reach, what it has, how long it may take."""

from typing import Any

from rlaif.trainer.search.marks import Marks

SLACK_FRAMES = 240
"""Beside the multiple of the demonstration's frames: four seconds, for goals a step away."""


class Attempt:
    """A try of a segment from a place, until its goal is reached or its time is over.

    A goal is reached when all its marks have been there since the try began, in whatever order and
    by whatever way; one that is used up again, such as a key, counts.

    Attributes:
        leg: Number of the segment in the route.
        place: Where in it the try began.
        until: Frames of the episode at which it is over.
    """

    def __init__(self, leg: int, place: int, goal: Marks, *, until: int) -> None:
        self.leg, self.place = leg, place
        self.until = until
        self._missing = set(goal)

    @property
    def succeeded(self) -> bool:
        """Whether the goal was reached."""
        return not self._missing

    def see(self, marks: Marks) -> bool:
        """The game shows these marks now; gives whether they complete the goal."""
        if not self._missing:
            return False
        self._missing -= marks
        return not self._missing

    def state_dict(self) -> dict[str, Any]:
        """The try as plain values."""
        return {
            "leg": self.leg,
            "place": self.place,
            "until": self.until,
            "missing": set(self._missing),
        }

    @classmethod
    def of(cls, state: dict[str, Any]) -> "Attempt":
        """The try that `state_dict` gave."""
        return cls(state["leg"], state["place"], frozenset(state["missing"]), until=state["until"])


def limit(frames: int, patience: float) -> int:
    """Frames that a try may take where the demonstration took `frames`."""
    return round(frames * patience) + SLACK_FRAMES
