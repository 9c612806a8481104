"""A way through the game that was found, as a policy can learn it: a recorded play in arrays."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field

from rlaif.contracts.captures import EmulatorIdentity, GameIdentity
from rlaif.game.captures.capture import PackedKeyframe
from rlaif.game.decisions.catalog import Arm
from rlaif.trainer.search.marks import HALF, WHOLE, Marks, weight_of

Float32 = npt.NDArray[np.float32]


class DemonstrationIdentity(BaseModel):
    """All that a demonstration depends on: in another game, or of other decisions, it is none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    game: GameIdentity
    emulator: EmulatorIdentity
    actions: Arm = Field(description="Which decisions it is made of.")
    decisions: int = Field(ge=1, description="How many decisions there are to choose from.")
    inputs: int = Field(ge=0, description="Numbers of a policy input.")
    layout: str = Field(description="Digest of what all those numbers and decisions mean.")

    def mismatch(self, other: "DemonstrationIdentity") -> str | None:
        """What differs, in words; None when nothing does."""
        for name in type(self).model_fields:
            mine, its = getattr(self, name), getattr(other, name)
            if mine != its:
                return f"{name} {mine}, this run has {its}"
        return None


class KeptState(NamedTuple):
    """A moment on the way to start from.

    Attributes:
        at: Decisions played before it.
        ram_sha256: Digest of the game's RAM in it.
    """

    at: int
    keyframe: PackedKeyframe
    ram_sha256: str


class Reached(NamedTuple):
    """Marks that were first there after `at` decisions."""

    at: int
    marks: Marks


@dataclass(frozen=True, eq=False)
class Demonstration:
    """D decisions from power-on, or a part of such a play once more, with noise.

    Attributes:
        name: Tells it from others; a part of ids, so letters, digits and dashes.
        decisions: `[D] int64`, what was decided.
        imitated: `[D] bool`, False for what is no example: noise that was put in, and what the mask
            of the moment does not let a policy choose.
        frames: `[D] int32`, game frames that each took, waits included.
        rewards: `[D] float32`, the sum of what the game paid for each.
        observations: `[D + 1, 128] float32`, before each decision and after the last.
        policy_inputs: `[D + 1, SIZE] float32`, the policy's own input then.
        reached: Marks in the order in which they came; those of the start are not among them.
        states: Moments to start from, in order; the first one is that of no decision.
        part_of: For a part with noise: the demonstration, and its decisions before the moment where
            the part ends. None: a demonstration of its own.
    """

    name: str
    identity: DemonstrationIdentity
    decisions: npt.NDArray[np.int64]
    imitated: npt.NDArray[np.bool_]
    frames: npt.NDArray[np.int32]
    rewards: Float32
    observations: Float32
    policy_inputs: Float32
    reached: tuple[Reached, ...]
    states: tuple[KeptState, ...]
    part_of: tuple[str, int] | None = None

    def __post_init__(self) -> None:
        length = len(self.decisions)
        for name, rows in (
            ("imitated", length),
            ("frames", length),
            ("rewards", length),
            ("observations", length + 1),
            ("policy_inputs", length + 1),
        ):
            found = len(getattr(self, name))
            if found != rows:
                raise ValueError(f"{found} rows of {name} for {length} decisions: give {rows}")
        moments = [state.at for state in self.states] + [each.at for each in self.reached]
        if any(not 0 <= at <= length for at in moments):
            raise ValueError(f"a state or mark lies outside of the {length} decisions")

    @property
    def length(self) -> int:
        """How many decisions."""
        return len(self.decisions)

    @property
    def marks(self) -> Marks:
        """All marks it reached."""
        return frozenset().union(*(each.marks for each in self.reached))

    def needed(self, others: Iterable["Demonstration"]) -> Marks:
        """See `needed_marks`."""
        return needed_marks([each.marks for each in self.reached], [each.marks for each in others])

    def without_rows(self) -> "Demonstration":
        """The same without what a policy saw: all that starts need, and little memory."""
        nothing = np.zeros((self.length + 1, 0), dtype=np.float32)
        return replace(self, observations=nothing, policy_inputs=nothing)

    def frames_between(self, first: int, last: int) -> int:
        """Game frames from the moment after `first` decisions to that after `last`."""
        return int(self.frames[first:last].sum())


@dataclass(frozen=True)
class Segment:
    """The part of a demonstration from one lasting mark to the next.

    Attributes:
        number: Of the segment in its demonstration, from 0.
        first: Decisions played at its beginning.
        last: Decisions played when `goal` was reached.
        goal: The marks that were new at its end. An episode succeeds that has them, however.
        starts: Index of each of the demonstration's states inside, the nearest to the goal last.
    """

    number: int
    first: int
    last: int
    goal: Marks
    starts: tuple[int, ...]


def needed_marks(reached: Sequence[Marks], others: Iterable[Marks]) -> Marks:
    """Of the marks that a way reached, one after the other, those that its end took.

    It ends with the last mark that counts whole: a map that it went back for afterwards leads
    nowhere. What another way does not have that came to this end too was taken along.

    Args:
        reached: Marks that were new at each moment, in order.
        others: All that each other way reached; its own may be among them.
    """
    news = [weighty(marks) for marks in reached if weighty(marks)]
    whole = [at for at, new in enumerate(news) if any(weight_of(mark) >= WHOLE for mark in new)]
    news = news[: whole[-1] + 1] if whole else news
    needed = frozenset[str]().union(*news)
    for other in others:
        if news and news[-1] <= other:
            needed &= other
    return needed


def weighty(marks: Marks) -> Marks:
    """Those of the marks that weigh something in a level."""
    return frozenset(mark for mark in marks if weight_of(mark) >= HALF)


def segments(
    demonstration: Demonstration, needed: Marks, *, least_decisions: int = 2
) -> tuple[Segment, ...]:
    """Its parts between needed marks; what follows the last of them belongs to none.

    Marks that come less than `least_decisions` after the ones before share a segment with them.
    """
    found: list[Segment] = []
    first, goal = 0, frozenset[str]()
    wanted = [(each.at, each.marks & needed) for each in demonstration.reached]
    wanted = [(at, marks) for at, marks in wanted if marks]
    for index, (at, marks) in enumerate(wanted):
        goal |= marks
        is_last = index == len(wanted) - 1
        if at - first < least_decisions and not is_last:
            continue
        starts = _states_between(demonstration.states, first, at)
        if not starts:
            continue
        found.append(Segment(len(found), first, at, goal, starts))
        first, goal = at, frozenset()
    return tuple(found)


def _states_between(states: Sequence[KeptState], first: int, last: int) -> tuple[int, ...]:
    return tuple(index for index, state in enumerate(states) if first <= state.at < last)
