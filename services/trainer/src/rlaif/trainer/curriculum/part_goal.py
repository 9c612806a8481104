"""Where a part of a way may end: what the rest of the way needs of that moment."""

from typing import NamedTuple

from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import has_control
from rlaif.trainer.curriculum.belongings import Belongings
from rlaif.trainer.search.marks import Marks, marks_of

_ROOM = tuple(map(address, ("wActiveGroup", "wActiveRoom")))
_SET = tuple(map(address, ("wRoomStateModifier", "wSwitchState", "wToggleBlocksState")))


def room_of(ram: RamBlocks) -> tuple[int, ...]:
    """(group, room) of the player."""
    return tuple(map(ram.u8, _ROOM))


def set_in(ram: RamBlocks) -> tuple[int, ...]:
    """What was set and stays so in the rooms that follow, though no lasting mark shows it.

    The season, and the switches and toggled blocks of a dungeon.
    """
    return tuple(map(ram.u8, _SET))


class PartGoal(NamedTuple):
    """Where a part may end.

    Attributes:
        marks: That were seen on the way.
        room: The player's, as `room_of` gives it.
        set: As `set_in` gives it. A lever that a search had pulled on the way is no mark; where
            the pull was cut out, the next part still began behind the gate that it opens, and no
            policy came there from the part before.
        kept: Marks that are there.
        needed: What the player has at least.
    """

    marks: Marks
    room: tuple[int, ...]
    set: tuple[int, ...]
    kept: Marks
    needed: Belongings

    def is_reached(self, ram: RamBlocks, seen: Marks) -> bool:
        """Whether a part may end here that saw these marks."""
        return (
            self.marks <= seen
            and room_of(ram) == self.room
            and set_in(ram) == self.set
            and has_control(ram)
            and Belongings.of(ram).cover(self.needed)
            and self.kept <= marks_of(ram)
        )
