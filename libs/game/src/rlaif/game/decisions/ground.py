"""The ground of a room: RAM in; what can be reached, and the first steps there, out.

What was found out is kept by all the bytes that it depends on, so that a room in which nothing has
changed costs next to nothing.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from rlaif.game.decisions import kernels
from rlaif.game.decisions.kernels import ARRIVED, DEADLY, DOOR, NOWHERE, PAD, WET, Bytes
from rlaif.game.machine.actions import Action
from rlaif.game.machine.emulator import WRAM_START
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.entities import player_position, talkables
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.walls import COLLISION_BYTES, COLLISIONS, FLIPPERS
from rlaif.game.navigation.footing import NOWHERE as FOOTING_NOWHERE
from rlaif.game.navigation.footing import RIM_BOTTOM, RIM_LEFT, RIM_RIGHT, RIM_TOP, footing
from rlaif.game.navigation.grid import FEET, PROBES, VECTORS, WALKS, TilePlace
from rlaif.game.navigation.terrain import (
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
from rlaif.game.options.room_tiles import AHEAD

FRAMES = 4
"""Of a base step."""

MOST_ROOMS = 128
"""Kept before the one that was not used for longest is forgotten; half a megabyte each."""

MOST_WAYS = 16
"""Of one room, 20 kilobytes each."""

_WALL, _HAZARD = 0x0F, 0x10
_LAYOUT = address("wRoomLayout")
_MODE, _LARGE = address("wActiveCollisions"), address("wRoomIsLarge")
_SOLIDS = slice(COLLISIONS - WRAM_START, COLLISIONS - WRAM_START + COLLISION_BYTES)
_TILES = slice(_LAYOUT - WRAM_START, _LAYOUT - WRAM_START + COLLISION_BYTES)
_TREASURES = address("wObtainedTreasureFlags")
_DANGER, DANGER_REACH, _MOST_EXTRA = 8, 20, 40
_BLAST, _RIM = 34, 12
"""Pixels from the middle of a bomb's tile, and from the edge of the room, where one flees to."""


GoalKind = Literal["on", "into", "at", "before", "over", "away"]
"""Onto a tile, into a door, to a pixel, before a tile and turned to it, over an edge, far from a
tile."""


class Goal(NamedTuple):
    """Where to go in a room; fields that a kind does not need are 0."""

    kind: GoalKind
    tile: int = 0  # row * 16 + column; of a pixel y << 8 | x
    ways: int = 0b1111  # before: bits of the directions in which it may be faced; over: the edge
    brink: bool = False  # before: as near as can be without falling in


class Reached(NamedTuple):
    """What can be reached in a room from where the player is."""

    trodden: bytes  # by tile: it can be stepped onto
    faced: tuple[bytes, ...]  # by direction and tile: it can be stood before
    rims: tuple[bool, ...]  # by direction: the room can be left over that edge


def _kinds(mode: int) -> Bytes:
    """`[256]`: bits of what a tile index is in a table of tiles."""
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
        ends: `[4, pixels]` uint16, the pixel after a step; NOWHERE where it would kill.
        outs: `[pixels]` uint8, 1 where the room is left.
        on_door: A door counts as ordinary ground, because he stands on it.
    """

    def __init__(
        self, terrain: Terrain, own: TilePlace, obstacles: Sequence[tuple[int, int]]
    ) -> None:
        self.height, self.width = terrain.size
        self.on_door = _stands_on_door(terrain, own)
        self._size = self.height * self.width
        self.ends = np.empty((4, self._size), dtype=np.uint16)
        self.outs = np.zeros(self._size, dtype=np.uint8)
        self._care = np.zeros(self._size, dtype=np.uint8)
        self._find_steps(terrain, own, obstacles)
        self._backwards: tuple[kernels.Counts, kernels.Pixels] | None = None
        self._labels = np.full(self._size, -1, dtype=np.int16)
        self._reached: list[Reached] = []
        self._ways: OrderedDict[tuple[Goal, int], bytes] = OrderedDict()

    def index(self, x: int, y: int) -> int:
        """The pixel at (x, y), kept to the room."""
        return min(y, self.height - 1) * self.width + min(x, self.width - 1)

    def reached(self, x: int, y: int) -> Reached:
        """What can be reached from a pixel.

        It is the same for all pixels between which there is a way both there and back.
        """
        at = self.index(x, y)
        label = int(self._labels[at])
        if label < 0:
            label = self._explore(at)
        return self._reached[label]

    def ways(self, goal: Goal, aside: int) -> bytes:
        """The best first steps to a goal from every pixel, see `kernels.find_ways`.

        `aside` is how far off the middle of the tile one may stand.
        """
        key = (goal, aside)
        found = self._ways.get(key)
        if found is not None:
            self._ways.move_to_end(key)
            return found
        if len(self._ways) >= MOST_WAYS:
            self._ways.popitem(last=False)
        found = self._ways[key] = self._find_ways(self._pixels(goal, aside), self._care, -1)
        return found

    def ways_past(
        self, goal: Goal, aside: int, dangers: list[tuple[int, int]], at: tuple[int, int]
    ) -> bytes:
        """The same from near a pixel, at some distance to dangers at (x, y)."""
        extra = self._care.copy()
        room = extra.reshape(self.height, self.width)
        for x, y in dangers:
            room[
                max(0, y - DANGER_REACH) : y + DANGER_REACH + 1,
                max(0, x - DANGER_REACH) : x + DANGER_REACH + 1,
            ] += _DANGER
        np.minimum(extra, _MOST_EXTRA, out=extra)
        return self._find_ways(self._pixels(goal, aside), extra, self.index(*at))

    def kills(self, x: int, y: int, way: Action) -> bool:
        """Whether a step from a pixel leads into what kills, or out of the room."""
        end = int(self.ends[way, self.index(x, y)])
        return end == NOWHERE or bool(self.outs[end])

    def after(self, x: int, y: int, way: Action) -> tuple[int, int]:
        """The pixel after a step that does not kill."""
        row, column = divmod(int(self.ends[way, self.index(x, y)]), self.width)
        return column, row

    def stops(self, x: int, y: int, way: Action) -> bool:
        """Whether a step from a pixel leads nowhere else."""
        at = self.index(x, y)
        return int(self.ends[way, at]) == at

    def _find_steps(
        self, terrain: Terrain, own: TilePlace, obstacles: Sequence[tuple[int, int]]
    ) -> None:
        solid = np.pad(solid_pixels(terrain.collisions), PAD).view(np.uint8)
        for x, y in obstacles:
            solid[max(0, y + PAD - 6) : y + PAD + 6, max(0, x + PAD - 6) : x + PAD + 6] = 1
        kernels.find_steps(
            solid, _tile_bits(terrain, own), _PROBES, self.height, self.width, FRAMES,
            self.ends, self.outs, self._care,
        )  # fmt: skip
        ledges = _LEDGES.get(terrain.mode)
        if ledges and np.isin(terrain.layout, np.frombuffer(ledges, dtype=np.uint8)).any():
            found = footing(terrain, frames=FRAMES, enterable=[own], obstacles=obstacles).ends
            self.ends[:] = np.where(found == FOOTING_NOWHERE, NOWHERE, found)

    def _explore(self, at: int) -> int:
        seen, back = np.zeros((2, self._size), dtype=np.uint8)
        trodden = np.zeros(COLLISION_BYTES, dtype=np.uint8)
        faced = np.zeros((4, COLLISION_BYTES), dtype=np.uint8)
        rims = np.zeros(4, dtype=np.uint8)
        kernels.reach_from(self.ends, self.outs, self.width, at, _AHEAD, seen, trodden, faced, rims)
        kernels.lead_to(*self._sources(), self.outs, at, back)
        label = len(self._reached)
        self._reached.append(
            Reached(
                trodden.tobytes(),
                tuple(row.tobytes() for row in faced),
                tuple(bool(rim) for rim in rims),
            )
        )
        both_ways = seen & back & (self.outs ^ 1)  # who stands on a way out alone walks on from it
        self._labels[both_ways.view(np.bool_)] = label
        self._labels[at] = label
        return label

    def _sources(self) -> tuple[kernels.Counts, kernels.Pixels]:
        if self._backwards is None:
            heads = np.zeros(self._size + 1, dtype=np.int32)
            sources = np.empty(4 * self._size, dtype=np.uint16)
            kernels.turn_round(self.ends, heads, sources)
            self._backwards = heads, sources
        return self._backwards

    def _find_ways(self, goal: Bytes, extra: Bytes, start: int) -> bytes:
        costs = np.empty(self._size, dtype=np.int16)
        kernels.find_ways(
            self.ends, *self._sources(), self.outs, extra, start, _SCRATCH, costs, goal
        )
        return goal.tobytes()

    def _pixels(self, goal: Goal, aside: int) -> Bytes:
        """`[pixels]`: ARRIVED and a direction at the goal, else 0."""
        pixels = np.zeros(self._size, dtype=np.uint8)
        row, column = divmod(goal.tile, TILE_COLUMNS)
        room = pixels.reshape(self.height, self.width)
        if goal.kind == "before":
            kernels.before_tile(
                self.ends, self.outs, self.width, goal.tile, _AHEAD, goal.ways, aside,
                int(goal.brink), pixels,
            )  # fmt: skip
        elif goal.kind == "at":
            y, x = divmod(goal.tile, 1 << 8)
            room[max(0, y - aside) : y + aside + 1, max(0, x - aside) : x + aside + 1] = (
                ARRIVED | Action.NOP
            )
        elif goal.kind == "away":
            x, y = TilePlace(row, column).middle
            room[_RIM:-_RIM, _RIM:-_RIM] = ARRIVED | Action.NOP
            room[max(0, y - _BLAST) : y + _BLAST, max(0, x - _BLAST) : x + _BLAST] = 0
        elif goal.kind != "over":
            x, y = TilePlace(row, column).middle
            top, left = row * TILE - FEET, column * TILE
            room[
                max(0, top, y - aside) : min(top + TILE, y + aside + 1),
                max(left, x - aside) : min(left + TILE, x + aside + 1),
            ] = ARRIVED | Action.NOP
        else:
            way = WALKS[goal.ways.bit_length() - 1]
            room[_rim(way, self.height, self.width)] = ARRIVED | way
        return pixels


def _rim(way: Action, height: int, width: int) -> tuple[slice, slice]:
    """The pixels of an edge, without the corners, as rows and columns of the room."""
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
    """`[12, 16]`: bits of what each tile is; the door on which he stands is none."""
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
_last: list[tuple[RamBlocks, Ground]] = []


def tiles_of(ram: RamBlocks) -> bytes:
    """What the ground depends on and changes in a blink: tiles, and which of them are solid."""
    return ram.wram[_SOLIDS] + ram.wram[_TILES]


def ground_of(ram: RamBlocks) -> Ground:
    """The ground that the RAM holds; some microseconds where it was seen before."""
    if _last and _last[0][0] is ram:
        return _last[0][1]
    ground = _seen_before(ram)
    _last[:] = [(ram, ground)]
    return ground


def _seen_before(ram: RamBlocks) -> Ground:
    wram = ram.wram
    x, y = player_position(ram)
    own = TilePlace((y + FEET) // TILE, x // TILE)
    mode = ram.u8(_MODE)
    tiles = wram[_TILES]
    at = own.row * TILE_COLUMNS + own.column
    on_door = at < COLLISION_BYTES and _KINDS.get(mode, _NO_KINDS)[tiles[at]] & DOOR
    obstacles = tuple((it.x, it.y) for it in talkables(ram))
    key = (
        wram[_SOLIDS], tiles, mode, ram.u8(_LARGE) != 0, ram.bit(_TREASURES, FLIPPERS),
        own if on_door else None, obstacles,
    )  # fmt: skip
    ground = _rooms.get(key)
    if ground is not None:
        _rooms.move_to_end(key)
        return ground
    if len(_rooms) >= MOST_ROOMS:
        _rooms.popitem(last=False)
    ground = _rooms[key] = Ground(terrain_of(ram), own, obstacles)
    return ground
