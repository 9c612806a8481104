"""Verifies trajectories of a search by replay; records decisions, flags and consumables."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address
from rlaif.trainer.curriculum.demonstrations import needed_marks
from rlaif.trainer.curriculum.player import Player
from rlaif.trainer.curriculum.replaying import check, split
from rlaif.trainer.curriculum.trajectories import Trajectory
from rlaif.trainer.play.start import plays_alone
from rlaif.trainer.search.cell import money_of, supplies_of
from rlaif.trainer.search.marks import Marks, marks_of

_HEALTH = address("wLinkHealth")


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
    def of(cls, ram: RamBlocks) -> "Inventory":
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


@dataclass(frozen=True)
class VerifiedTrajectory:
    """A verified trajectory.

    Attributes:
        trajectory: The trajectory.
        decided: Decisions of each section, without those during which the game runs on its own.
        marks: Flags at the start and after each section.
        had: The player's consumables at these timesteps.
    """

    trajectory: Trajectory
    decided: tuple[tuple[int, ...], ...]
    marks: tuple[Marks, ...]
    had: tuple[Inventory, ...]

    def needed(self, others: Sequence["VerifiedTrajectory"]) -> Marks:
        """Apply `needed_marks` to this trajectory."""
        return needed_marks(
            self._new_marks(), [frozenset().union(*other.marks) for other in others]
        )

    def parts(self, needed: Marks) -> list[tuple[int, int, Marks]]:
        """Return (first section, end section, new needed flags) of each part."""
        found: list[tuple[int, int, Marks]] = []
        first = 0
        for number, new in enumerate(self._new_marks(), start=1):
            if goal := new & needed:
                found.append((first, number, goal))
                first = number
        return found

    def _new_marks(self) -> list[Marks]:
        """Return the flags of each section that were not set before it."""
        seen, new = self.marks[0], []
        for marks in self.marks[1:]:
            new.append(marks - seen)
            seen |= marks
        return new


def verify(trajectory: Trajectory, player: Player) -> VerifiedTrajectory:
    """Replay a trajectory.

    Raises:
        TrajectoryMismatchError: The RAM differs from that of a node.
    """
    player.begin(trajectory.state)
    check(player.digest(), trajectory.digest, 0)
    decided, marks, had = [], [marks_of(player.ram)], [Inventory.of(player.ram)]
    for number, section in enumerate(trajectory.sections, start=1):
        made = []
        for decision, digits in split(section):
            if not plays_alone(player.ram):
                made.append(decision)
            player.press(decision, digits)
        check(player.digest(), section.digest, number)
        decided.append(tuple(made))
        marks.append(marks_of(player.ram))
        had.append(Inventory.of(player.ram))
    return VerifiedTrajectory(trajectory, tuple(decided), tuple(marks), tuple(had))
