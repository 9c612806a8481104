"""Standing in the right place: beside a tile, turned towards it."""

from collections.abc import Sequence

from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.predicates import has_control
from rlaif.game.navigation.goals import OnTile
from rlaif.game.navigation.grid import VECTORS, WALKS, TilePlace
from rlaif.game.navigation.room_graph import OPPOSITE
from rlaif.game.navigation.room_watcher import standing
from rlaif.game.navigation.walker import Walker, WalkSettings
from rlaif.game.options.attending import take_control
from rlaif.game.options.reach import reach_of
from rlaif.game.options.room_tiles import in_room, neighbour, tile_ahead, tile_under
from rlaif.game.options.script import GiveUp, Part

_SETTINGS = WalkSettings(place_tolerance=2, approaches=False)
_TURNS = 4
"""Steps towards a tile; after so many he faces it or is somewhere else."""

_TRIES = 6
_EDGE = 12
"""Pixels from the edge of the room within which a step may scroll to the next one."""


def stand_beside(ram: RamBlocks, tile: TilePlace, facing: Sequence[Action] = WALKS) -> Part:
    """Walk to a side of the tile from which it is faced in one of these directions, and face it.

    The nearest side is taken, another one when that turns out to be closed; GiveUp when none is
    left.
    """
    if not in_room(ram, tile):
        raise GiveUp("impossible", f"tile {tile.column},{tile.row} is not in this room")
    closed: set[Action] = set()
    for _ in range(_TRIES):
        ram = yield from take_control(ram)
        direction = _nearest_side(ram, tile, [way for way in facing if way not in closed])
        if direction is None:
            break
        place = neighbour(tile, OPPOSITE[direction])
        ram = yield from walk_onto(ram, place)
        if tile_under(ram) != place:
            closed.add(direction)
            continue
        ram = yield from _turn(ram, tile, direction)
        if faces(ram, tile, direction):
            return ram
    raise GiveUp("unreachable", f"no way to stand beside tile {tile.column},{tile.row}")


def faces(ram: RamBlocks, tile: TilePlace, direction: Action) -> bool:
    """Whether the player is turned that way, with the tile in front of him."""
    return standing(ram).facing == direction and tile_ahead(ram) == tile


def walk_onto(ram: RamBlocks, tile: TilePlace) -> Part:
    """Walk onto a tile, near its middle if one can; whether he gets there is for the caller."""
    walker = Walker(OnTile(standing(ram).room, tile), _SETTINGS)
    while True:
        ram = yield from take_control(ram)
        decision = walker.next(ram)
        if decision.done:
            return ram
        ram = yield decision.action


def turn(ram: RamBlocks, direction: Action) -> Part:
    """Face a direction: a step of a few pixels on free ground, and not out of the room."""
    for _ in range(_TURNS):
        if standing(ram).facing == direction:
            break
        ram = yield OPPOSITE[direction] if _at_edge(ram, direction) else direction
    return ram


def _at_edge(ram: RamBlocks, direction: Action) -> bool:
    here = standing(ram)
    height, width = here.size
    dy, dx = VECTORS[direction]
    x, y = here.x + dx * _EDGE, here.y + dy * _EDGE
    return not (0 < x < width and 0 < y < height)


def _turn(ram: RamBlocks, tile: TilePlace, direction: Action) -> Part:
    for _ in range(_TURNS):
        if faces(ram, tile, direction) or not has_control(ram):
            break
        ram = yield direction
    return ram


def _nearest_side(ram: RamBlocks, tile: TilePlace, facing: Sequence[Action]) -> Action | None:
    """The direction to face the tile from its nearest side to which a way leads."""
    reach = reach_of(ram)
    far: dict[Action, int] = {}
    for direction in facing:
        pixels = reach.distance_to(ram, neighbour(tile, OPPOSITE[direction]))
        if pixels is not None:
            far[direction] = pixels
    return min(far, key=lambda direction: far[direction], default=None)
