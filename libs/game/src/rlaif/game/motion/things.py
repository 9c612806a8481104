"""Things in a room that a decision can refer to, by tile, read from RAM.

They are derived from the tile tables of Oracle of Seasons (tile_properties/breakableTiles.s and
interactableTiles.s, constants/common/tileIndices.s of the disassembly) and from the game's objects,
without knowledge of any particular room.
"""

from functools import lru_cache
from typing import Literal, NamedTuple, get_args

from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks, once_per_ram
from rlaif.game.memory.entities import (
    INTERACTION_TREASURE,
    PART_ITEM_DROP,
    enemies,
    interactions,
    parts,
    talkables,
)
from rlaif.game.memory.memory_map import LARGE_ROOM, SMALL_ROOM, address
from rlaif.game.memory.walls import COLLISION_BYTES, COLLISIONS
from rlaif.game.motion.grid import TilePlace, tile_of
from rlaif.game.motion.ground import Goal, Reached, reached_in
from rlaif.game.motion.terrain import HAZARD_BYTE, HOLES, LAVA, TILE_COLUMNS, WARPS, WATER

Kind = Literal[
    "bush", "rock", "pot", "snow", "sign", "soil", "switch", "block", "stump", "crack", "lock",
    "boss_lock", "chest", "torch", "lit_torch", "button", "door", "hole", "person", "item", "enemy",
]  # fmt: skip
KINDS: tuple[Kind, ...] = get_args(Kind)
"""All kinds, in an order that never changes; new ones are appended."""

STEPPED_ON: frozenset[Kind] = frozenset({"button", "door", "item"})
"""Kinds that the player steps onto; for all others it stands before them."""


class Thing(NamedTuple):
    """Something on a tile; reachable if a path leads there from the player's position."""

    tile: TilePlace
    kind: Kind
    stepped_on: bool
    reachable: bool


_OUTDOORS: dict[int, Kind] = {
    **dict.fromkeys((0xC3, 0xC4, 0xC5, 0xC6, 0xC7, 0xC8, 0xC9, 0xCA, 0xCB, 0xD8, 0xE5), "bush"),
    **dict.fromkeys((0xC0, 0xC1, 0xC2), "rock"),
    **dict.fromkeys((0xD7, 0xD9, 0xDA), "snow"),
    **dict.fromkeys((0xE0, 0xE3), "soil"),
    0x20: "stump", 0xB1: "switch", 0xD6: "block", 0xE2: "crack", 0xEC: "lock",
    0xF1: "chest", 0xF2: "sign",
}  # fmt: skip
_INDOORS: dict[int, Kind] = {
    **dict.fromkeys((0x10, 0x11, 0x12, 0x13), "pot"),
    **dict.fromkeys((0x20, 0x21, 0x22, 0x23), "bush"),
    **dict.fromkeys((0x18, 0x19, 0x1A, 0x1B, 0x1C, 0x25, 0x2A, 0x2C, 0x2D, 0x2F), "block"),
    **dict.fromkeys((0x1F, *range(0x30, 0x34), *range(0x38, 0x3C)), "crack"),
    **dict.fromkeys((0x1E, *range(0x70, 0x74)), "lock"),
    **dict.fromkeys(range(0x74, 0x78), "boss_lock"),
    0x08: "torch", 0x09: "lit_torch", 0x0A: "switch", 0x0B: "switch", 0x0C: "button",
    0xF1: "chest", 0xF2: "sign",
}  # fmt: skip
_SUBROSIA: dict[int, Kind] = {0xE9: "rock", 0x2F: "soil", 0xEC: "lock", 0xF1: "chest", 0xF2: "sign"}


def _kinds(mode: int, named: dict[int, Kind]) -> dict[int, Kind]:
    doors: dict[int, Kind] = dict.fromkeys(WARPS.get(mode, ()), "door")
    holes: dict[int, Kind] = dict.fromkeys((*HOLES.get(mode, ()), *LAVA.get(mode, ())), "hole")
    return holes | doors | named


NAMED_TILES = dict(enumerate((_OUTDOORS, _SUBROSIA, _OUTDOORS, _INDOORS, _INDOORS)))
"""By wActiveCollisions: overworld, Subrosia, Maku tree, indoors, dungeons. No doors and holes."""

_BY_MODE = {mode: _kinds(mode, named) for mode, named in NAMED_TILES.items()}

_MOVABLE: frozenset[Kind | None] = frozenset({"block", "lock", "boss_lock"})
_ESSENCE = 0x7F
"""Interaction id of the essence that lies at the end of a dungeon."""

_LYING = (INTERACTION_TREASURE, _ESSENCE)
_LAYOUT = address("wRoomLayout")
_MODE, _LARGE = address("wActiveCollisions"), address("wRoomIsLarge")
_FREE, _WALL = 0, 0x0F
_ANY_DIRECTION = 0b1111
_FROM_BELOW = 1 << Action.UP
_AROUND = (-1, 1, -TILE_COLUMNS, TILE_COLUMNS)


def things(ram: RamBlocks) -> tuple[Thing, ...]:
    """Things in the room, row by row; one per tile, objects before tiles."""
    fixed, moving = fixed_things(reached_in(ram)), moving_things(ram)
    if not moving:
        return fixed
    taken = {thing.tile for thing in moving}
    return tuple(sorted((*moving, *(thing for thing in fixed if thing.tile not in taken))))


@once_per_ram
def moving_things(ram: RamBlocks) -> tuple[Thing, ...]:
    """Things that are objects: enemies, people, items."""
    reached = reached_in(ram)
    return tuple(_thing(tile, kind, reached) for tile, (kind, _, _) in _objects(ram).items())


def edges(ram: RamBlocks) -> tuple[bool, ...]:
    """Whether the room can be left over its upper, lower, left and right edge."""
    return reached_in(ram).rims


def goal_at(ram: RamBlocks, tile: TilePlace) -> Goal:
    """The goal of going to a tile, depending on what is on it."""
    at = tile.row * TILE_COLUMNS + tile.column
    kind, x, y = _objects(ram).get(tile, (None, 0, 0))
    if kind == "item":
        return Goal("at", y << 8 | x)
    collision = ram.u8(COLLISIONS + at)
    kind = kind or _kind_of(ram.u8(_MODE), ram.u8(_LAYOUT + at), collision)
    solid = _FREE < collision <= _WALL
    if kind == "door" and not solid:
        return Goal("into", at)
    if kind in ("button", "enemy") or (kind is None and not solid):
        return Goal("on", at)
    return Goal("before", at, _facing(kind), kind == "hole")


def is_movable(ram: RamBlocks, tile: TilePlace) -> bool:
    """Whether a tile holds a block or a lock, which may move or open when pushed."""
    at = tile.row * TILE_COLUMNS + tile.column
    inside = 0 <= tile.column < TILE_COLUMNS and 0 <= at < COLLISION_BYTES
    return inside and _BY_MODE.get(ram.u8(_MODE), {}).get(ram.u8(_LAYOUT + at)) in _MOVABLE


@lru_cache(maxsize=512)
def fixed_things(reached: Reached) -> tuple[Thing, ...]:
    """The things that are tiles. A hole counts if there is ground on both sides of it."""
    terrain = reached.terrain
    columns, rows = LARGE_ROOM if terrain.large else SMALL_ROOM
    solids = terrain.collisions.tobytes()
    found = []
    for at, index in enumerate(terrain.layout.tobytes()):
        kind = _kind_of(terrain.mode, index, solids[at])
        row, column = divmod(at, TILE_COLUMNS)
        if kind is None or row >= rows or column >= columns:
            continue
        if kind == "door" and solids[at] == _WALL:
            continue
        if kind == "hole" and not _can_be_jumped(solids, at, rows, columns):
            continue
        found.append(_thing(TilePlace(row, column), kind, reached))
    return tuple(found)


def _kind_of(mode: int, index: int, collision: int) -> Kind | None:
    """The kind of a tile; a hazard of the game, except water, is a hole."""
    kind = _BY_MODE.get(mode, {}).get(index)
    if kind is None and collision == HAZARD_BYTE and index not in WATER.get(mode, ()):
        return "hole"
    return kind


def _can_be_jumped(solids: bytes, at: int, rows: int, columns: int) -> bool:
    row, column = divmod(at, TILE_COLUMNS)
    across = 0 < column < columns - 1 and solids[at - 1] == solids[at + 1] == _FREE
    along = 0 < row < rows - 1 and (solids[at - TILE_COLUMNS] == solids[at + TILE_COLUMNS] == _FREE)
    return across or along


def _thing(tile: TilePlace, kind: Kind, reached: Reached) -> Thing:
    at = tile.row * TILE_COLUMNS + tile.column
    on = kind in STEPPED_ON
    if on:
        reachable = reached.trodden[at] != 0
    elif kind == "enemy":
        reachable = any(reached.trodden[near] for near in (at, *_beside(at)))
    else:
        directions = _facing(kind)
        reachable = any(directions >> way & 1 and row[at] for way, row in enumerate(reached.faced))
    return Thing(tile, kind, on, reachable)


def _beside(at: int) -> list[int]:
    return [at + by for by in _AROUND if 0 <= at + by < COLLISION_BYTES]


def _facing(kind: Kind | None) -> int:
    """Bits of the directions in which to face a kind: a chest opens only from below."""
    return _FROM_BELOW if kind == "chest" else _ANY_DIRECTION


def _objects(ram: RamBlocks) -> dict[TilePlace, tuple[Kind, int, int]]:
    columns, rows = LARGE_ROOM if ram.u8(_LARGE) else SMALL_ROOM
    seen: list[tuple[Kind, int, int]] = [("enemy", it.x, it.y) for it in enemies(ram) if it.health]
    seen += [("item", it.x, it.y) for it in parts(ram, (PART_ITEM_DROP,))]
    seen += [("item", it.x, it.y) for it in interactions(ram, _LYING)]
    seen += [("person", it.x, it.y) for it in talkables(ram)]
    found = {tile_of(each[1], each[2]): each for each in seen}
    return {tile: it for tile, it in found.items() if tile.row < rows and tile.column < columns}
