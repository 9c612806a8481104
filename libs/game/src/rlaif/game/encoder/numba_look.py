"""The encoder of training: the bits of `reference.encode_into` in about 3 µs instead of 100.

One compiled function reads the emulator's memory in place and writes the observation. The scene
and the shape of the room, which rarely change, are cached with all the bytes they depend on and
computed in Python only when these differ. So the result is a pure function of the RAM; a test
compares the bits with the reference.

Compiling takes about 4 s once per machine: the result is cached beside this file, or in
`NUMBA_CACHE_DIR`; without a writable directory each process compiles. The cache depends on this
file and on `Constants` only. So all kernels are in this file, and values of other modules are
arguments.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

from rlaif.contracts.game.observation import ENEMY_SLOTS, LAYOUT, RAY_LENGTH, slot_index
from rlaif.game.encoder import reference as near
from rlaif.game.encoder import scene as scenes
from rlaif.game.encoder.reference import (
    NOT_CENTRE,
    POSE_ADDRESSES,
    SCENE,
    WALLS,
    Observation,
    scaled,
)
from rlaif.game.encoder.scene import CHEST, FLAG_SPANS, ITEM_SPANS, PLACE_SPANS
from rlaif.game.machine.emulator import WRAM_SIZE, WRAM_START
from rlaif.game.memory.blocks import DUNGEON_LAYOUT_SIZE, RamBlocks
from rlaif.game.memory.entities import HARMLESS_ENEMY_IDS, INTERACTION_TREASURE, PART_ITEM_DROP
from rlaif.game.memory.memory_map import (
    COMPANION,
    LINK,
    OBJECT_ANGLE,
    OBJECT_HEALTH,
    OBJECT_ID,
    OBJECT_X,
    OBJECT_Y,
    TILE_STRIDE,
    address,
)
from rlaif.game.memory.walls import CELL_CODES_BY_X, CELL_CODES_BY_Y, SOLID, STOP, room_cells

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
Keys = npt.NDArray[np.int64]
Row = npt.NDArray[np.float32]
Int = int | np.int64
Look = Callable[[Bytes, Bytes, Words, Bytes, Row, Row], int]
"""`look(wram, dungeon_layout, seen, cells, scene, out)`, see `compiled_look`."""

MAX_CACHED = 1024
"""Cached parts of each kind before all are dropped: 7 MB at most."""

PLACE, ITEMS, FLAGS = 1, 2, 4
"""Bits of the result if the scene changed: its parts that may differ."""

WROTE = 8
"""Bit of the result: the observation is written. Otherwise the scene must be updated first."""

STILL = 16
"""Bit of the result: work RAM equals that of the previous call."""

_WORD = 8
SEEN_WORDS = (WRAM_SIZE + DUNGEON_LAYOUT_SIZE) // _WORD + 1
"""State between calls: work RAM, the dungeon's layout, a flag for the first call."""

_FAR: Int = 1 << 40
"""More than any key of an object: squared distance << 16 | address in work RAM."""

_INTERACTION, _ENEMY, _PART = 1, 2, 3
"""Kind of an object by its position in its page."""

_Kernel = TypeVar("_Kernel", bound=Callable[..., Any])
_K = TypeVar("_K")
_V = TypeVar("_V")


def _ram(name: str) -> int:
    return address(name) - WRAM_START


def _scale(slot: str) -> float:
    return LAYOUT[slot_index(slot)].scale


def _mask(spans: Sequence[slice]) -> Words:
    """`[1024] uint64`: all bits of the bytes in `spans` of work RAM."""
    mask = np.zeros(WRAM_SIZE, dtype=np.uint8)
    for span in spans:
        mask[span] = 0xFF
    return mask.view(np.uint64)


_HEIGHT, _FACING, _SWIMMING, _IN_AIR, _GRABBING, _HURT, _PUSHING = (
    where - WRAM_START for where in POSE_ADDRESSES
)


class PlayerBytes(NamedTuple):
    """Offsets of the player's bytes in work RAM."""

    height: int = _HEIGHT
    facing: int = _FACING
    swimming: int = _SWIMMING
    in_air: int = _IN_AIR
    grabbing: int = _GRABBING
    hurt: int = _HURT
    pushing: int = _PUSHING
    controlled_page: int = _ram("wLinkObjectIndex")
    companion_page: int = COMPANION >> 8
    companion: int = COMPANION - WRAM_START
    link: int = LINK - WRAM_START


class PlayerSlots(NamedTuple):
    """The player's slots, and the values that are scaled to 1."""

    x: int = slot_index("player_x")
    y: int = slot_index("player_y")
    height: int = slot_index("player_height")
    facing: int = slot_index("facing_up")
    swimming: int = slot_index("swimming")
    airborne: int = slot_index("airborne")
    carrying: int = slot_index("carrying")
    hurt: int = slot_index("hurt")
    pushing: int = slot_index("pushing")
    x_scale: float = _scale("player_x")
    y_scale: float = _scale("player_y")
    height_scale: float = _scale("player_height")
    hurt_scale: float = _scale("hurt")


class Walls(NamedTuple):
    """Indices of the cells around a point in `walls.room_cells`, and their slots."""

    codes_by_y: npt.NDArray[np.int16] = CELL_CODES_BY_Y
    codes_by_x: npt.NDArray[np.int16] = CELL_CODES_BY_X
    stop: int = STOP
    around: npt.NDArray[np.intp] = NOT_CENTRE
    around_slot: int = WALLS.start
    around_scale: np.float32 = np.float32(1.0 / SOLID)
    rays: int = len(NOT_CENTRE) + 1
    ray_codes: int = (RAY_LENGTH + 1) * 2
    ray_slot: int = slot_index("free_north")
    ray_scale: np.float32 = np.float32(1.0 / _scale("free_north"))


class Objects(NamedTuple):
    """Offsets of the 64 objects in work RAM, their fields, and the meaning of their ids."""

    first: int = near.OBJECTS
    size: int = near.OBJECT_SIZE
    id: int = OBJECT_ID
    x: int = OBJECT_X
    y: int = OBJECT_Y
    health: int = OBJECT_HEALTH
    angle: int = OBJECT_ANGLE
    radius_x: int = near.RADIUS_X
    radius_y: int = near.RADIUS_Y
    drop: int = PART_ITEM_DROP
    treasure: int = INTERACTION_TREASURE
    span: float = near.SPAN
    harmless: npt.NDArray[np.bool_] = np.isin(np.arange(256), list(HARMLESS_ENEMY_IDS))


class Ahead(NamedTuple):
    """What reacts to A: a list of objects, and the tile ahead."""

    listed: int = near.A_LIST
    listed_size: int = near.A_LIST_SIZE
    direction: int = near.LINK_DIRECTION
    reach: int = near.REACH
    tiles: int = near.TILES
    tile_stride: int = TILE_STRIDE
    tile_rows: int = near.TILE_ROWS
    sign: int = near.SIGN
    chest: int = CHEST
    chest_side: int = near.FACING_UP


class NearbySlots(NamedTuple):
    """Slots of enemies, person and item, and the values of slots by byte."""

    enemies: int = ENEMY_SLOTS
    enemy: int = slot_index("enemy_1_present")
    enemy_health: int = slot_index("enemy_1_health")
    enemy_dir_x: int = slot_index("enemy_1_dir_x")
    enemy_dir_y: int = slot_index("enemy_1_dir_y")
    enemy_stride: int = slot_index("enemy_2_present") - slot_index("enemy_1_present")
    person: int = slot_index("npc_present")
    thing: int = slot_index("item_present")
    answers: int = slot_index("npc_ahead")
    health: npt.NDArray[np.float64] = np.array(near.HEALTH)
    dir_x: npt.NDArray[np.float64] = np.array(near.DIR_X)
    dir_y: npt.NDArray[np.float64] = np.array(near.DIR_Y)


class Constants(NamedTuple):
    """All values of other modules that the kernels use."""

    masks: Words = np.array([_mask(PLACE_SPANS), _mask(ITEM_SPANS), _mask(FLAG_SPANS)])
    player: PlayerBytes = PlayerBytes()
    player_slots: PlayerSlots = PlayerSlots()
    scene_slot: int = SCENE.start
    walls: Walls = Walls()
    objects: Objects = Objects()
    ahead: Ahead = Ahead()
    nearby: NearbySlots = NearbySlots()


@cache
def compiled_look() -> Look:
    """The compiled function; the first call in a process loads it.

    `look(wram, dungeon_layout, seen, cells, scene, out)` compares the RAM with `seen`
    (`[SEEN_WORDS] uint64`, initially 0) and updates it. If the scene changed, the result is the
    bits of its changed parts: the caller updates `cells` (`walls.room_cells`) and `scene` (that
    part of the observation) and calls again. Otherwise it writes the observation to `out` and
    returns `WROTE` and `STILL`, x << 8 and y << 16.
    """
    signature = numba.int64(
        _array(numba.uint8),
        _array(numba.uint8),
        _array(numba.uint64, readonly=False),
        _array(numba.uint8),
        _array(numba.float32, readonly=False),
        _array(numba.float32, readonly=False),
    )
    look = _look_with(Constants())
    try:
        compiled = numba.njit(signature, cache=True, error_model="numpy")(look)
    except RuntimeError:  # numba found no writable cache directory
        compiled = numba.njit(signature, error_model="numpy")(look)
    return cast(Look, compiled)


def _array(kind: Any, *, readonly: bool = True) -> Any:
    return numba.types.Array(kind, 1, "C", readonly=readonly)


def _kernel(function: _Kernel) -> _Kernel:
    """Compile into the caller only: separate calls took 12 % longer."""
    compiled: _Kernel = numba.njit(error_model="numpy", forceinline=True)(function)
    return compiled


def _look_with(constants: Constants) -> Callable[..., Int]:
    """The function to compile: a closure over the constants, so the cache depends on them."""

    def look(
        wram: Bytes, dungeon_layout: Bytes, seen: Words, cells: Bytes, scene: Row, out: Row
    ) -> Int:
        changed, still = _changes(wram, dungeon_layout, seen, constants.masks)
        if changed:
            return changed
        objects, nearby = constants.objects, constants.nearby
        x, y = _player(wram, out, constants.player, constants.player_slots, objects)
        for i in range(scene.size):
            out[constants.scene_slot + i] = scene[i]
        _walls(cells, x, y, out, constants.walls)
        answers, listed = _who_answers(wram, x, y, constants.ahead, objects)
        free_hands = not wram[constants.player.grabbing]
        keys = _nearest(wram, x, y, listed, nearby.enemies, objects)
        _sightings(wram, x, y, keys, out, nearby, objects)
        out[nearby.answers] = 1.0 if answers and free_hands else 0.0
        return WROTE | (STILL if still else 0) | x << 8 | y << 16

    return look


@_kernel
def _changes(wram: Bytes, dungeon_layout: Bytes, seen: Words, masks: Words) -> tuple[int, bool]:
    """Compare with `seen` and update it: changed parts of the scene; whether no byte differs."""
    words, layout_words = wram.view(np.uint64), dungeon_layout.view(np.uint64)
    anything = place = items = flags = np.uint64(0)
    for i in range(words.size):
        differs = words[i] ^ seen[i]
        anything |= differs
        place |= differs & masks[0, i]
        items |= differs & masks[1, i]
        flags |= differs & masks[2, i]
        seen[i] = words[i]
    for i in range(layout_words.size):
        place |= layout_words[i] ^ seen[words.size + i]
        seen[words.size + i] = layout_words[i]
    if not seen[-1]:  # the first call
        seen[-1] = np.uint64(1)
        return PLACE | ITEMS | FLAGS, False
    changed = (PLACE if place else 0) | (ITEMS if items else 0) | (FLAGS if flags else 0)
    return changed, not anything


@_kernel
def _player(
    wram: Bytes, out: Row, at: PlayerBytes, slots: PlayerSlots, objects: Objects
) -> tuple[Int, Int]:
    """Write the player's slots; returns x and y of the controlled object, in pixels of the room."""
    riding = wram[at.controlled_page] == at.companion_page
    page = at.companion if riding else at.link
    x, y = np.int64(wram[page + objects.x]), np.int64(wram[page + objects.y])
    height, hurt = np.int64(wram[at.height]), np.int64(wram[at.hurt])
    out[slots.x] = min(x / slots.x_scale, 1.0)
    out[slots.y] = min(y / slots.y_scale, 1.0)
    out[slots.height] = min((0x100 - height if height >= 0x80 else 0) / slots.height_scale, 1.0)
    for direction in range(4):
        out[slots.facing + direction] = 1.0 if wram[at.facing] == direction else 0.0
    out[slots.swimming] = 1.0 if wram[at.swimming] & 0x0F else 0.0
    out[slots.airborne] = 1.0 if wram[at.in_air] & 0x0F else 0.0
    out[slots.carrying] = 1.0 if wram[at.grabbing] else 0.0
    out[slots.hurt] = min((hurt if hurt < 0x80 else 0) / slots.hurt_scale, 1.0)
    out[slots.pushing] = 1.0 if wram[at.pushing] != 0xFF else 0.0
    return x, y


@_kernel
def _walls(cells: Bytes, x: Int, y: Int, out: Row, walls: Walls) -> None:
    """Write the kinds of the half tiles around (x, y) and the free distances in four directions."""
    by_x, by_y, stop = walls.codes_by_x[x], walls.codes_by_y[y], walls.stop
    for i in range(walls.around.size):
        code = by_y[walls.around[i]] + by_x[walls.around[i]]
        out[walls.around_slot + i] = np.float32(cells[min(code, stop)]) * walls.around_scale
    for ray in range(4):
        first, free = walls.rays + ray * walls.ray_codes, 0
        while True:  # each ray ends at a cell that is solid
            left = min(by_y[first + 2 * free] + by_x[first + 2 * free], stop)
            right = min(by_y[first + 2 * free + 1] + by_x[first + 2 * free + 1], stop)
            if cells[left] | cells[right]:
                break
            free += 1
        out[walls.ray_slot + ray] = np.float32(free) * walls.ray_scale


@_kernel
def _key(wram: Bytes, x: Int, y: Int, where: Int, objects: Objects) -> Int:
    off_x = np.int64(wram[where + objects.x]) - x
    off_y = np.int64(wram[where + objects.y]) - y
    return (off_x * off_x + off_y * off_y) << 16 | where


@_kernel
def _who_answers(wram: Bytes, x: Int, y: Int, ahead: Ahead, objects: Objects) -> tuple[bool, Int]:
    """Whether something ahead reacts to A; the key of the nearest listed object, or `_FAR`."""
    direction = wram[ahead.direction] & 3
    ahead_x, ahead_y = x, y
    if direction == 1:
        ahead_x += ahead.reach
    elif direction == 3:
        ahead_x -= ahead.reach
    else:
        ahead_y += ahead.reach if direction == 2 else -ahead.reach
    answers, nearest = False, _FAR
    for entry in range(ahead.listed, ahead.listed + ahead.listed_size, 2):
        page = np.int64(wram[entry + 1])
        where = objects.first + (page & 0x0F) * 0x100 + (np.int64(wram[entry]) & 0xC0)
        if page >> 4 != 0xD or not wram[where]:
            continue
        nearest = min(nearest, _key(wram, x, y, where, objects))
        off_x = abs(np.int64(wram[where + objects.x]) - ahead_x)
        off_y = abs(np.int64(wram[where + objects.y]) - ahead_y)
        answers |= off_x < wram[where + objects.radius_x] and off_y < wram[where + objects.radius_y]
    column, row = ahead_x >> 4, ahead_y >> 4
    if 0 <= column < ahead.tile_stride and 0 <= row < ahead.tile_rows:
        tile = wram[ahead.tiles + row * ahead.tile_stride + column]
        answers |= tile == ahead.sign or (tile == ahead.chest and direction == ahead.chest_side)
    return answers, nearest


@_kernel
def _nearest(wram: Bytes, x: Int, y: Int, listed: Int, enemies: int, objects: Objects) -> Keys:
    """The keys of the nearest enemies, person and item; `_FAR` for none.

    Without a list all people react to A; without drops all parts are items.
    """
    keys = np.full(enemies + 2, np.int64(_FAR))
    person, thing = enemies, enemies + 1
    keys[person] = listed
    drops = _has_drops(wram, objects)
    for where in range(objects.first, objects.first + 64 * objects.size, objects.size):
        if not wram[where]:
            continue
        kind, number = where >> 6 & 3, wram[where + objects.id]
        key = _key(wram, x, y, where, objects)
        if kind == _ENEMY and not objects.harmless[number]:
            for rank in range(enemies):
                if key < keys[rank]:
                    key, keys[rank] = keys[rank], key
        elif kind == _INTERACTION:
            if listed == _FAR:
                keys[person] = min(keys[person], key)
            if drops and number == objects.treasure:
                keys[thing] = min(keys[thing], key)
        elif kind == _PART and (not drops or number == objects.drop):
            keys[thing] = min(keys[thing], key)
    return keys


@_kernel
def _has_drops(wram: Bytes, objects: Objects) -> bool:
    drops = False
    for where in range(objects.first, objects.first + 64 * objects.size, objects.size):
        if wram[where]:
            kind, number = where >> 6 & 3, wram[where + objects.id]
            drops |= kind == _PART and number == objects.drop
            drops |= kind == _INTERACTION and number == objects.treasure
    return drops


@_kernel
def _sightings(
    wram: Bytes, x: Int, y: Int, keys: Keys, out: Row, slots: NearbySlots, objects: Objects
) -> None:
    out[slots.enemy : slots.answers] = 0.0
    for rank in range(slots.enemies):
        if keys[rank] < _FAR:
            where, shift = keys[rank] & 0xFFFF, rank * slots.enemy_stride
            angle = wram[where + objects.angle]
            _sighting(wram, x, y, where, out, slots.enemy + shift, objects)
            out[slots.enemy_health + shift] = slots.health[wram[where + objects.health]]
            out[slots.enemy_dir_x + shift] = slots.dir_x[angle]
            out[slots.enemy_dir_y + shift] = slots.dir_y[angle]
    person, thing = keys[slots.enemies], keys[slots.enemies + 1]
    if person < _FAR:
        _sighting(wram, x, y, person & 0xFFFF, out, slots.person, objects)
    if thing < _FAR:
        _sighting(wram, x, y, thing & 0xFFFF, out, slots.thing, objects)


@_kernel
def _sighting(
    wram: Bytes, x: Int, y: Int, where: Int, out: Row, slot: Int, objects: Objects
) -> None:
    out[slot] = 1.0
    out[slot + 1] = 0.5 + (np.int64(wram[where + objects.x]) - x) / objects.span
    out[slot + 2] = 0.5 + (np.int64(wram[where + objects.y]) - y) / objects.span


class EncoderCache:
    """Parts of observations by the bytes they depend on; encoders may share it."""

    def __init__(self) -> None:
        self.places: dict[scenes.Key, tuple[Observation, Observation]] = {}
        self.items: dict[scenes.Key, Observation] = {}
        self.flags: dict[scenes.Key, Observation] = {}
        self.cells: dict[bytes, npt.NDArray[np.uint8]] = {}


def _known(where: dict[_K, _V], key: _K, make: Callable[[], _V]) -> _V:
    found = where.get(key)
    if found is None:
        if len(where) >= MAX_CACHED:
            where.clear()
        found = where[key] = make()
    return found


def _place(ram: RamBlocks) -> tuple[Observation, Observation]:
    return (
        scaled(scenes.room_values(ram), scenes.ROOM),
        scaled(scenes.puzzle_values(ram), scenes.PUZZLE),
    )


def _in_scene(slots: slice) -> slice:
    return slice(slots.start - SCENE.start, slots.stop - SCENE.start)


_ROOM, _PUZZLE = _in_scene(scenes.ROOM), _in_scene(scenes.PUZZLE)
_ITEMS, _FLAGS = _in_scene(scenes.ITEMS), _in_scene(scenes.FLAGS)


class Encoder:
    """Encodes the steps of one environment.

    Attributes:
        scene: The RAM if the scene differs from the previous call, else None: every byte of the
            room, possessions, flags and health is the same (`PLACE_SPANS` and the others).
        progressed: Whether more than the flags of the scene may differ.
        x: The player's position at the last call, in pixels of the room.
        y: The same for the vertical axis.
        still: Work RAM equals that of the previous call.
    """

    def __init__(self, cache: EncoderCache | None = None) -> None:
        self._cache = cache or EncoderCache()
        self._look = compiled_look()
        self._seen = np.zeros(SEEN_WORDS, dtype=np.uint64)
        self._cells = _read_only(np.empty(0, dtype=np.uint8))
        self._scene = np.zeros(SCENE.stop - SCENE.start, dtype=np.float32)
        self.scene: RamBlocks | None = None
        self.progressed = False
        self.x = self.y = 0
        self.still = False

    def encode_into(
        self, wram: npt.NDArray[np.uint8], layout: npt.NDArray[np.uint8], out: Observation
    ) -> None:
        """Write the observation of a `LiveRam` into `out`, `[128]` float32, contiguous."""
        result = self._look(wram, layout, self._seen, self._cells, self._scene, out)
        if result & WROTE:
            self.scene = None
            self.still = bool(result & STILL)
        else:
            self._enter(RamBlocks(wram.tobytes(), layout.tobytes()), result)
            result = self._look(wram, layout, self._seen, self._cells, self._scene, out)
            self.still = False
        self.x = result >> 8 & 0xFF
        self.y = result >> 16

    def _enter(self, ram: RamBlocks, changed: int) -> None:
        cache, scene = self._cache, self._scene
        if changed & PLACE:
            key = scenes.PLACE_KEY(ram.wram)
            place = _known(cache.places, (*key, ram.dungeon_layout), lambda: _place(ram))
            scene[_ROOM], scene[_PUZZLE] = place
            self._cells = _known(cache.cells, key[0], lambda: _read_only(room_cells(key[0])))
        if changed & ITEMS:
            scene[_ITEMS] = _known(
                cache.items,
                scenes.ITEM_KEY(ram.wram),
                lambda: scaled(scenes.item_values(ram), scenes.ITEMS),
            )
        if changed & FLAGS:
            scene[_FLAGS] = _known(
                cache.flags,
                scenes.FLAG_KEY(ram.wram),
                lambda: scaled(scenes.flag_values(ram), scenes.FLAGS),
            )
        self.scene = ram
        self.progressed = changed != FLAGS


def _read_only(array: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    array.flags.writeable = False
    return array
