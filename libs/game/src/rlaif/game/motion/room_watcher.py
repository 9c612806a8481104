"""Position and control of the player; detects crossings from one room to another."""

from dataclasses import dataclass, replace

from rlaif.game.machine.actions import Action
from rlaif.game.machine.emulator import WRAM_START
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.entities import Entity, player_position, talkables
from rlaif.game.memory.memory_map import TILE_STRIDE, address
from rlaif.game.memory.predicates import has_control, is_dying, is_running
from rlaif.game.memory.rooms import room_size
from rlaif.game.memory.walls import COLLISIONS
from rlaif.game.motion.grid import AHEAD, TilePlace, tile_of
from rlaif.game.motion.grid import tile_under as tile_under_pixel
from rlaif.game.motion.room_graph import Crossing, RoomId
from rlaif.game.motion.terrain import LARGE_ROOM, SMALL_ROOM, TILE

FACING_ACTIONS = (Action.UP, Action.RIGHT, Action.DOWN, Action.LEFT)
"""By w1Link.direction."""

_GROUP, _ROOM = address("wActiveGroup"), address("wActiveRoom")
_FACING, _LARGE = address("w1Link.direction"), address("wRoomIsLarge")
_NEAR_EDGE = 20
_SAME_LINE = 12

_PLACE = slice(_GROUP - WRAM_START, _ROOM - WRAM_START + 1)


def place_of(ram: RamBlocks) -> bytes:
    """Two bytes that are unique to the room; for comparison only."""
    place = ram.wram[_PLACE]
    return place[:1] + place[-1:]


@dataclass(frozen=True)
class PlayerPosition:
    """Position of the player, in pixels of the room."""

    room: RoomId
    x: int
    y: int
    facing: Action
    size: tuple[int, int]  # height and width of the room in pixels


def standing(ram: RamBlocks) -> PlayerPosition:
    """The player's current position."""
    x, y = player_position(ram)
    return PlayerPosition(
        room=RoomId(ram.u8(_GROUP), ram.u8(_ROOM)),
        x=x,
        y=y,
        facing=FACING_ACTIONS[ram.u8(_FACING) & 3],
        size=LARGE_ROOM if ram.u8(_LARGE) else SMALL_ROOM,
    )


class RoomWatcher:
    """Detects the crossings of one player; pass it the RAM after every step."""

    def __init__(self) -> None:
        self._settled: RoomId | None = None
        self._last: PlayerPosition | None = None

    def forget(self) -> None:
        """Reset after a state was loaded or the game was reset."""
        self._settled = self._last = None

    def moved(self, x: int, y: int, facing: Action | None = None) -> None:
        """Update the position within the last seen room, without its RAM.

        A caller that reports all moves needs to pass the RAM of new rooms only. Without `facing`
        the direction stays the same.
        """
        if self._last is not None:
            facing = self._last.facing if facing is None else facing
            self._last = replace(self._last, x=x, y=y, facing=facing)

    def see(self, ram: RamBlocks) -> Crossing | None:
        """The crossing that has just been completed, if any.

        A crossing ends when the player has control again. Deaths are ignored, because they move
        the player without a crossing.
        """
        if not is_running(ram) or is_dying(ram):
            self.forget()
            return None
        now = standing(ram)
        if self._settled is not None and now.room == self._settled:
            self._last = now
            return None
        if not has_control(ram):
            return None
        before, self._settled, self._last = self._last, now.room, now
        return None if before is None else _crossing(before, now)


def _crossing(before: PlayerPosition, now: PlayerPosition) -> Crossing:
    direction = _edge(before, now)
    return Crossing(
        start=before.room,
        end=now.room,
        kind="warp" if direction is None else "edge",
        direction=before.facing if direction is None else direction,
        x=before.x,
        y=before.y,
        arrival_x=now.x,
        arrival_y=now.y,
    )


def _edge(before: PlayerPosition, now: PlayerPosition) -> Action | None:
    """The edge that was crossed, if the player arrived at the opposite one on the same line."""
    if before.room.group != now.room.group:
        return None
    (height, width), (new_height, new_width) = before.size, now.size
    same_column = abs(before.x - now.x) <= _SAME_LINE
    same_row = abs(before.y - now.y) <= _SAME_LINE
    if before.y < _NEAR_EDGE and now.y > new_height - _NEAR_EDGE and same_column:
        return Action.UP
    if before.y > height - _NEAR_EDGE and now.y < _NEAR_EDGE and same_column:
        return Action.DOWN
    if before.x < _NEAR_EDGE and now.x > new_width - _NEAR_EDGE and same_row:
        return Action.LEFT
    if before.x > width - _NEAR_EDGE and now.x < _NEAR_EDGE and same_row:
        return Action.RIGHT
    return None


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
    """The tile on which the player acts."""
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
