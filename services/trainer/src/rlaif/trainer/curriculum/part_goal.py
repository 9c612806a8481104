"""The condition for the end of a part: what the rest of the trajectory needs."""

from typing import NamedTuple

from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import has_control
from rlaif.trainer.curriculum.inventory import Inventory
from rlaif.trainer.search.marks import Marks, marks_of

_ROOM = tuple(map(address, ("wActiveGroup", "wActiveRoom")))
_SET = tuple(map(address, ("wRoomStateModifier", "wSwitchState", "wToggleBlocksState")))


def room_of(ram: RamBlocks) -> tuple[int, ...]:
    """Return the player's (group, room)."""
    return tuple(map(ram.u8, _ROOM))


def set_in(ram: RamBlocks) -> tuple[int, ...]:
    """Return persistent state without a flag: the season, switches and toggled blocks."""
    return tuple(map(ram.u8, _SET))


class PartGoal(NamedTuple):
    """The condition for the end of a part.

    Attributes:
        marks: Flags that must have been seen.
        room: Required room (`room_of`).
        set: Required result of `set_in`. A lever has no flag. If its pull had been cut out, the
            next part would still start behind the gate that it opens, where no policy could arrive
            from the part before.
        kept: Flags that must still be set.
        needed: Minimum consumables.
    """

    marks: Marks
    room: tuple[int, ...]
    set: tuple[int, ...]
    kept: Marks
    needed: Inventory

    def is_reached(self, ram: RamBlocks, seen: Marks) -> bool:
        """Whether a part with these seen flags may end in this state."""
        return (
            self.marks <= seen
            and room_of(ram) == self.room
            and set_in(ram) == self.set
            and has_control(ram)
            and Inventory.of(ram).cover(self.needed)
            and self.kept <= marks_of(ram)
        )
