"""The ground of a room: reachable tiles and best first steps to a goal, from RAM.

Results are cached by all the bytes that they depend on, so an unchanged room costs almost nothing.
"""

import math
from collections import OrderedDict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from rlaif.game.machine.actions import Action
from rlaif.game.machine.emulator import WRAM_START
from rlaif.game.memory.blocks import RamBlocks, once_per_ram
from rlaif.game.memory.entities import player_position, talkables
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.walls import COLLISION_BYTES, COLLISIONS, FLIPPERS
from rlaif.game.motion import kernels
from rlaif.game.motion.grid import (
    AHEAD,
    FEET,
    PROBES,
    RIM_BOTTOM,
    RIM_LEFT,
    RIM_RIGHT,
    RIM_TOP,
    VECTORS,
    WALKS,
    TilePlace,
    tile_under,
)
from rlaif.game.motion.kernels import ARRIVED, DEADLY, DOOR, NOWHERE, PAD, WET, Bytes
from rlaif.game.motion.terrain import (
    HOLES,
    LARGE_ROOM,
    LAVA,
    LEDGES,
    TILE,
    TILE_COLUMNS,
    TILE_ROWS,
    WARPS,
    WATER,
    Terrain,
    solid_pixels,
    terrain_of,
)

FRAMES = 4
"""Length of a base step."""

MAX_ROOMS = 128
"""Cached rooms, half a megabyte each; the least recently used one is dropped."""

MAX_GOALS = 16
"""Cached goals per room, 20 kilobytes each."""

DANGER_REACH = 20
"""Pixels around an enemy in which a step is expensive."""

_WALL, _HAZARD = 0x0F, 0x10
_LAYOUT = address("wRoomLayout")
_MODE, _LARGE = address("wActiveCollisions"), address("wRoomIsLarge")
_SOLIDS = slice(COLLISIONS - WRAM_START, COLLISIONS - WRAM_START + COLLISION_BYTES)
_TILES = slice(_LAYOUT - WRAM_START, _LAYOUT - WRAM_START + COLLISION_BYTES)
_TREASURES = address("wObtainedTreasureFlags")
_DANGER, _MAX_EXTRA = 8, 40
_BLAST, _RIM = 34, 12
"""Pixels to keep from the center of a bomb's tile, and from the edge of the room, in flight."""

_ALONG_EDGE = 24
"""Pixels along an edge within which a place on it counts as reached."""

_BODY = 6
"""Half of the size of an obstacle, in pixels."""

GoalKind = Literal["on", "into", "at", "before", "over", "away"]
"""On a tile, into a door, at a pixel, before a tile and facing it, over an edge, away from a
tile."""


class Goal(NamedTuple):
    """A goal in a room; fields that its kind does not use are 0."""

    kind: GoalKind
    tile: int = 0  # row * 16 + column; at, over: pixel y << 8 | x; over: 0 for any
    directions: int = 0b1111  # before: bits of the directions to face it in; over: the edge
    brink: bool = False  # before: as near as possible without falling in


@dataclass(frozen=True, eq=False)
class Reached:
    """The reachable tiles of a room from the player's position.

    The same object while room and reachable pixels are the same, so it can serve as a cache key.
    """

    terrain: Terrain
    trodden: bytes  # by tile: the player can step onto it
    faced: tuple[bytes, ...]  # by direction and tile: the player can stand before it
    rims: tuple[bool, ...]  # by direction: the room can be left over that edge


def _kinds(mode: int) -> Bytes:
    """`[256]`: kind bits of each tile index in a tile set."""
    kinds = np.zeros(256, dtype=np.uint8)
    for bit, table in ((DEADLY, HOLES), (DEADLY, LAVA), (WET, WATER), (DOOR, WARPS)):
        for index in table.get(mode, set()):
            kinds[index] |= bit
    return kinds


_KINDS = {mode: _kinds(mode) for mode in range(6)}
_NO_KINDS = np.zeros(256, dtype=np.uint8)
_LEDGES = {mode: bytes(sorted(set().union(*by_way.values()))) for mode, by_way in LEDGES.items()}
_PROBES = np.array([[*PROBES[way], VECTORS[way]] for way in WALKS], dtype=np.int64)
_AHEAD = np.array([AHEAD[way] for way in WALKS], dtype=np.int64)


class Ground:
    """One room in one state.

    Attributes:
        height: Of the room in pixels.
        width: Of the room in pixels.
        ends: `[4, pixels]` uint16, the pixel after a step; NOWHERE where the step would kill.
        outs: `[pixels]` uint8, 1 where the room is left.
        on_door: Whether the player stands on a door, which then counts as ordinary ground.
    """

    def __init__(
        self,
        terrain: Terrain,
        own: TilePlace,
        obstacles: Sequence[tuple[int, int]],
        *,
        frames: int = FRAMES,
    ) -> None:
        self._terrain = terrain
        self.height, self.width = terrain.size
        self.on_door = _stands_on_door(terrain, own)
        self._size = self.height * self.width
        self.ends = np.empty((4, self._size), dtype=np.uint16)
        self.outs = np.zeros(self._size, dtype=np.uint8)
        self._care = np.zeros(self._size, dtype=np.uint8)
        self._find_steps(terrain, own, obstacles, frames)
        self._backwards: tuple[kernels.Counts, kernels.Pixels, Bytes] | None = None
        self._labels = np.full(self._size, -1, dtype=np.int16)
        self._reached: list[Reached] = []
        self._first_steps: OrderedDict[tuple[Goal, int], bytes] = OrderedDict()

    def index(self, x: int, y: int) -> int:
        """The pixel at (x, y), clipped to the room."""
        return min(y, self.height - 1) * self.width + min(x, self.width - 1)

    def reached(self, x: int, y: int) -> Reached:
        """The reachable tiles from a pixel.

        The result is shared by all pixels that can reach each other.
        """
        at = self.index(x, y)
        label = int(self._labels[at])
        if label < 0:
            label = self._explore(at)
        return self._reached[label]

    def first_steps(self, goal: Goal, aside: int) -> bytes:
        """The best first steps to a goal from every pixel, see `kernels.find_first_steps`.

        `aside` is the accepted distance from the center of the tile, in pixels.
        """
        key = (goal, aside)
        found = self._first_steps.get(key)
        if found is not None:
            self._first_steps.move_to_end(key)
            return found
        if len(self._first_steps) >= MAX_GOALS:
            self._first_steps.popitem(last=False)
        found = self._find_first_steps(self._pixels(goal, aside), self._care, -1)
        self._first_steps[key] = found
        return found

    def first_steps_avoiding(
        self, goal: Goal, aside: int, dangers: list[tuple[int, int]], at: tuple[int, int]
    ) -> bytes:
        """First steps from near the pixel `at`, keeping a distance from dangers at (x, y)."""
        extra = self._care.copy()
        room = extra.reshape(self.height, self.width)
        for x, y in dangers:
            room[
                max(0, y - DANGER_REACH) : y + DANGER_REACH + 1,
                max(0, x - DANGER_REACH) : x + DANGER_REACH + 1,
            ] += _DANGER
        np.minimum(extra, _MAX_EXTRA, out=extra)
        return self._find_first_steps(self._pixels(goal, aside), extra, self.index(*at))

    def kills(self, x: int, y: int, way: Action) -> bool:
        """Whether a step from a pixel kills or leaves the room."""
        end = int(self.ends[way, self.index(x, y)])
        return end == NOWHERE or bool(self.outs[end])

    def after(self, x: int, y: int, way: Action) -> tuple[int, int]:
        """The pixel (x, y) after a step that does not kill."""
        row, column = divmod(int(self.ends[way, self.index(x, y)]), self.width)
        return column, row

    def stops(self, x: int, y: int, way: Action) -> bool:
        at = self.index(x, y)
        return int(self.ends[way, at]) == at

    def _find_steps(
        self, terrain: Terrain, own: TilePlace, obstacles: Sequence[tuple[int, int]], frames: int
    ) -> None:
        solid = np.pad(solid_pixels(terrain.collisions), PAD).view(np.uint8)
        for x, y in obstacles:
            low_y, low_x = max(0, y + PAD - _BODY), max(0, x + PAD - _BODY)
            solid[low_y : y + PAD + _BODY, low_x : x + PAD + _BODY] = 1
        kernels.find_steps(
            solid, _tile_bits(terrain, own), _PROBES, self.height, self.width, frames,
            self.ends, self.outs, self._care,
        )  # fmt: skip
        ledges = _LEDGES.get(terrain.mode)
        if ledges and np.isin(terrain.layout, np.frombuffer(ledges, dtype=np.uint8)).any():
            for way in WALKS:
                for start, end in leaps(terrain, way, solid, PAD):
                    self.ends[way, start] = end

    def _explore(self, at: int) -> int:
        seen, back = np.zeros((2, self._size), dtype=np.uint8)
        trodden = np.zeros(COLLISION_BYTES, dtype=np.uint8)
        faced = np.zeros((4, COLLISION_BYTES), dtype=np.uint8)
        rims = np.zeros(4, dtype=np.uint8)
        kernels.reach_from(self.ends, self.outs, self.width, at, _AHEAD, seen, trodden, faced, rims)
        heads, sources, _ = self._sources()
        kernels.lead_to(heads, sources, self.outs, at, back)
        label = len(self._reached)
        self._reached.append(
            Reached(
                self._terrain,
                trodden.tobytes(),
                tuple(row.tobytes() for row in faced),
                tuple(bool(rim) for rim in rims),
            )
        )
        # Paths continue from no pixel where the room is left, except the player's own.
        both_ways = seen & back & (self.outs ^ 1)
        self._labels[both_ways.view(np.bool_)] = label
        self._labels[at] = label
        return label

    def _sources(self) -> tuple[kernels.Counts, kernels.Pixels, Bytes]:
        if self._backwards is None:
            heads = np.zeros(self._size + 1, dtype=np.int32)
            sources = np.empty(4 * self._size, dtype=np.uint16)
            ways = np.empty(4 * self._size, dtype=np.uint8)
            kernels.reverse_steps(self.ends, heads, sources, ways)
            self._backwards = heads, sources, ways
        return self._backwards

    def _find_first_steps(self, goal: Bytes, extra: Bytes, start: int) -> bytes:
        kernels.find_first_steps(
            self.ends, *self._sources(), self.outs, extra, start, _SCRATCH, goal
        )
        return goal.tobytes()

    def _pixels(self, goal: Goal, aside: int) -> Bytes:
        """`[pixels]`: ARRIVED and a direction at the goal, else 0."""
        pixels = np.zeros(self._size, dtype=np.uint8)
        room = pixels.reshape(self.height, self.width)
        match goal.kind:
            case "before":
                kernels.before_tile(
                    self.ends, self.outs, self.width, goal.tile, _AHEAD, goal.directions, aside,
                    int(goal.brink), pixels,
                )  # fmt: skip
            case "over":
                way = WALKS[goal.directions.bit_length() - 1]
                room[_rim(way, self.height, self.width)] = ARRIVED | way
                if goal.tile:
                    _keep_around(room, goal.tile, _ALONG_EDGE)
            case "at":
                room[:] = ARRIVED | Action.NOP
                _keep_around(room, goal.tile, aside)
            case _:
                self._mark_tile(room, goal, aside)
        return pixels

    @staticmethod
    def _mark_tile(room: Bytes, goal: Goal, aside: int) -> None:
        tile = TilePlace(*divmod(goal.tile, TILE_COLUMNS))
        x, y = tile.middle
        if goal.kind == "away":
            room[_RIM:-_RIM, _RIM:-_RIM] = ARRIVED | Action.NOP
            room[max(0, y - _BLAST) : y + _BLAST, max(0, x - _BLAST) : x + _BLAST] = 0
            return
        top, left = tile.row * TILE - FEET, tile.column * TILE
        room[
            max(0, top, y - aside) : min(top + TILE, y + aside + 1),
            max(left, x - aside) : min(left + TILE, x + aside + 1),
        ] = ARRIVED | Action.NOP


def _keep_around(room: Bytes, pixel: int, reach: int) -> None:
    """Clear all pixels more than `reach` away from a pixel on either axis."""
    y, x = divmod(pixel, 1 << 8)
    around = slice(max(0, y - reach), y + reach + 1), slice(max(0, x - reach), x + reach + 1)
    kept = room[around].copy()
    room[:] = 0
    room[around] = kept


def _rim(way: Action, height: int, width: int) -> tuple[slice, slice]:
    across, along = slice(RIM_TOP + 1, height - RIM_BOTTOM), slice(RIM_LEFT + 1, width - RIM_RIGHT)
    match way:
        case Action.UP:
            return slice(0, RIM_TOP + 1), along
        case Action.DOWN:
            return slice(height - RIM_BOTTOM, height), along
        case Action.LEFT:
            return across, slice(0, RIM_LEFT + 1)
    return across, slice(width - RIM_RIGHT, width)


def _stands_on_door(terrain: Terrain, own: TilePlace) -> bool:
    inside = own.row < TILE_ROWS and own.column < TILE_COLUMNS
    return inside and bool(terrain.warps()[own])


def _tile_bits(terrain: Terrain, own: TilePlace) -> Bytes:
    """`[12, 16]`: kind bits of each tile; a door on which the player stands has none."""
    bits = _KINDS.get(terrain.mode, _NO_KINDS)[terrain.layout]
    bits[(terrain.collisions == _HAZARD) & (bits & WET == 0)] |= DEADLY
    if not terrain.swims:
        bits[bits & WET != 0] |= DEADLY
    bits[terrain.collisions == _WALL] &= ~DOOR & 0xFF
    if own.row < TILE_ROWS and own.column < TILE_COLUMNS:
        bits[own] &= ~DOOR & 0xFF
    return bits


_SCRATCH = np.empty((2, 5 * LARGE_ROOM[0] * LARGE_ROOM[1]), dtype=np.int32)
_rooms: OrderedDict[tuple[object, ...], Ground] = OrderedDict()


def tiles_of(ram: RamBlocks) -> bytes:
    """The bytes of the ground that change within a room: tile indices and collisions."""
    return ram.wram[_SOLIDS] + ram.wram[_TILES]


def ground_of(
    ram: RamBlocks, *, frames: int = FRAMES, closed: Collection[TilePlace] = ()
) -> Ground:
    """The ground of the current room; some microseconds if it is cached.

    Args:
        ram: The RAM.
        frames: Length of a step.
        closed: Tiles that stop the player although they are free in RAM.
    """
    if frames != FRAMES or closed:
        return _cached(ram, frames, frozenset(closed))
    return _ground(ram)


@once_per_ram
def _ground(ram: RamBlocks) -> Ground:
    return _cached(ram, FRAMES, frozenset())


@once_per_ram
def reached_in(ram: RamBlocks) -> Reached:
    """The reachable tiles from the player's position."""
    return _ground(ram).reached(*player_position(ram))


def is_plain(ram: RamBlocks, tile: TilePlace) -> bool:
    """Whether a tile of the buffer is neither hole, water, lava nor door."""
    at = tile.row * TILE_COLUMNS + tile.column
    collision = ram.u8(COLLISIONS + at)
    kind = int(_KINDS.get(ram.u8(_MODE), _NO_KINDS)[ram.u8(_LAYOUT + at)])
    if collision == _WALL:
        kind &= ~DOOR
    return not kind and collision != _HAZARD


def _cached(ram: RamBlocks, frames: int, closed: frozenset[TilePlace]) -> Ground:
    wram = ram.wram
    own = tile_under(*player_position(ram))
    mode = ram.u8(_MODE)
    tiles = wram[_TILES]
    at = own.row * TILE_COLUMNS + own.column
    on_door = at < COLLISION_BYTES and _KINDS.get(mode, _NO_KINDS)[tiles[at]] & DOOR
    obstacles = tuple((it.x, it.y) for it in talkables(ram))
    key = (
        wram[_SOLIDS], tiles, mode, ram.u8(_LARGE) != 0, ram.bit(_TREASURES, FLIPPERS),
        own if on_door else None, obstacles, frames, closed,
    )  # fmt: skip
    ground = _rooms.get(key)
    if ground is not None:
        _rooms.move_to_end(key)
        return ground
    if len(_rooms) >= MAX_ROOMS:
        _rooms.popitem(last=False)
    ground = _rooms[key] = Ground(terrain_of(ram, closed), own, obstacles, frames=frames)
    return ground


_LANE = 4
"""Pixels off the center of a tile within which the player jumps off a cliff."""


def leaps(
    terrain: Terrain, direction: Action, solid: npt.NDArray[np.uint8], pad: int
) -> Iterator[tuple[int, int]]:
    """Yield (start, landing) pixels, `y * width + x`, of jumps in a direction.

    A jump starts where a cliff stops the player and ends at the center of the next free tile.

    Args:
        terrain: The room.
        direction: Direction of the jump.
        solid: Pixels that stop the player, padded by `pad` on each side.
        pad: Width of the padding.
    """
    cliffs = terrain.ledges(direction)
    if not cliffs.any():
        return
    (height, width), (dy, dx) = terrain.size, VECTORS[direction]
    rows, columns = height // TILE, width // TILE
    free = terrain.collisions == 0
    deadly = terrain.deadly() if terrain.swims else terrain.deadly() | terrain.wet()
    for row, column in np.argwhere(free[:rows, :columns]).tolist():
        y, x = row + dy, column + dx
        while 0 <= y < rows and 0 <= x < columns and cliffs[y, x]:
            y, x = y + dy, x + dx
        if (y, x) == (row + dy, column + dx) or not (0 <= y < rows and 0 <= x < columns):
            continue
        if free[y, x] and not deadly[y, x]:
            landing = y * TILE + TILE // 2, x * TILE + TILE // 2
            for at, aside in _starts(solid, pad, (row, column), direction, width):
                yield at, (landing[0] + aside * (dx != 0)) * width + landing[1] + aside * (dy != 0)


def _starts(
    solid: npt.NDArray[np.uint8], pad: int, tile: tuple[int, int], direction: Action, width: int
) -> Iterator[tuple[int, int]]:
    """Pixels of a tile's center lane where the cliff stops the player, and their distance to it."""
    dy, dx = VECTORS[direction]
    y, x = tile[0] * TILE + TILE // 2, tile[1] * TILE + TILE // 2
    for aside in range(-_LANE, _LANE + 1):
        for ahead in range(math.ceil(TILE / 2)):
            row, column = y + dy * ahead + aside * (dx != 0), x + dx * ahead + aside * (dy != 0)
            stopped = all(solid[pad + row + py, pad + column + px] for py, px in PROBES[direction])
            if stopped and (row + FEET) // TILE == tile[0]:
                yield row * width + column, aside
