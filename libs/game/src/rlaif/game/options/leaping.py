"""The feather: up to the rim of the tile, then over what lies beside it."""

from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import has_control
from rlaif.game.navigation.grid import FEET
from rlaif.game.navigation.room_watcher import standing
from rlaif.game.navigation.terrain import TILE
from rlaif.game.options.attending import take_control
from rlaif.game.options.option import done
from rlaif.game.options.room_tiles import in_room, neighbour, tile_under
from rlaif.game.options.script import GiveUp, Script
from rlaif.game.options.using import press

_IN_AIR = address("wLinkInAir")
_STEPS_TO_RIM = 8
_STEPS_IN_AIR = 30


def leap(ram: RamBlocks, button: Action, direction: Action | None, frames: int) -> Script:
    """Jump a tile far, or where he stands; done when he has landed beyond the next tile.

    He walks a pixel a frame, and a step of the script lasts so many frames.
    """
    if direction is not None:
        beyond = neighbour(neighbour(tile_under(ram), direction), direction)
        if not in_room(ram, beyond):
            raise GiveUp("impossible", f"no place to land {direction.name} in this room")
        for _ in range(_STEPS_TO_RIM):
            if _at_rim(ram, direction, frames):
                break
            ram = yield direction
            ram = yield from take_control(ram)
    start = tile_under(ram)
    ram = yield from press(ram, button, "feather")
    for _ in range(_STEPS_IN_AIR):
        if ram.u8(_IN_AIR) == 0:
            break
        ram = yield direction if direction is not None else Action.NOP
    if direction is None:
        return done("jumped")
    if not has_control(ram):
        raise GiveUp("no_progress", "fell, or was stopped in the air")
    end = tile_under(ram)
    if max(abs(end.row - start.row), abs(end.column - start.column)) < 2:
        raise GiveUp("no_progress", "did not get over the next tile")
    return done("landed beyond the next tile")


def _at_rim(ram: RamBlocks, direction: Action, frames: int) -> bool:
    """Whether another step would lead onto the next tile."""
    here = standing(ram)
    along = here.y + FEET if direction in (Action.UP, Action.DOWN) else here.x
    if direction in (Action.UP, Action.LEFT):
        return along % TILE < frames
    return along % TILE >= TILE - frames
