"""The subtasks of demonstrations, with the starts and outcomes of attempts at each."""

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rlaif.game.captures.capture import PackedKeyframe
from rlaif.trainer.curriculum.demonstrations import Demonstration, KeptState, Segment, segments
from rlaif.trainer.play.frontier import Frontier, SubtaskFigures
from rlaif.trainer.search.marks import Marks
from rlaif.trainer.settings.learning import CurriculumSettings

SLACK_FRAMES = 240
"""Added to the multiple of the demonstration's frames: four seconds, for goals that are a step
away."""

_MIN_WEIGHT = 0.1
"""Weight of a subtask that always succeeds, compared with 1 for one that always fails. It must be
positive, because a policy forgets what it does not play."""

_ARRIVALS = 4
"""Number of states stored per subtask at which episodes arrived at its beginning; the newest are
kept."""

_UNDECIDED = 8
"""Windows of attempts without a decision after which a start state is skipped as one decided by
chance."""

_WINDOW = 32
"""Window, in attempts from any start state, of a subtask's success rate."""


def limit(frames: int, patience: float) -> int:
    """Return the maximum frames of an attempt for which the demonstration took `frames`."""
    return round(frames * patience) + SLACK_FRAMES


class Subtask:
    """A part of a demonstration between two goals, as seen by one environment runner.

    Attributes:
        demonstration, segment: The part.
        before, after: Its neighbours on the same demonstration; None at the ends.
        frontier: The start state to start from.
        arrivals: States in which episodes arrived at its beginning.
    """

    def __init__(
        self, demonstration: Demonstration, segment: Segment, settings: CurriculumSettings
    ) -> None:
        """Start with the frontier at the goal."""
        self.demonstration, self.segment, self._settings = demonstration, segment, settings
        self.before: Subtask | None = None
        self.after: Subtask | None = None
        self.frontier = Frontier(
            len(segment.starts),
            tries=settings.tries,
            success=settings.success,
            undecided=_UNDECIDED * settings.tries,
        )
        self.arrivals: deque[PackedKeyframe] = deque(maxlen=_ARRIVALS)
        self._tries = 0
        self._outcomes: deque[bool] = deque(maxlen=_WINDOW)

    @property
    def key(self) -> str:
        """Unique key in statistics and checkpoints."""
        return f"{self.demonstration.name}/{self.segment.number}"

    @property
    def ends(self) -> tuple[str, str]:
        """Digests of its first and last start state; subtasks with equal digests are the same."""
        return _ends(self.demonstration, self.segment)

    @property
    def goal(self) -> Marks:
        return self.segment.goal

    @property
    def later(self) -> "Iterator[Subtask]":
        """The subtasks after it on the same demonstration."""
        subtask = self.after
        while subtask is not None:
            yield subtask
            subtask = subtask.after

    def state(self, place: int) -> KeptState:
        """Return a start state; place 0 is the farthest from the goal."""
        return self.demonstration.states[self.segment.starts[place]]

    def max_frames(self, place: int) -> int:
        """Return the maximum game frames of an attempt from a place."""
        needed = self.demonstration.frames_between(self.state(place).at, self.segment.last)
        return limit(needed, self._settings.patience * self.frontier.time)

    @property
    def weight(self) -> float:
        """Weight in the draw of a subtask: 1, or its failure rate once it is mastered.

        So weak subtasks get the episodes that strong ones no longer need.
        """
        frontier = self.frontier
        if not frontier.is_mastered or frontier.success is None:
            return 1.0
        return max(_MIN_WEIGHT, 1.0 - frontier.success)

    def draw_place(self, rng: np.random.Generator) -> int:
        """Draw the place to start at: the frontier, or with the chance `behind` one behind it."""
        frontier = self.frontier
        if frontier.at == frontier.places - 1 or rng.random() >= self._settings.behind:
            return frontier.at
        return int(rng.integers(frontier.at + 1, frontier.places))

    def note(self, place: int, *, success: bool) -> None:
        """Record the outcome of an attempt from a place."""
        self._tries += 1
        self._outcomes.append(success)
        self.frontier.note(place, success=success)

    def arrival(self, rng: np.random.Generator) -> PackedKeyframe | None:
        """Draw a state of arrival; None: use the demonstration's state."""
        if not self.arrivals or rng.random() >= self._settings.arrived:
            return None
        return self.arrivals[int(rng.integers(len(self.arrivals)))]

    def figures(self) -> SubtaskFigures:
        frontier, outcomes = self.frontier, self._outcomes
        return SubtaskFigures(
            demonstration=self.demonstration.name,
            begins_with=() if self.before is None else tuple(sorted(self.before.goal)),
            goal=tuple(sorted(self.goal)),
            places=frontier.places,
            at=frontier.at,
            is_mastered=frontier.is_mastered,
            tries=self._tries,
            success=frontier.success,
            success_anywhere=sum(outcomes) / len(outcomes) if outcomes else None,
        )

    def continue_from(self, earlier: "Sequence[Subtask]") -> None:
        """Keep the progress on other demonstrations of the same game.

        The same subtask resumes. One that leads to the goal of a mastered subtask by another
        trajectory is tried from its beginning first.
        """
        same_goal = [other for other in earlier if other.goal == self.goal]
        for other in same_goal:
            if other.ends == self.ends:
                self.load_state_dict(other.state_dict())
        if not self._tries and any(other.frontier.is_mastered for other in same_goal):
            self.frontier.try_the_beginning()

    def state_dict(self) -> dict[str, Any]:
        return {
            "frontier": self.frontier.state_dict(),
            "tries": self._tries,
            "outcomes": list(self._outcomes),
            "arrivals": [(each.data, each.sha256) for each in self.arrivals],
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore, unless the state is of another number of places."""
        if state["frontier"]["places"] != self.frontier.places:
            return
        self.frontier.load_state_dict(state["frontier"])
        self._tries = state["tries"]
        self._outcomes.extend(state["outcomes"])
        self.arrivals.extend(PackedKeyframe(*arrival) for arrival in state["arrivals"])


def subtasks_of(
    demonstrations: Sequence[Demonstration], settings: CurriculumSettings
) -> tuple[Subtask, ...]:
    """Return the subtasks of all demonstrations; those with equal start states are merged."""
    found: list[Subtask] = []
    for demonstration, segment, number in _numbered(demonstrations):
        if number < len(found):
            continue
        subtask = Subtask(demonstration, segment, settings)
        last = found[-1] if found else None
        if last is not None and (last.demonstration, last.segment.number + 1) == (
            demonstration,
            segment.number,
        ):
            subtask.before, last.after = last, subtask
        found.append(subtask)
    return tuple(found)


def subtasks_of_decisions(
    demonstrations: Sequence[Demonstration],
) -> dict[str, npt.NDArray[np.int64]]:
    """Return, by demonstration or noisy replay, the subtask of each decision.

    `[D] int64`, an index into `subtasks_of`; -1 after the last goal.
    """
    found = {each.name: np.full(each.length, -1, dtype=np.int64) for each in demonstrations}
    ends_at: dict[tuple[str, int], int] = {}
    for demonstration, segment, number in _numbered(demonstrations):
        found[demonstration.name][segment.first : segment.last] = number
        ends_at[demonstration.name, segment.last] = number
    for each in demonstrations:
        if each.part_of is not None:
            found[each.name][:] = ends_at.get(each.part_of, -1)
    return found


def _numbered(
    demonstrations: Sequence[Demonstration],
) -> Iterator[tuple[Demonstration, Segment, int]]:
    """Yield all segments with the index of their subtask."""
    whole = [each for each in demonstrations if each.part_of is None]
    numbers: dict[tuple[str, str], int] = {}
    for demonstration in whole:
        for segment in segments(demonstration, whole):
            ends = _ends(demonstration, segment)
            yield demonstration, segment, numbers.setdefault(ends, len(numbers))


def _ends(demonstration: Demonstration, segment: Segment) -> tuple[str, str]:
    first, last = segment.starts[0], segment.starts[-1]
    return demonstration.states[first].ram_sha256, demonstration.states[last].ram_sha256
