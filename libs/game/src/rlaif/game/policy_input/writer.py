"""Writes a policy's input: one row of numbers from the RAM of a state.

A pure function of the RAM, the last decision, decisions without effect, and the action set. Parts
that rarely change are cached by the bytes they depend on.

Oracle of Seasons keeps the cursor of its inventory at wInventorySubmenu0CursorPos and the two bytes
after it, one per page. The embedded cartridge keeps its own in private variables, so
`menu_cursor` does not change there; the decisions ITEM do not need it.
"""

from collections.abc import Collection
from functools import lru_cache
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from rlaif.contracts.game.observation import slot_index
from rlaif.game.decisions.catalog import COUNT, Arm
from rlaif.game.decisions.mask import Flags, allowed
from rlaif.game.machine.emulator import WRAM_START
from rlaif.game.memory.blocks import RamBlocks, bcd, bcd16
from rlaif.game.memory.entities import Entity, enemies, nearest, player_position
from rlaif.game.memory.memory_map import (
    COMPANION,
    DUNGEONS,
    LARGE_ROOM,
    OBJECT_ID,
    OBJECT_STRIDE,
    OBJECT_X,
    OBJECT_Y,
    SMALL_ROOM,
    address,
    room_flags_page,
)
from rlaif.game.memory.walls import COLLISION_BYTES, COLLISIONS
from rlaif.game.motion.grid import FEET
from rlaif.game.motion.ground import Reached, reached_in
from rlaif.game.motion.terrain import TILE, TILE_COLUMNS, TILE_ROWS
from rlaif.game.motion.things import KINDS, fixed_things, moving_things
from rlaif.game.policy_input.layout import (
    ALLOWED,
    CHUNKS,
    COINS,
    COUNTED,
    DEEP,
    EDGE,
    ENEMIES_LEFT,
    ENEMY_CODES,
    FLOOR,
    HEALTH,
    ITEM_CODES,
    KEYS,
    LEVELS,
    MAX_HEALTH,
    MOMENT,
    NEAREST_ENEMIES,
    NO_DECISION,
    OUTSIDE,
    OWNED,
    POLICY_INPUT,
    SCENE,
    SIZE,
    SPECIAL,
    THINGS,
    TILE_INDEXES,
    TILE_TABLES,
    TILES,
    TORCHES,
    WALL,
    Row,
    amount,
    bits_of,
    reached,
    read_only,
)

_LAYOUT = address("wRoomLayout")
_GROUP, _ROOM, _LARGE = address("wActiveGroup"), address("wActiveRoom"), address("wRoomIsLarge")
_TABLE, _AREA = address("wActiveCollisions"), address("wTilesetFlags")
_TRIGGERS, _TORCHES = address("wActiveTriggers"), address("wNumTorchesLit")
_SWITCHES, _TOGGLES = address("wSwitchState"), address("wToggleBlocksState")
_ENEMIES = address("wNumEnemies")
_GROUPS = 8

_TABLES = np.array([0, 1, 0, 2, 2] + [3] * 251, dtype=np.int32)
"""By wActiveCollisions: overworld with the Maku tree, Subrosia, indoors with dungeons, others."""

_SOLID_QUARTERS, _ALL_SOLID, _HAZARD, _RISING = 0x10, 0x0F, 0x10, 0x1E


def scene(ram: RamBlocks) -> Row:
    """The block `SCENE` of the layout; read-only, cached while nothing changes."""
    group, room = ram.u8(_GROUP), ram.u8(_ROOM)
    facts = bytes(
        (
            group % _GROUPS,
            room,
            ram.u8(_AREA),
            ram.u8(room_flags_page(group) + room),
            ram.u8(_TRIGGERS),
            ram.u8(_SWITCHES),
            ram.u8(_TOGGLES),
            ram.u8(_TORCHES),
            ram.u8(_ENEMIES),
        )
    )
    return _scene(
        facts,
        ram.block(_LAYOUT, TILES),
        ram.block(COLLISIONS, COLLISION_BYTES),
        ram.u8(_TABLE),
        ram.u8(_LARGE) != 0,
    )


@lru_cache(maxsize=4096)
def _scene(facts: bytes, layout: bytes, collisions: bytes, table: int, large: bool) -> Row:
    group, room, area, flags, triggers, switches, toggles, torches, enemies = facts
    values: list[int] = [
        group << 8 | room,
        *bits_of(bytes((area, flags, triggers, switches, toggles))),
        *reached(torches, TORCHES),
        *reached(enemies, ENEMIES_LEFT),
    ]
    row = np.concatenate([np.array(values), tile_codes(layout, collisions, table, large=large)])
    made = row.astype(np.float32)
    made.flags.writeable = False
    return made


def tile_codes(
    layout: bytes, collisions: bytes, table: int, *, large: bool
) -> npt.NDArray[np.int32]:
    """`[192] int32`, the code of each tile of the buffers (`layout.TILE_CODES`).

    All tiles outside the room have one code, regardless of the buffers.
    """
    kinds = _COLLISION_KINDS[np.frombuffer(collisions, dtype=np.uint8)]
    index = np.frombuffer(layout, dtype=np.uint8).astype(np.int32)
    codes: npt.NDArray[np.int32] = (kinds * TILE_TABLES + _TABLES[table]) * TILE_INDEXES + index
    outside = _OUTSIDE_LARGE if large else _OUTSIDE_SMALL
    codes[outside] = OUTSIDE * TILE_TABLES * TILE_INDEXES
    return codes


def _collision_kinds() -> npt.NDArray[np.int32]:
    kinds = np.full(256, SPECIAL, dtype=np.int32)
    kinds[:_SOLID_QUARTERS] = EDGE
    kinds[0], kinds[_ALL_SOLID] = FLOOR, WALL
    for byte in range(_SOLID_QUARTERS, 256):
        special = _HAZARD | byte & _ALL_SOLID
        if special == _HAZARD:
            kinds[byte] = DEEP
        elif special == _RISING:
            kinds[byte] = WALL
    return kinds


def _outside(columns: int, rows: int) -> npt.NDArray[np.bool_]:
    outside = np.ones((TILE_ROWS, TILE_COLUMNS), dtype=np.bool_)
    outside[:rows, :columns] = False
    return outside.reshape(-1)


_COLLISION_KINDS = _collision_kinds()
"""By collision byte: below 0x10 a mask of solid quarters, else as in `memory.walls`."""

_OUTSIDE_SMALL, _OUTSIDE_LARGE = _outside(*SMALL_ROOM), _outside(*LARGE_ROOM)


_FIRST, _HEALTH = address("wInventoryB"), address("wLinkHealth")
_AFTER_HEALTH = _HEALTH + 1
_END = address("wGlobalFlags") + 16
_DUNGEON, _KEYS = address("wDungeonIndex"), address("wDungeonSmallKeys")
_NO_KEYS = 0
_STORAGE_CELLS = 16
_TREASURES = 16
_OTHER_SEEDS = 5
_RINGS = 64
_HIGHEST_LEVEL = 3

_LEVELS = (
    "wSwordLevel", "wShieldLevel", "wBoomerangLevel", "wSlingshotLevel", "wFeatherLevel",
    "wSeedSatchelLevel", "wRingBoxLevel",
)  # fmt: skip
_STORES = (
    "wNumBombs", "wNumBombchus", "wNumEmberSeeds", "wNumScentSeeds", "wNumPegasusSeeds",
    "wNumGaleSeeds", "wNumMysterySeeds", "wNumGashaSeeds",
)  # fmt: skip
assert len(_LEVELS) == len(LEVELS)


def owned(ram: RamBlocks) -> Row:
    """The block `OWNED` of the layout; read-only, cached while nothing changes.

    Health is not part of it, as it changes more often than all the rest.
    """
    return _owned(
        ram.block(_FIRST, _HEALTH - _FIRST),
        ram.block(_AFTER_HEALTH, _END - _AFTER_HEALTH),
        _small_keys(ram),
    )


def item_code(item: int) -> int:
    """The code of an item id."""
    return min(item, ITEM_CODES - 1)


def _small_keys(ram: RamBlocks) -> int:
    dungeon = ram.u8(_DUNGEON)
    return ram.u8(_KEYS + dungeon) if dungeon < DUNGEONS else _NO_KEYS


@lru_cache(maxsize=1024)
def _owned(before: bytes, after: bytes, keys: int) -> Row:
    saved = before + b"\0" + after

    def at(name: str, size: int = 1) -> bytes:
        start = address(name) - _FIRST
        return saved[start : start + size]

    def u8(name: str) -> int:
        return at(name)[0]

    def money(name: str) -> int:
        low, high = at(name, 2)
        return bcd16(high << 8 | low)

    values = [
        item_code(u8("wInventoryB")),
        item_code(u8("wInventoryA")),
        *map(item_code, at("wInventoryStorage", _STORAGE_CELLS)),
        min(u8("wSatchelSelectedSeeds"), _OTHER_SEEDS),
        min(u8("wShooterSelectedSeeds"), _OTHER_SEEDS),
        _ring(u8("wActiveRing")),
        *bits_of(at("wObtainedTreasureFlags", _TREASURES)),
        *(min(u8(name), _HIGHEST_LEVEL) / _HIGHEST_LEVEL for name in _LEVELS),
        *bits_of(at("wEssencesObtained")),
        *bits_of(at("wObtainedSeasons"))[:4],
        *bits_of(at("wGlobalFlags", 16)),
        *reached(money("wNumRupees"), COINS),
        *reached(money("wNumOreChunks"), CHUNKS),
        amount(money("wNumOreChunks")),
        *(told for name in _STORES for told in _store(bcd(u8(name)))),
        *reached(u8("wLinkMaxHealth"), MAX_HEALTH),
        *reached(keys, KEYS),
    ]
    return read_only(values)


def _store(number: int) -> tuple[float, ...]:
    return *reached(number, COUNTED), amount(number)


def _ring(worn: int) -> int:
    return worn + 1 if worn < _RINGS else 0


assert POLICY_INPUT["ring"].codes == _RINGS + 1


_STATE: Any = itemgetter(
    *(
        address(name) - WRAM_START
        for name in (
            "wLinkGrabState", "wLinkObjectIndex", "wUsingShield", "wOpenedMenuType",
            "wInventorySubmenu", "wMenuLoadState", "wTextIsActive", "wTextDisplayMode",
            "wSelectedTextOption", "wLinkHealth",
        )
    ),
    address("wPegasusSeedCounter") + 1 - WRAM_START,  # the upper byte of two
    slice(address("wTextIndex") - WRAM_START, address("wTextIndex") + 2 - WRAM_START),
    slice(
        address("wInventorySubmenu0CursorPos") - WRAM_START,
        address("wInventorySubmenu0CursorPos") + 3 - WRAM_START,
    ),
)  # fmt: skip
_INVENTORY, _CELLS, _PAGES = 1, 16, 3
_OTHER_MENU, _LAST_STATE = 11, 3
_QUESTION, _OPTIONS = 1, 4
_TILE_PIXELS = TILE - 1
_HANDS = {0: (1, 0, 0, 0), 0x41: (0, 1, 0, 0), 0xC2: (0, 0, 1, 0), 0x83: (0, 0, 0, 1)}
_OTHER_HANDS = (0, 0, 0, 1)
_RUNS = 0x80
_NO_TEXT = bytes(2)

_FIRST_OBJECT = 0xD200
_OBJECTS = (0xE000 - _FIRST_OBJECT) // OBJECT_STRIDE
_NONE_THERE = bytes(_OBJECTS)
_COUNTER = 6
_NOTHING = (0.0, 0.0, 0.0, 0.0, 0)
_SPAN = 512

_PLACE = slice(MOMENT.start, POLICY_INPUT["grab"].span.start)
_SLOW = slice(_PLACE.stop, POLICY_INPUT["enemies_near"].span.start)
_OBJECTS_NEAR = slice(_SLOW.stop, MOMENT.stop)
"""Parts of `MOMENT`: fields that change with each step, fields that rarely do, objects."""


def _write_moment(ram: RamBlocks, last_decision: int | None, out: Row) -> None:
    """Write the block `MOMENT` of the layout into an input."""
    x, y = player_position(ram)
    out[_PLACE] = (
        _decision(last_decision),
        min((y + FEET) // TILE, TILE_ROWS - 1),
        x // TILE,
        x % TILE / _TILE_PIXELS,
        (y + FEET) % TILE / _TILE_PIXELS,
    )
    out[_SLOW] = _state(_STATE(ram.wram))
    out[_OBJECTS_NEAR] = (*_enemies(ram, x, y), *_own_object(ram, x, y))


def _decision(last: int | None) -> int:
    if last is None:
        return NO_DECISION
    if not 0 <= last < COUNT:
        raise ValueError(f"unknown decision {last}: the last one is {COUNT - 1}")
    return last


@lru_cache(maxsize=4096)
def _state(seen: tuple[Any, ...]) -> Row:
    """The fields from `grab` to `health`."""
    grab, ridden, shield, menu, page, load, text, mode, option, health, *others = seen
    runs, text_id, cursors = others
    values = [
        *_HANDS.get(grab, _OTHER_HANDS),
        ridden == COMPANION >> 8,
        runs >= _RUNS,
        shield != 0,
        *_menu(menu, min(page, _PAGES), load, cursors),
        _option(option) if text and mode == _QUESTION else 0,
        *bits_of(text_id if text else _NO_TEXT),
        *reached(health, HEALTH),
    ]
    return read_only(values)


def _menu(kind: int, page: int, load: int, cursors: bytes) -> tuple[int, int, int, int]:
    if not kind:
        return 0, 0, 0, 0
    cursor = 0
    if kind == _INVENTORY and page < _PAGES:
        cursor = min(cursors[page], _CELLS - 1) + 1
    return min(kind, _OTHER_MENU), page, min(load, _LAST_STATE), cursor


def _option(chosen: int) -> int:
    return chosen + 2 if chosen < _OPTIONS else 1


def _enemies(ram: RamBlocks, x: int, y: int) -> list[int]:
    found: list[Entity] = enemies(ram)
    codes = [min(each.id + 1, ENEMY_CODES - 1) for each in nearest(found, x, y)[:NEAREST_ENEMIES]]
    return codes + [0] * (NEAREST_ENEMIES - len(codes))


def _own_object(ram: RamBlocks, x: int, y: int) -> tuple[float, float, float, float, int]:
    first = _FIRST_OBJECT - WRAM_START
    wram = ram.wram
    enabled = wram[first::OBJECT_STRIDE]
    if enabled == _NONE_THERE:
        return _NOTHING
    there = [first + page * OBJECT_STRIDE for page in range(_OBJECTS) if enabled[page]]
    _, at = min(
        ((wram[at + OBJECT_X] - x) ** 2 + (wram[at + OBJECT_Y] - y) ** 2, at) for at in there
    )
    return (
        1.0,
        0.5 + (wram[at + OBJECT_X] - x) / _SPAN,
        0.5 + (wram[at + OBJECT_Y] - y) / _SPAN,
        wram[at + _COUNTER] / 255,
        item_code(wram[at + OBJECT_ID]),
    )


_TEXT, _ROOM_CODE = POLICY_INPUT["text"].span, POLICY_INPUT["room"].span
_ROOMS_PER_GROUP = 256
_ROOM_BITS = slice(slot_index("room_bit_0"), slot_index("room_bit_7") + 1)
_CODES = {kind: code for code, kind in enumerate(KINDS, start=1)}


def write_policy_input(
    ram: RamBlocks,
    last_decision: int | None,
    out: Row,
    *,
    arm: Arm = "macros",
    in_vain: Collection[int] = (),
    names_rooms: bool = True,
) -> None:
    """Write the whole input of a state into `out`, `[SIZE] float32`.

    Any bytes result in an input within the bounds of its fields.

    Args:
        ram: The RAM of the state.
        last_decision: The decision that led here, 0 to `COUNT` - 1; None: start of an episode.
        out: Overwritten; need not be contiguous.
        arm: The action set of the field `allowed`.
        in_vain: Decisions that had no effect in this state; masked while there are others.
        names_rooms: False omits the numbers of room and text, whose meaning differs between
            worlds.

    Raises:
        ValueError: `last_decision` does not exist.
    """
    _write_moment(ram, last_decision, out)
    out[OWNED] = owned(ram)
    out[SCENE] = scene(ram)
    if not names_rooms:
        out[_TEXT] = 0
        out[_ROOM_CODE] -= out[_ROOM_CODE] % _ROOMS_PER_GROUP
    _write_things(ram, out[THINGS])
    out[ALLOWED] = _offered(allowed(ram, arm), in_vain)


def without_room_numbers(observations: Row) -> Row:
    """A copy of observations, `[..., 128]`, whose bits of the room's number are 0."""
    found = observations.copy()
    found[..., _ROOM_BITS] = 0
    return found


def policy_input(
    ram: RamBlocks,
    last_decision: int | None = None,
    *,
    arm: Arm = "macros",
    in_vain: Collection[int] = (),
) -> Row:
    """The input of a state as a new row; see `write_policy_input`."""
    out = np.empty(SIZE, dtype=np.float32)
    write_policy_input(ram, last_decision, out, arm=arm, in_vain=in_vain)
    return out


def _offered(can: Flags, in_vain: Collection[int]) -> Flags:
    if not in_vain:
        return can
    others = can.copy()
    others[list(in_vain)] = False
    return others if others.any() else can


def _write_things(ram: RamBlocks, out: Row) -> None:
    """Write the code of the thing on each tile, `[192]`; of two the moving one."""
    out[:] = _fixed_codes(reached_in(ram))
    for thing in moving_things(ram):
        out[thing.tile.row * TILE_COLUMNS + thing.tile.column] = _CODES[thing.kind]


@lru_cache(maxsize=512)
def _fixed_codes(room: Reached) -> Row:
    codes = np.zeros(TILES, dtype=np.float32)
    for thing in fixed_things(room):
        codes[thing.tile.row * TILE_COLUMNS + thing.tile.column] = _CODES[thing.kind]
    return read_only(codes)
