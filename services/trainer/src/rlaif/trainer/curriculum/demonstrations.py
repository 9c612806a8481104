"""Demonstrations: recorded trajectories as arrays from which a policy can learn."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rlaif.game.captures.capture import PackedKeyframe
from rlaif.trainer.search.marks import HALF, WHOLE, Marks, weight_of

Float32 = npt.NDArray[np.float32]

_MIN_DECISIONS = 2
"""Minimum number of decisions of a subtask."""


class KeptState(NamedTuple):
    """A start state on a demonstration.

    Attributes:
        at: Number of decisions before it.
        ram_sha256: Digest of its RAM.
    """

    at: int
    keyframe: PackedKeyframe
    ram_sha256: str


class Reached(NamedTuple):
    """Flags that were first set after `at` decisions."""

    at: int
    marks: Marks


@dataclass(frozen=True, eq=False)
class Demonstration:
    """D decisions from power-on, or a noisy replay of a part of them.

    Attributes:
        name: Unique name; a part of ids, so letters, digits and dashes.
        decisions: `[D] int64`.
        imitated: `[D] bool`, False for injected noise and for decisions that the mask forbids.
        frames: `[D] int32`, game frames of each decision, including waits.
        rewards: `[D] float32`, sum of the game's reward during each decision.
        observations: `[D + 1, 128] float32`, before each decision and after the last.
        policy_inputs: `[D + 1, SIZE] float32`, the policy's own input at these timesteps.
        reached: Flags in the order in which they were set, without those of the start.
        states: Start states in order; the first one is before any decision.
        part_of: Of a noisy replay: name of the demonstration, and the number of decisions before
            the timestep at which the replay ends. None for a demonstration.
    """

    name: str
    decisions: npt.NDArray[np.int64]
    imitated: npt.NDArray[np.bool_]
    frames: npt.NDArray[np.int32]
    rewards: Float32
    observations: Float32
    policy_inputs: Float32
    reached: tuple[Reached, ...]
    states: tuple[KeptState, ...]
    part_of: tuple[str, int] | None = None

    @property
    def length(self) -> int:
        return len(self.decisions)

    @property
    def marks(self) -> Marks:
        """All flags that it reached."""
        return frozenset().union(*(each.marks for each in self.reached))

    def without_rows(self) -> "Demonstration":
        """Return a copy without the policy's inputs, to save memory where only starts matter."""
        nothing = np.zeros((self.length + 1, 0), dtype=np.float32)
        return replace(self, observations=nothing, policy_inputs=nothing)

    def frames_between(self, first: int, last: int) -> int:
        """Return the game frames from the timestep after `first` decisions to that after `last`."""
        return int(self.frames[first:last].sum())


@dataclass(frozen=True)
class Segment:
    """A subtask: the part of a demonstration between two goals.

    Attributes:
        number: Index in its demonstration.
        first: Number of decisions before its beginning.
        last: Number of decisions before its goal.
        goal: New flags at its end. An episode with these flags succeeds, however it got them.
        starts: Indices of the start states inside, the one nearest to the goal last.
    """

    number: int
    first: int
    last: int
    goal: Marks
    starts: tuple[int, ...]


def needed_marks(reached: Sequence[Marks], others: Iterable[Marks]) -> Marks:
    """Return the flags of a trajectory that its end requires.

    The trajectory ends with the last flag of full weight; a map that it fetched afterwards leads
    nowhere. A flag is unnecessary if another trajectory reached the same end without it.

    Args:
        reached: New flags at each timestep, in order.
        others: All flags of each other trajectory; may include this one.
    """
    weighty = [frozenset(mark for mark in new if weight_of(mark) >= HALF) for new in reached]
    news = [new for new in weighty if new]
    whole = [at for at, new in enumerate(news) if any(weight_of(mark) >= WHOLE for mark in new)]
    news = news[: whole[-1] + 1] if whole else news
    needed = frozenset[str]().union(*news)
    for other in others:
        if news and news[-1] <= other:
            needed &= other
    return needed


def segments(
    demonstration: Demonstration, others: Sequence[Demonstration] = ()
) -> tuple[Segment, ...]:
    """Split a demonstration at the flags that its end requires; the rest is left out.

    A flag is unnecessary if one of the others reached the same end without it. Flags that are set
    in the decision after the previous ones share a subtask with them.
    """
    needed = needed_marks(
        [each.marks for each in demonstration.reached], [each.marks for each in others]
    )
    wanted = [(at, marks & needed) for at, marks in demonstration.reached if marks & needed]
    found: list[Segment] = []
    first, goal = 0, frozenset[str]()
    for at, marks in wanted:
        goal |= marks
        is_short = at - first < _MIN_DECISIONS and at != wanted[-1][0]
        starts = tuple(
            index for index, state in enumerate(demonstration.states) if first <= state.at < at
        )
        if starts and not is_short:
            found.append(Segment(len(found), first, at, goal, starts))
            first, goal = at, frozenset()
    return tuple(found)


def of_one_order(demonstrations: Sequence[Demonstration]) -> tuple[Demonstration, ...]:
    """Return the demonstrations that reach shared goals in the order of the first, and their parts.

    The first is the one with the highest level, as in a library.
    """
    whole = [each for each in demonstrations if each.part_of is None]
    goals = [each.goal for each in segments(whole[0], whole)]
    kept = {each.name for each in whole if _is_in_order(each, goals)}
    names = [each.name if each.part_of is None else each.part_of[0] for each in demonstrations]
    return tuple(each for each, name in zip(demonstrations, names, strict=True) if name in kept)


def _is_in_order(demonstration: Demonstration, goals: Sequence[Marks]) -> bool:
    """Whether it completes these goals in their order, as far as it does."""
    turns = {mark: at for at, marks in demonstration.reached for mark in marks}
    completed = [max(turns.get(mark, demonstration.length + 1) for mark in goal) for goal in goals]
    return completed == sorted(completed)
