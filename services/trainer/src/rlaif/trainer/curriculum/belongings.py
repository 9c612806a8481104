"""What the player has of what comes and goes, and his small finds: RAM in, a comparison out."""

from typing import NamedTuple

from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address
from rlaif.trainer.search.marks import Marks, marks_of
from rlaif.trainer.search.supplies import money_of, supplies_of

_HEALTH = address("wLinkHealth")
_SPARED = 2
"""Quarter hearts that may be missing: a hit more on a shorter way is worth it."""


class Belongings(NamedTuple):
    """What may decide whether the rest of a way can be gone.

    Attributes:
        health: Quarter hearts.
        supplies: Money, bombs, seeds.
    """

    health: int
    supplies: tuple[int, ...]
    marks: Marks

    @classmethod
    def of(cls, ram: RamBlocks) -> "Belongings":
        """What the player has at a moment."""
        return cls(ram.u8(_HEALTH), (*money_of(ram), *supplies_of(ram)), marks_of(ram))

    def cover(self, other: "Belongings") -> bool:
        """Whether nothing is missing that the other has, but for a hit."""
        return (
            self.health >= other.health - _SPARED
            and all(own >= its for own, its in zip(self.supplies, other.supplies, strict=True))
            and self.marks >= other.marks
        )
