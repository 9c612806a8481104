"""Verifies trajectories of a search by replay, and divides them into parts that end at flags."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from rlaif.game.captures.capture import PackedKeyframe, pack_keyframe, unpack_keyframe
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import has_control
from rlaif.trainer.curriculum.demonstrations import needed_marks
from rlaif.trainer.curriculum.player import Play, Player, TrajectoryMismatchError
from rlaif.trainer.curriculum.trajectories import Trajectory
from rlaif.trainer.search.cell import money_of, supplies_of
from rlaif.trainer.search.marks import Marks, marks_of

_HEALTH = address("wLinkHealth")
_PLACE = tuple(map(address, ("wActiveGroup", "wActiveRoom")))
_SET = tuple(map(address, ("wRoomStateModifier", "wSwitchState", "wToggleBlocksState")))


def place_of(ram: RamBlocks) -> tuple[int, ...]:
    """Return the player's (group, room)."""
    return tuple(map(ram.u8, _PLACE))


class Inventory(NamedTuple):
    """Quantities that may decide whether the rest of a trajectory can be played.

    Attributes:
        health: Quarter hearts.
        money: One number per kind.
        supplies: One number per kind, such as bombs; enemies and plants drop new ones.
    """

    health: int
    money: tuple[int, ...]
    supplies: tuple[int, ...]

    @classmethod
    def of(cls, ram: RamBlocks) -> Self:
        return cls(ram.u8(_HEALTH), money_of(ram), supplies_of(ram))

    def cover(self, other: "Inventory") -> bool:
        """Whether no quantity is below that of `other`."""
        mine, its = ((each.health, *each.money, *each.supplies) for each in (self, other))
        return all(has >= needed for has, needed in zip(mine, its, strict=True))


def sufficient_inventory(timesteps: Sequence[Inventory]) -> Inventory:
    """Estimate what the same trajectory needs, from the quantities along it.

    That is all the money it spends, one of each supply it uses, because a search wastes most of
    what it has, and half of its health, because a trained policy is hurt less.
    """
    first = timesteps[0]
    money = (each.money for each in timesteps)
    supplies = (each.supplies for each in timesteps)
    return Inventory(
        first.health // 2,
        tuple(had - min(later) for had, *later in zip(first.money, *money, strict=True)),
        tuple(
            min(1, had - min(later)) for had, *later in zip(first.supplies, *supplies, strict=True)
        ),
    )


class Moment(NamedTuple):
    """What the rest of a trajectory may depend on.

    Attributes:
        place: See `place_of`.
        set: Persistent state without a flag: the season, switches and toggled blocks. If the pull
            of a lever had been cut out, the next part would still start behind the gate that it
            opens, where no policy could arrive from the part before.
        marks: Flags that are set.
        has: The player's inventory.
    """

    place: tuple[int, ...]
    set: tuple[int, ...]
    marks: Marks
    has: Inventory

    @classmethod
    def of(cls, ram: RamBlocks) -> Self:
        return cls(place_of(ram), tuple(map(ram.u8, _SET)), marks_of(ram), Inventory.of(ram))


@dataclass(frozen=True)
class Goal:
    """The condition for the end of a part.

    Attributes:
        marks: Flags that must have been seen.
        end: The required moment: place and `set`, and at least its flags and inventory.
    """

    marks: Marks
    end: Moment

    def is_reached(self, ram: RamBlocks, seen: Marks) -> bool:
        """Whether a part with these seen flags may end in this state."""
        if not self.marks <= seen or not has_control(ram):
            return False
        now, end = Moment.of(ram), self.end
        return now[:2] == end[:2] and end.marks <= now.marks and now.has.cover(end.has)


@dataclass(frozen=True)
class Part:
    """A part of a trajectory, from one needed flag to the next.

    Attributes:
        state: Its first save state.
        digest: Digest of the RAM in that state.
        plays: Its decisions.
        goal: Where it must end.
    """

    state: PackedKeyframe
    digest: str
    plays: tuple[Play, ...]
    goal: Goal

    @property
    def steps(self) -> int:
        """Base steps."""
        return sum(len(play.buttons) for play in self.plays)

    @property
    def key(self) -> str:
        """Equal for parts with equal start and decisions, in any trajectory."""
        identity = (self.digest, self.plays, sorted(self.goal.marks))
        return hashlib.sha256(repr(identity).encode()).hexdigest()


@dataclass(frozen=True)
class VerifiedTrajectory:
    """A trajectory whose replay leads to the recorded states.

    Attributes:
        trajectory: The trajectory.
        moments: The start, and the end of each section.
        states: Save states at those moments at which flags are new.
    """

    trajectory: Trajectory
    moments: tuple[Moment, ...]
    states: dict[int, PackedKeyframe]

    def needed(self, others: Sequence["VerifiedTrajectory"]) -> Marks:
        """Apply `needed_marks` to this trajectory."""
        reached = (frozenset().union(*(each.marks for each in other.moments)) for other in others)
        return needed_marks(_new_marks(self.moments), reached)

    def parts(self, needed: Marks) -> Iterator[Part]:
        """Divide it at its needed flags."""
        first = 0
        sections = self.trajectory.sections
        digests = [self.trajectory.digest, *(section.digest for section in sections)]
        for last, new in enumerate(_new_marks(self.moments), start=1):
            if not new & needed:
                continue
            end, had = self.moments[last], [each.has for each in self.moments[last:]]
            kept = end.marks & needed - new
            goal = Goal(new & needed, end._replace(marks=kept, has=sufficient_inventory(had)))
            plays = tuple(play for section in sections[first:last] for play in section.plays)
            yield Part(self.states[first], digests[first], plays, goal)
            first = last


def _new_marks(moments: Sequence[Moment]) -> list[Marks]:
    """Return the flags of each section that were not set before it."""
    seen, new = moments[0].marks, []
    for moment in moments[1:]:
        new.append(moment.marks - seen)
        seen |= moment.marks
    return new


def verify(trajectory: Trajectory, player: Player) -> VerifiedTrajectory:
    """Replay a trajectory.

    Raises:
        TrajectoryMismatchError: The RAM differs from that of a node.
    """
    player.begin(unpack_keyframe(*trajectory.state))
    _check(player.digest(), trajectory.digest, 0)
    moments, states = [Moment.of(player.ram)], {0: trajectory.state}
    seen = moments[0].marks
    for number, section in enumerate(trajectory.sections, start=1):
        for play in section.plays:
            player.press(play.buttons)
        _check(player.digest(), section.digest, number)
        moments.append(Moment.of(player.ram))
        if not moments[-1].marks <= seen:
            seen |= moments[-1].marks
            states[number] = pack_keyframe(player.save())
    return VerifiedTrajectory(trajectory, tuple(moments), states)


def _check(found: str, expected: str, number: int) -> None:
    if found != expected:
        raise TrajectoryMismatchError(
            f"after {number} sections the RAM has digest {found[:12]}, expected "
            f"{expected[:12]}: it was recorded in another game or emulator"
        )
