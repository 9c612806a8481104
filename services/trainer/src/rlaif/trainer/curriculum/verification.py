"""Verifies trajectories of a search by replay, and divides them into parts that end at flags."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rlaif.game.captures.capture import PackedKeyframe, pack_keyframe, unpack_keyframe
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import has_control
from rlaif.trainer.curriculum.demonstrations import needed_marks
from rlaif.trainer.curriculum.player import Player
from rlaif.trainer.search.cell import money_of, supplies_of
from rlaif.trainer.search.marks import Marks, marks_of
from rlaif.trainer.search.tree import Node

_HEALTH = address("wLinkHealth")
_PLACE = tuple(map(address, ("wActiveGroup", "wActiveRoom")))
_SET = tuple(map(address, ("wRoomStateModifier", "wSwitchState", "wToggleBlocksState")))
_KINDS_OF_MONEY = 2

Quantities = tuple[int, ...]
"""Quarter hearts, money of each kind, supplies of each kind, such as bombs."""


def place_of(ram: RamBlocks) -> tuple[int, ...]:
    """Return the player's (group, room)."""
    return tuple(map(ram.u8, _PLACE))


def sufficient(along: Sequence[Quantities]) -> Quantities:
    """Estimate what a trajectory needs at its start, from the quantities along it.

    That is half of the health, because a trained policy is hurt less, all the money that the
    trajectory spends, and one of each supply that it uses, because a search wastes most of what it
    has, and enemies and plants drop new ones.
    """
    health, *_ = along[0]
    _, *spent = (quantity[0] - min(quantity) for quantity in zip(*along, strict=True))
    money, supplies = spent[:_KINDS_OF_MONEY], spent[_KINDS_OF_MONEY:]
    return (health // 2, *money, *(min(1, used) for used in supplies))


class Moment(NamedTuple):
    """The part of a state on which the rest of a trajectory may depend.

    Attributes:
        place: See `place_of`.
        set: Persistent state without a flag: the season, switches and toggled blocks. If the pull
            of a lever had been cut out, the next part would still start behind the gate that it
            opens, where no policy could arrive from the part before.
        marks: Flags that are set.
        has: Possessions of the player.
    """

    place: tuple[int, ...]
    set: tuple[int, ...]
    marks: Marks
    has: Quantities

    @classmethod
    def of(cls, ram: RamBlocks) -> "Moment":
        has = (ram.u8(_HEALTH), *money_of(ram), *supplies_of(ram))
        return cls(place_of(ram), tuple(map(ram.u8, _SET)), marks_of(ram), has)


class Goal(NamedTuple):
    """The condition for the end of a part.

    Attributes:
        marks: Flags that must have been seen.
        end: The required moment: place and `set`, and at least its flags and quantities.
    """

    marks: Marks
    end: Moment

    def is_reached(self, ram: RamBlocks, seen: Marks) -> bool:
        """Whether a part with these seen flags may end in this state."""
        if not self.marks <= seen or not has_control(ram):
            return False
        now, end = Moment.of(ram), self.end
        enough = all(had >= needed for had, needed in zip(now.has, end.has, strict=True))
        return now[:2] == end[:2] and end.marks <= now.marks and enough


@dataclass(frozen=True)
class Part:
    """A part of a trajectory, from one needed flag to the next.

    Attributes:
        state: Its first save state.
        key: Equal for parts with equal start, decisions and goal, in any trajectory. The goal
            depends on the rest of the trajectory: what that spends must be left.
        decisions: Its decisions.
        goal: Condition of its end.
    """

    state: PackedKeyframe
    key: str
    decisions: tuple[int, ...]
    goal: Goal


@dataclass(frozen=True)
class VerifiedTrajectory:
    """A trajectory whose replay leads to the recorded states.

    Attributes:
        nodes: Its nodes.
        moments: The moment at each node.
        states: Save states at those nodes at which flags are new.
    """

    nodes: Sequence[Node]
    moments: Sequence[Moment]
    states: dict[int, PackedKeyframe]

    def needed(self, others: Sequence["VerifiedTrajectory"]) -> Marks:
        """Apply `needed_marks` to this trajectory."""
        reached = (frozenset().union(*(each.marks for each in other.moments)) for other in others)
        return needed_marks(self._new_marks(), reached)

    def parts(self, needed: Marks) -> Iterator[Part]:
        """Divide it at its needed flags."""
        first = 0
        for last, new in enumerate(self._new_marks(), start=1):
            if not new & needed:
                continue
            end, had = self.moments[last], [each.has for each in self.moments[last:]]
            end = end._replace(marks=end.marks & needed - new, has=sufficient(had))
            goal = Goal(new & needed, end)
            played = [each.decisions for each in self.nodes[first + 1 : last + 1]]
            decisions = tuple(decision for node in played for decision, _ in node)
            required = (sorted(goal.marks), sorted(end.marks), end.place, end.set, end.has)
            identity = (self.nodes[first].digest, played, required)
            key = hashlib.sha256(repr(identity).encode()).hexdigest()
            yield Part(self.states[first], key, decisions, goal)
            first = last

    def _new_marks(self) -> list[Marks]:
        """Return the flags at each node after the first that were not set before it."""
        seen, new = self.moments[0].marks, []
        for moment in self.moments[1:]:
            new.append(moment.marks - seen)
            seen |= moment.marks
        return new


def verify(
    nodes: Sequence[Node], state: PackedKeyframe, player: Player
) -> VerifiedTrajectory | None:
    """Replay a trajectory from the state of its first node; None if the RAM differs at any node."""
    moments: list[Moment] = []
    states: dict[int, PackedKeyframe] = {}
    seen: Marks = frozenset()
    player.begin(unpack_keyframe(*state))
    for number, node in enumerate(nodes):
        for decision, _ in node.decisions:
            player.decide(decision)
        if player.digest() != node.digest:
            return None
        moments.append(Moment.of(player.ram))
        if not (number and moments[-1].marks <= seen):
            states[number] = pack_keyframe(player.save())
        seen |= moments[-1].marks
    return VerifiedTrajectory(nodes, moments, states)
