"""USE_ITEM: put an item on a button, stand and turn as asked, use it."""

from collections.abc import Generator

from rlaif.contracts.items import NAMED_ITEMS
from rlaif.contracts.plans import Take, UseItem
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address
from rlaif.game.navigation.grid import WALKS, TilePlace
from rlaif.game.navigation.room_watcher import standing
from rlaif.game.options.blasting import blast
from rlaif.game.options.equipping import equip
from rlaif.game.options.leaping import leap
from rlaif.game.options.option import done
from rlaif.game.options.placing import stand_beside, turn
from rlaif.game.options.script import GiveUp, Script
from rlaif.game.options.take import take
from rlaif.game.options.using import changes, come_to_rest, press

_COUNTS = {
    "bombs": address("wNumBombs"),
    "bombchus": address("wNumBombchus"),
    "ember_seeds": address("wNumEmberSeeds"),
    "scent_seeds": address("wNumScentSeeds"),
    "pegasus_seeds": address("wNumPegasusSeeds"),
    "gale_seeds": address("wNumGaleSeeds"),
    "mystery_seeds": address("wNumMysterySeeds"),
}
"""What is used up: item → how many are left."""


def use_item(ram: RamBlocks, macro: UseItem, frames: int) -> Script:
    """Done when the item was used; the reason says what that changed. To lift is to TAKE.

    A step of the script lasts so many frames.
    """
    name = macro.item
    if name in _COUNTS and ram.u8(_COUNTS[name]) == 0:
        raise GiveUp("impossible", f"no {name} are left")
    if name == "bracelet" and macro.column is not None and macro.row is not None:
        return (yield from take(ram, Take(column=macro.column, row=macro.row)))
    button, ram = yield from equip(ram, name)
    direction, ram = yield from _aim(ram, macro)
    if name == "feather":
        return (yield from leap(ram, button, direction, frames))
    if name == "bombs":
        return (yield from blast(ram, button))
    before = ram
    ram = yield from press(ram, button, name)
    ram = yield from come_to_rest(ram)
    return done(changes(before, ram))


def _aim(
    ram: RamBlocks, macro: UseItem
) -> Generator[Action, RamBlocks, tuple[Action | None, RamBlocks]]:
    """Stand and turn as the macro says; the direction, None when it is all the same."""
    direction = None if macro.direction is None else Action[macro.direction]
    if macro.column is not None and macro.row is not None:
        tile = TilePlace(macro.row, macro.column)
        ram = yield from stand_beside(ram, tile, WALKS if direction is None else [direction])
        return standing(ram).facing, ram
    if direction is not None and NAMED_ITEMS[macro.item] != NAMED_ITEMS["feather"]:
        ram = yield from turn(ram, direction)
    return direction, ram
