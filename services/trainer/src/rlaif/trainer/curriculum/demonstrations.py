"""Demonstrations: recorded trajectories as arrays from which a policy can learn."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field

from rlaif.contracts.game.captures import EmulatorIdentity, GameIdentity
from rlaif.game.captures.capture import PackedKeyframe
from rlaif.game.decisions.catalog import COUNT, DECISIONS, Arm
from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.motion.things import KINDS
from rlaif.game.policy_input.layout import INPUT_VERSION, POLICY_INPUT, SIZE
from rlaif.trainer.search.marks import HALF, WHOLE, Marks, weight_of

Float32 = npt.NDArray[np.float32]


class DemonstrationIdentity(BaseModel):
    """What a demonstration depends on; it cannot be used with another game or action set."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    game: GameIdentity
    emulator: EmulatorIdentity
    actions: Arm = Field(description="Action set of its decisions.")
    decisions: int = Field(ge=1, description="Size of the action set.")
    inputs: int = Field(ge=0, description="Length of a policy input.")
    layout: str = Field(description="Digest of the meaning of all inputs and decisions.")

    def mismatch(self, other: "DemonstrationIdentity") -> str | None:
        """Describe the first difference; None if there is none."""
        for name in type(self).model_fields:
            mine, its = getattr(self, name), getattr(other, name)
            if mine != its:
                return f"{name} {mine}, this run has {its}"
        return None


def identity_of(cartridge: Cartridge, emulator: Emulator, actions: Arm) -> DemonstrationIdentity:
    """Return what demonstrations of this game and action set depend on."""
    meaning = (
        INPUT_VERSION,
        [(field.name, field.slots, field.codes) for field in POLICY_INPUT.fields],
        KINDS,
        [decision.name for decision in DECISIONS],
    )
    return DemonstrationIdentity(
        game=cartridge.identity,
        emulator=emulator.identity,
        actions=actions,
        decisions=COUNT,
        inputs=SIZE,
        layout=hashlib.sha256(repr(meaning).encode()).hexdigest()[:16],
    )


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
                raise ValueError(f"{found} rows of {name} for {length} decisions: expected {rows}")
        timesteps = [state.at for state in self.states] + [each.at for each in self.reached]
        if any(not 0 <= at <= length for at in timesteps):
            raise ValueError(f"a state or flag is outside the {length} decisions")

    @property
    def length(self) -> int:
        return len(self.decisions)

    @property
    def marks(self) -> Marks:
        """All flags that it reached."""
        return frozenset().union(*(each.marks for each in self.reached))

    def needed(self, others: Iterable["Demonstration"]) -> Marks:
        """Apply `needed_marks` to this demonstration."""
        return needed_marks([each.marks for each in self.reached], [each.marks for each in others])

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
    news = [weighty(marks) for marks in reached if weighty(marks)]
    whole = [at for at, new in enumerate(news) if any(weight_of(mark) >= WHOLE for mark in new)]
    news = news[: whole[-1] + 1] if whole else news
    needed = frozenset[str]().union(*news)
    for other in others:
        if news and news[-1] <= other:
            needed &= other
    return needed


def weighty(marks: Marks) -> Marks:
    """Return the flags with at least half weight."""
    return frozenset(mark for mark in marks if weight_of(mark) >= HALF)


def segments(
    demonstration: Demonstration, needed: Marks, *, min_decisions: int = 2
) -> tuple[Segment, ...]:
    """Split a demonstration at its needed flags; what follows the last of them is left out.

    Flags that are set less than `min_decisions` after the previous ones share a subtask with them.
    """
    found: list[Segment] = []
    first, goal = 0, frozenset[str]()
    wanted = [(each.at, each.marks & needed) for each in demonstration.reached]
    wanted = [(at, marks) for at, marks in wanted if marks]
    for index, (at, marks) in enumerate(wanted):
        goal |= marks
        is_last = index == len(wanted) - 1
        if at - first < min_decisions and not is_last:
            continue
        starts = _states_between(demonstration.states, first, at)
        if not starts:
            continue
        found.append(Segment(len(found), first, at, goal, starts))
        first, goal = at, frozenset()
    return tuple(found)


def _states_between(states: Sequence[KeptState], first: int, last: int) -> tuple[int, ...]:
    return tuple(index for index, state in enumerate(states) if first <= state.at < last)


def of_one_order(demonstrations: Sequence[Demonstration]) -> tuple[Demonstration, ...]:
    """Return the demonstrations that reach shared goals in the order of the first, and their parts.

    The first is the one with the highest level, as in a library.
    """
    whole = [each for each in demonstrations if each.part_of is None]
    if not whole:
        return tuple(demonstrations)
    goals = [each.goal for each in segments(whole[0], whole[0].needed(whole))]
    kept = {each.name for each in whole if _agrees((one.marks for one in each.reached), goals)}
    return tuple(
        each
        for each in demonstrations
        if (each.name if each.part_of is None else each.part_of[0]) in kept
    )


def _agrees(reached: Iterable[Marks], goals: Sequence[Marks]) -> bool:
    """Whether each goal is reached only after all goals before it."""
    turn = {mark: number for number, goal in enumerate(goals) for mark in goal}
    known: set[str] = set()
    for marks in reached:
        known |= marks
        latest = max((turn[mark] for mark in marks if mark in turn), default=0)
        if any(not goal <= known for goal in goals[:latest]):
            return False
    return True
