"""Tiles and objects of the current room, read from RAM."""

from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.entities import Entity, player_position, talkables
from rlaif.game.memory.memory_map import TILE_STRIDE, address
from rlaif.game.memory.rooms import room_size
from rlaif.game.memory.walls import COLLISIONS
from rlaif.game.motion.grid import AHEAD, TilePlace, tile_of
from rlaif.game.motion.grid import tile_under as tile_under_pixel
from rlaif.game.motion.room_watcher import standing
from rlaif.game.motion.terrain import TILE

_LAYOUT = address("wRoomLayout")
_SOLID_QUARTERS = 0x0F
_PERSON_REACH = TILE + TILE // 4


def in_room(ram: RamBlocks, tile: TilePlace) -> bool:
    """Whether the tile lies inside the current room."""
    columns, rows = room_size(ram)
    return 0 <= tile.row < rows and 0 <= tile.column < columns


def index_at(ram: RamBlocks, tile: TilePlace) -> int:
    """The tile's index in the current tile set; the tile must lie in the room."""
    return ram.u8(_LAYOUT + tile.row * TILE_STRIDE + tile.column)


def is_solid(ram: RamBlocks, tile: TilePlace) -> bool:
    """Whether any quarter of the tile stops the player; holes and water do not."""
    byte = ram.u8(COLLISIONS + tile.row * TILE_STRIDE + tile.column)
    return 0 < byte <= _SOLID_QUARTERS


def tile_under(ram: RamBlocks) -> TilePlace:
    """The tile on which the player stands."""
    return tile_under_pixel(*player_position(ram))


def tile_ahead(ram: RamBlocks) -> TilePlace:
    """The tile on which the player would act."""
    here = standing(ram)
    dy, dx = AHEAD[here.facing]
    return tile_of(here.x + dx, here.y + dy)


def on_tile(found: list[Entity], tile: TilePlace) -> list[Entity]:
    """The objects whose position is on a tile."""
    return [entity for entity in found if tile_of(entity.x, entity.y) == tile]


def person_near(ram: RamBlocks, tile: TilePlace) -> Entity | None:
    """The talkable object nearest to a tile, within 20 pixels, as people move; else None."""
    x, y = tile.middle
    distances = {person: max(abs(person.x - x), abs(person.y - y)) for person in talkables(ram)}
    near = [person for person, pixels in distances.items() if pixels <= _PERSON_REACH]
    return min(near, key=lambda person: (distances[person], person.slot), default=None)
