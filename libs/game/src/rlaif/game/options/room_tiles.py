"""The tiles of the room as options look at them: what lies where, and what is in front."""

from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.entities import Entity, talkables
from rlaif.game.memory.memory_map import TILE_STRIDE, address
from rlaif.game.memory.rooms import room_size
from rlaif.game.memory.walls import COLLISIONS
from rlaif.game.navigation.grid import FEET, VECTORS, TilePlace
from rlaif.game.navigation.room_watcher import standing
from rlaif.game.navigation.terrain import TILE

_LAYOUT = address("wRoomLayout")
_SOLID_QUARTERS = 0x0F
AHEAD = {Action.UP: (-7, 0), Action.DOWN: (11, 0), Action.LEFT: (2, -9), Action.RIGHT: (2, 8)}
"""(dy, dx) from the player to the pixel whose tile he acts on (the cartridge's `facing_pos`)."""


def in_room(ram: RamBlocks, tile: TilePlace) -> bool:
    """Whether the tile is one of this room."""
    columns, rows = room_size(ram)
    return 0 <= tile.row < rows and 0 <= tile.column < columns


def index_at(ram: RamBlocks, tile: TilePlace) -> int:
    """The tile's index in the table of tiles that holds; the tile is in the room."""
    return ram.u8(_LAYOUT + tile.row * TILE_STRIDE + tile.column)


def is_solid(ram: RamBlocks, tile: TilePlace) -> bool:
    """Whether any quarter of the tile stops the player; holes and water do not."""
    byte = ram.u8(COLLISIONS + tile.row * TILE_STRIDE + tile.column)
    return 0 < byte <= _SOLID_QUARTERS


def neighbour(tile: TilePlace, direction: Action) -> TilePlace:
    """The tile next to it, which may lie outside the room."""
    dy, dx = VECTORS[direction]
    return TilePlace(tile.row + dy, tile.column + dx)


def tile_of(x: int, y: int) -> TilePlace:
    """The tile of a pixel."""
    return TilePlace(y // TILE, x // TILE)


def tile_under(ram: RamBlocks) -> TilePlace:
    """The tile on which the player stands."""
    here = standing(ram)
    return tile_of(here.x, here.y + FEET)


def tile_ahead(ram: RamBlocks) -> TilePlace:
    """The tile on which the player would act."""
    here = standing(ram)
    dy, dx = AHEAD[here.facing]
    return tile_of(here.x + dx, here.y + dy)


def on_tile(found: list[Entity], tile: TilePlace) -> list[Entity]:
    """Those of the objects that are on a tile."""
    return [entity for entity in found if tile_of(entity.x, entity.y) == tile]


def person_near(ram: RamBlocks, tile: TilePlace) -> Entity | None:
    """Who can be talked to nearest to a tile, at most a tile and a bit away: people walk about."""
    x, y = tile.middle
    far = {person: max(abs(person.x - x), abs(person.y - y)) for person in talkables(ram)}
    near = [person for person, pixels in far.items() if pixels <= TILE + TILE // 4]
    return min(near, key=lambda person: (far[person], person.slot), default=None)
