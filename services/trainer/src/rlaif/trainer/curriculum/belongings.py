"""What the player has of what comes and goes: RAM in, what the rest of a way takes of it out."""

from collections.abc import Sequence
from typing import NamedTuple

from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address
from rlaif.trainer.search.supplies import money_of, supplies_of

_HEALTH = address("wLinkHealth")


class Belongings(NamedTuple):
    """What may decide whether the rest of a way can be gone.

    Attributes:
        health: Quarter hearts.
        money: Of each kind.
        supplies: Of each kind, such as bombs; enemies and plants leave new ones.
    """

    health: int
    money: tuple[int, ...]
    supplies: tuple[int, ...]

    @classmethod
    def of(cls, ram: RamBlocks) -> "Belongings":
        """What the player has at a moment."""
        return cls(ram.u8(_HEALTH), money_of(ram), supplies_of(ram))

    def cover(self, other: "Belongings") -> bool:
        """Whether there is as much of everything."""
        mine, its = ((each.health, *each.money, *each.supplies) for each in (self, other))
        return all(has >= needed for has, needed in zip(mine, its, strict=True))


def enough_for(moments: Sequence[Belongings]) -> Belongings:
    """With how much the same way can likely be gone, of what he had at each of its moments.

    All the money that it takes; of supplies one, as a search throws away most of what it has, and
    of health a half, as play that knows the way is hurt less.
    """
    first = moments[0]
    money = (each.money for each in moments)
    supplies = (each.supplies for each in moments)
    return Belongings(
        first.health // 2,
        tuple(had - min(later) for had, *later in zip(first.money, *money, strict=True)),
        tuple(
            min(1, had - min(later)) for had, *later in zip(first.supplies, *supplies, strict=True)
        ),
    )
