"""Start-state frontier of a backward curriculum: selects starts by the outcomes of attempts.

Source: Salimans & Chen 2018, arXiv 1812.03381: starts move from the end of a demonstration to its
beginning, each time the policy succeeds often enough. Three rules are additions:

* The stride doubles, and is reduced after one that was too long: after imitation a policy masters
  most of the trajectory, so attempts at each place would mostly be wasted.
* The frontier moves towards the goal where attempts keep failing.
* A place with a random outcome is skipped.
"""

from collections import deque
from typing import Any, NamedTuple

TOO_FAR = 0.1
"""Success rate at or below which a stride of several places is halved or undone."""

PATIENCE = 3
"""Windows of attempts that may fail at a place adjacent to one that succeeded."""

MAX_TIME = 4
"""Maximum factor of the time of an attempt."""


class SubtaskFigures(NamedTuple):
    """Statistics of one subtask.

    Attributes:
        demonstration: Name of its demonstration.
        begins_with: Flags of the previous subtask, sorted; empty for the first.
        goal: Its own flags, sorted.
        places: Number of start states.
        at: Place of its frontier; 0 is the beginning of the subtask.
        is_mastered: Whether attempts from the beginning succeed.
        tries: Attempts since the run started.
        success: Success rate of the last attempts from the frontier; None before the first.
        success_anywhere: Success rate of the last attempts from any place; None before the first.
    """

    demonstration: str
    begins_with: tuple[str, ...]
    goal: tuple[str, ...]
    places: int
    at: int
    is_mastered: bool
    tries: int
    success: float | None
    success_anywhere: float | None


class CurriculumFigures(NamedTuple):
    """Statistics of all subtasks, and of episodes from the game's own start.

    Attributes:
        subtasks: The subtasks.
        whole: Of the last episodes from the game's own start, oldest first, whether they reached
            the end.
    """

    subtasks: tuple[SubtaskFigures, ...] = ()
    whole: tuple[bool, ...] = ()

    @property
    def whole_success(self) -> float | None:
        return sum(self.whole) / len(self.whole) if self.whole else None

    def plain(self) -> dict[str, Any]:
        return {"legs": [tuple(subtask) for subtask in self.subtasks], "whole": list(self.whole)}

    @classmethod
    def of(cls, saved: Any) -> "CurriculumFigures":
        """Restore from `plain`; a checkpoint of 0.1.0 contains only the list of subtasks."""
        subtasks, whole = (
            (saved["legs"], saved["whole"]) if isinstance(saved, dict) else (saved, ())
        )
        return cls(tuple(SubtaskFigures(*subtask) for subtask in subtasks), tuple(map(bool, whole)))


class Frontier:
    """Places along a trajectory to one goal, numbered from the farthest, 0, to the nearest.

    Attributes:
        at: The place to start from, which moves back with success and towards the goal with
            failure.
        places: Number of places.
        time: Factor of the time limit of an attempt, 1 to MAX_TIME.
        is_mastered: Whether attempts from the farthest place succeed.
    """

    def __init__(self, places: int, *, tries: int, success: float, undecided: int = 0) -> None:
        """Start at the nearest of `places`.

        Args:
            places: At least one.
            tries: Attempts over which the success rate is measured.
            success: Success rate above which it moves back.
            undecided: Attempts after which a place is skipped if some of the last ones succeeded,
                but not enough; 0 for never. At the farthest place, which cannot be skipped, the
                time limit is doubled instead, also if none succeeds.
        """
        self._success, self._skips_after = success, undecided
        self.places = self._reached = places
        self.at = places - 1
        self.time = self._stride = self._retreat = 1
        self._failing = self._undecided = 0
        self._outcomes: deque[bool] = deque(maxlen=tries)
        self.is_mastered = False

    @property
    def success(self) -> float | None:
        """Success rate of the last attempts from `at`; None without any."""
        return sum(self._outcomes) / len(self._outcomes) if self._outcomes else None

    def note(self, place: int, *, success: bool) -> None:
        if place != self.at:
            return
        self._outcomes.append(success)
        tries = len(self._outcomes)
        if tries != self._outcomes.maxlen:
            return
        rate = sum(self._outcomes) / tries
        if rate > self._success:
            self._move_back()
            return
        self._stride = 1
        self.is_mastered = False
        self._failing = self._failing + 1 if rate <= TOO_FAR else 0
        if not self._failing or self.at == 0:
            self._undecided += 1
        if self._skips_after and self._undecided >= self._skips_after:
            self._skip()
        elif self._failing and self._reached - self.at > 1:
            self._move_to(self.at + (self._reached - self.at) // 2)
        elif self._failing > (PATIENCE - 1) * tries and self.at < self.places - 1:
            self._move_to(min(self.places - 1, self.at + self._retreat))
            self._reached = self.at + 1
            self._retreat *= 2

    def try_the_beginning(self) -> None:
        """Continue at the farthest place; the rules move it towards the goal if that fails."""
        self._move_to(0)

    def _move_back(self) -> None:
        self._reached, self._retreat = self.at, 1
        if self.at == 0:
            self.is_mastered = True
            return
        self._move_to(max(0, self.at - self._stride))
        self._stride *= 2

    def _skip(self) -> None:
        if self.at > 0:
            self._reached = self.at
            self._move_to(self.at - 1)
            return
        self.time = min(MAX_TIME, 2 * self.time)
        self._undecided = 0

    def _move_to(self, place: int) -> None:
        self.at = place
        self._undecided = self._failing = 0
        self._outcomes.clear()
        self.is_mastered = False

    def state_dict(self) -> dict[str, Any]:
        return {
            "places": self.places,
            "at": self.at,
            "reached": self._reached,
            "stride": self._stride,
            "retreat": self._retreat,
            "failing": self._failing,
            "undecided": self._undecided,
            "time": self.time,
            "outcomes": list(self._outcomes),
            "is_home": self.is_mastered,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore; ValueError for another number of places."""
        if state["places"] != self.places:
            raise ValueError(
                f"the frontier was saved with {state['places']} places, not {self.places}"
            )
        self.at, self._reached = state["at"], state["reached"]
        self._stride, self.is_mastered = state["stride"], state["is_home"]
        self._retreat, self._failing = state.get("retreat", 1), state.get("failing", 0)
        self._undecided, self.time = state.get("undecided", 0), state.get("time", 1)
        self._outcomes = deque(state["outcomes"], self._outcomes.maxlen)
