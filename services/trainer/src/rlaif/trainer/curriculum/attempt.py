"""One attempt at a subtask: its goal, the flags reached so far, and its time limit."""

from collections.abc import Mapping
from typing import Any

from rlaif.trainer.search.marks import Marks

SLACK_FRAMES = 240
"""Added to the multiple of the demonstration's frames: four seconds, for goals that are a step
away."""


class Attempt:
    """An attempt at a subtask from a start state, until its goal is reached or its time is up.

    A goal is reached when each of its flags has been set at some time since the attempt started, in
    any order and by any trajectory; flags that are reset afterwards, such as a key, count. Goals of
    later subtasks are watched, too: reaching one of them first is a failure of this subtask.

    Attributes:
        subtask: Index of the subtask in the route.
        place: Index of its start state.
        until: Frames of the episode at which the attempt ends.
        reached: Subtasks, this one or later ones, with a complete goal; the first ends the attempt.
    """

    def __init__(
        self, subtask: int, place: int, goal: Marks, *, until: int, later: Mapping[int, Marks]
    ) -> None:
        """Start an attempt; `later` contains the goals of later subtasks by index, in order."""
        self.subtask, self.place = subtask, place
        self.until = until
        self.reached: set[int] = set()
        self._missing = {subtask: set(goal)} | {
            number: set(marks) for number, marks in later.items()
        }

    @property
    def succeeded(self) -> bool:
        """Whether its own goal is complete."""
        return self.subtask in self.reached

    def see(self, marks: Marks) -> int | None:
        """Process the flags that are set now; return the last subtask that they complete."""
        newest = None
        for number, missing in self._missing.items():
            missing -= marks
            if not missing:
                self.reached.add(number)
                newest = number
        return newest

    def state_dict(self) -> dict[str, Any]:
        return {
            "leg": self.subtask,
            "place": self.place,
            "until": self.until,
            "missing": [(number, set(missing)) for number, missing in self._missing.items()],
        }

    @classmethod
    def of(cls, state: dict[str, Any]) -> "Attempt":
        missing = {number: frozenset(marks) for number, marks in state["missing"]}
        subtask = state["leg"]
        goal = missing.pop(subtask)
        return cls(subtask, state["place"], goal, until=state["until"], later=missing)


def limit(frames: int, patience: float) -> int:
    """Return the maximum frames of an attempt for which the demonstration took `frames`."""
    return round(frames * patience) + SLACK_FRAMES
