"""The player's consumables, and how much of them the rest of a trajectory needs."""

from collections.abc import Sequence
from typing import NamedTuple

from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address
from rlaif.trainer.search.supplies import money_of, supplies_of

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
