"""How far back from a goal play still reaches it: outcomes of tries in, the next start out.

Source: Salimans & Chen 2018, arXiv 1812.03381: starts move from the end of a demonstration to its
beginning, each time the policy reaches the end often enough. Strides that double, and a step
towards the goal after one that was too long, are ours: after imitation a policy knows most of the
way, and a frontier that looks at each place of it would spend most tries on what is known. So is
going back towards the goal where attempts keep failing, and passing a place that chance decides.
"""

from collections import deque
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
        """From `plain`; a checkpoint of 0.1.0 has only the list of segments."""
        legs, whole = (saved["legs"], saved["whole"]) if isinstance(saved, dict) else (saved, ())
        return cls(tuple(LegFigures(*leg) for leg in legs), tuple(map(bool, whole)))


TOO_FAR = 0.1
"""Success at or below which a stride of several places is halved, or given up."""

PATIENCE = 3
"""Windows of attempts that may fail at a place next to one that succeeded."""

MAX_TIME = 4
"""Maximum factor of the time of an attempt."""


class Frontier:
    """Places on the way to one goal, numbered from the farthest, 0, to the nearest.

    Attributes:
        at: The place to start from now. It moves back where tries succeed, and towards the goal
            where they fail.
        places: How many there are.
        time: Factor of the time of an attempt, 1 to MAX_TIME.
    """

    def __init__(self, places: int, *, tries: int, success: float, undecided: int = 0) -> None:
        """Begin at the nearest of `places`; move when more than `success` of `tries` succeed.

        With `undecided`, a place is passed after so many tries, in all since it was come to, at
        whose end some of the last ones had succeeded and not enough. At the farthest, where there
        is nothing to pass to, tries get twice the time, also where none succeeds.
        """
        if places < 1 or tries < 1 or not 0 < success < 1:
            raise ValueError(
                f"{places} places, {tries} tries and success {success}: give at least one place "
                "and one attempt, and a share between 0 and 1"
            )
        self.places = places
        self.at = places - 1
        self.time = 1
        self._tries, self._success = tries, success
        self._most_undecided, self._undecided = undecided, 0
        self._reached = places
        self._stride = self._retreat = 1
        self._failing = 0
        self._outcomes: deque[bool] = deque(maxlen=tries)
        self._is_home = False

    @property
    def is_home(self) -> bool:
        return self._is_home

    @property
    def success(self) -> float | None:
        """Share of the last tries from `at` that succeeded; None while there are none."""
        if not self._outcomes:
            return None
        return sum(self._outcomes) / len(self._outcomes)

    def note(self, place: int, *, success: bool) -> None:
        if place != self.at:
            return
        self._outcomes.append(success)
        if len(self._outcomes) < self._tries:
            return
        rate = sum(self._outcomes) / self._tries
        if rate > self._success:
            self._move_back()
            return
        self._stride = 1
        self._is_home = False
        self._failing = self._failing + 1 if rate <= TOO_FAR else 0
        if not self._failing or self.at == 0:
            self._undecided += 1
        if self._most_undecided and self._undecided >= self._most_undecided:
            self._pass()
        elif self._failing and self._reached - self.at > 1:
            self._move_to(self.at + (self._reached - self.at) // 2)
        elif self._failing > (PATIENCE - 1) * self._tries and self.at < self.places - 1:
            self._move_to(min(self.places - 1, self.at + self._retreat))
            self._reached = self.at + 1
            self._retreat *= 2

    def _move_back(self) -> None:
        self._reached, self._retreat = self.at, 1
        if self.at == 0:
            self._is_home = True
            return
        self._move_to(max(0, self.at - self._stride))
        self._stride *= 2

    def _pass(self) -> None:
        if self.at > 0:
            self._reached = self.at
            self._move_to(self.at - 1)
            return
        self.time = min(MAX_TIME, 2 * self.time)
        self._undecided = 0

    def _move_to(self, place: int) -> None:
        self.at = place
        self._undecided = 0
        self._outcomes.clear()
        self._failing = 0
        self._is_home = False

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
            "is_home": self._is_home,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Resume with what `state_dict` gave; of another number of places it is a ValueError."""
        if state["places"] != self.places:
            raise ValueError(
                f"the frontier was saved of {state['places']} places, not of {self.places}"
            )
        self.at, self._reached = state["at"], state["reached"]
        self._stride, self._is_home = state["stride"], state["is_home"]
        self._retreat, self._failing = state.get("retreat", 1), state.get("failing", 0)
        self._undecided, self.time = state.get("undecided", 0), state.get("time", 1)
        self._outcomes = deque(state["outcomes"], maxlen=self._tries)
