"""CUT: stand beside a tile, face it, strike until it has changed."""

from rlaif.contracts.plans import Cut
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.navigation.grid import TilePlace
from rlaif.game.options.attending import take_control
from rlaif.game.options.equipping import equip
from rlaif.game.options.option import done
from rlaif.game.options.placing import stand_beside
from rlaif.game.options.room_tiles import in_room, index_at
from rlaif.game.options.script import GiveUp, Script
from rlaif.game.options.using import come_to_rest, obeys

_STROKES = 3
_STEPS_TO_SHOW = 6


def cut(ram: RamBlocks, macro: Cut) -> Script:
    """Done when what stood there is gone or another one: a bush, grass, a lever."""
    tile = TilePlace(macro.row, macro.column)
    if not in_room(ram, tile):
        raise GiveUp("impossible", f"tile {tile.column},{tile.row} is not in this room")
    button, ram = yield from equip(ram, "sword")
    ram = yield from take_control(ram)
    before = index_at(ram, tile)
    for _ in range(_STROKES):
        ram = yield from stand_beside(ram, tile)
        ram = yield button
        for _ in range(_STEPS_TO_SHOW):
            if index_at(ram, tile) != before:
                ram = yield from come_to_rest(ram)
                return done("what stood there was cut")
            if obeys(ram):
                break
            ram = yield Action.NOP
    raise GiveUp("no_progress", f"the sword changes nothing on tile {tile.column},{tile.row}")
