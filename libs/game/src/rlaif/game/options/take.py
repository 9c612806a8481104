"""TAKE: open a chest, lift what is heavy, or step onto what lies there."""

from rlaif.contracts.plans import Take
from rlaif.game.encoder.scene import CHEST
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.entities import Entity, interactions, parts
from rlaif.game.memory.memory_map import address
from rlaif.game.navigation.grid import TilePlace
from rlaif.game.options.attending import see_out, take_control
from rlaif.game.options.equipping import button_of, item_id
from rlaif.game.options.option import done
from rlaif.game.options.placing import stand_beside, walk_onto
from rlaif.game.options.reach import reach_of
from rlaif.game.options.room_tiles import in_room, index_at, is_solid, on_tile, tile_under
from rlaif.game.options.script import GiveUp, Part, Script

_GRAB = address("wLinkGrabState")
_BRACELET = item_id("bracelet")
_TRIES = 3
_STEPS_TO_SHOW = 4
_STEPS_TO_TAKE = 12
_STEPS_TO_APPEAR = 15
"""A second: what a solved puzzle gives may still be on its way."""


def take(ram: RamBlocks, macro: Take) -> Script:
    """Done when the chest is open and read, the thing lifted, or what lay there taken."""
    tile = TilePlace(macro.row, macro.column)
    ram = yield from take_control(ram)
    if not in_room(ram, tile):
        raise GiveUp("impossible", f"tile {tile.column},{tile.row} is not in this room")
    ram = yield from _await_something(ram, tile)
    if index_at(ram, tile) == CHEST:
        return (yield from _open(ram, tile))
    if is_solid(ram, tile):
        return (yield from _lift(ram, tile))
    return (yield from _collect(ram, tile))


def _await_something(ram: RamBlocks, tile: TilePlace) -> Part:
    for _ in range(_STEPS_TO_APPEAR):
        if is_solid(ram, tile) or _lying(ram, tile):
            break
        ram = yield Action.NOP
    return ram


def _open(ram: RamBlocks, chest: TilePlace) -> Script:
    """A chest opens from below alone."""
    for _ in range(_TRIES):
        ram = yield from stand_beside(ram, chest, [Action.UP])
        ram = yield Action.A
        for _ in range(_STEPS_TO_SHOW):
            if index_at(ram, chest) != CHEST:
                ram = yield from see_out(ram)
                return done("the chest is open")
            ram = yield Action.NOP
    raise GiveUp("no_progress", "the chest does not open")


def _lift(ram: RamBlocks, tile: TilePlace) -> Script:
    before = index_at(ram, tile)
    for _ in range(_TRIES):
        ram = yield from stand_beside(ram, tile)
        ram = yield button_of(ram, _BRACELET) or Action.A
        for _ in range(_STEPS_TO_SHOW):
            if index_at(ram, tile) != before:
                ram = yield from see_out(ram)
                return done("lifted" if ram.u8(_GRAB) else "what stood there is gone")
            ram = yield Action.NOP
    raise GiveUp("no_progress", f"nothing to lift on tile {tile.column},{tile.row}")


def _collect(ram: RamBlocks, tile: TilePlace) -> Script:
    if not _lying(ram, tile):
        raise GiveUp("impossible", f"nothing lies on tile {tile.column},{tile.row}")
    if reach_of(ram).distance_to(ram, tile) is None:
        raise _no_way(tile)
    for _ in range(_STEPS_TO_TAKE):
        ram = yield from walk_onto(ram, tile)
        if not _lying(ram, tile):
            ram = yield from see_out(ram)
            return done("taken")
        if tile_under(ram) != tile:
            raise _no_way(tile)
        ram = yield Action.NOP
    raise GiveUp("no_progress", "what lies there cannot be taken")


def _no_way(tile: TilePlace) -> GiveUp:
    return GiveUp("unreachable", f"no way onto tile {tile.column},{tile.row}")


def _lying(ram: RamBlocks, tile: TilePlace) -> list[Entity]:
    return on_tile(interactions(ram) + parts(ram), tile)
