"""The part of an observation that rarely changes: room, items, flags, puzzle, exploration.

Its groups change at different times: the place, items, flags. `PLACE_SPANS`, `ITEM_SPANS` and
`FLAG_SPANS` are all of the work RAM that they depend on. While these bytes stay the same, so do the
values: caches rely on it, and a test verifies it for every byte.
"""

from operator import itemgetter
from typing import Any, cast

from rlaif.contracts.game.observation import (
    LAYOUT,
    OTHER_TOOLS,
    STORY_KEYS,
    TREASURE_SLOTS,
    slot_index,
)
from rlaif.game.machine.emulator import WRAM_START
from rlaif.game.memory import predicates, rooms
from rlaif.game.memory.blocks import RamBlocks, bcd, bcd16
from rlaif.game.memory.memory_map import (
    ITEM_SWORD,
    ROOM_EVENTS,
    ROOM_ITEM,
    SAVEFILE_STRING,
    TREASURE_SHIELD,
    address,
)
from rlaif.game.memory.walls import COLLISION_BYTES, FLIPPERS, open_sides

Values = tuple[float, ...]
"""Slot values before the division by the slot's scale."""

ROOM = slice(slot_index("group_bit_0"), slot_index("health"))
ITEMS = slice(ROOM.stop, slot_index("text_active"))
FLAGS = slice(ITEMS.stop, slot_index("triggers"))
PUZZLE = slice(FLAGS.stop, slot_index("wall_n2w2"))
"""Slots in an observation. The place consists of room and puzzle, with exploration."""

CHEST = 0xF1
_KEYHOLES = b"\xec"
_KEY_BLOCKS = b"\x1e\x70\x71\x72\x73\x74\x75\x76\x77"
_DUNGEON_COLLISIONS = (3, 4)
_TILES = 192
_SEASONS = 4


def scene_values(ram: RamBlocks) -> Values:
    """All slots of this part in the order of the layout, before scaling."""
    return room_values(ram) + item_values(ram) + flag_values(ram) + puzzle_values(ram)


def room_values(ram: RamBlocks) -> Values:
    """Slots of the room."""
    group, room, season = ram.u8(_GROUP), ram.u8(_ROOM), ram.u8(_SEASON)
    dungeon = rooms.dungeon_of(ram)
    return (
        *(group >> bit & 1 for bit in range(3)),
        *(room >> bit & 1 for bit in range(8)),
        0 if dungeon is None else dungeon + 1,
        *(season == number for number in range(_SEASONS)),
    )


def item_values(ram: RamBlocks) -> Values:
    """Slots of the player's possessions."""
    health, full = ram.u8(_HEALTH), ram.u8(_MAX_HEALTH)
    return (
        health,
        full,
        health / full if full else 0.0,
        ram.u8(_HEART_PIECES),
        bcd16(ram.u16(_RUPEES)),
        bcd(ram.u8(_BOMBS)),
        *_dungeon_items(ram),
        ram.u8(_SWORD),
        ram.u8(_SHIELD) if ram.bit(_TREASURES, TREASURE_SHIELD) else 0,
        ITEM_SWORD in (ram.u8(_ITEM_A), ram.u8(_ITEM_B)),
        bcd(ram.u8(_EMBER_SEEDS)),
        ram.u8(_ESSENCES).bit_count(),
        *(ram.bit(_TREASURES, treasure) for treasure in TREASURE_SLOTS.values()),
        sum(ram.bit(_TREASURES, treasure) for treasure in STORY_KEYS.values()),
        sum(ram.bit(_TREASURES, treasure) for treasure in OTHER_TOOLS.values()),
    )


def _dungeon_items(ram: RamBlocks) -> Values:
    dungeon = rooms.dungeon_of(ram)
    if dungeon is None:
        return (0, 0, 0, 0)
    return (
        ram.u8(_KEYS + dungeon),
        ram.bit(_BOSS_KEYS, dungeon),
        ram.bit(_MAPS, dungeon),
        ram.bit(_COMPASSES, dungeon),
    )


def flag_values(ram: RamBlocks) -> Values:
    """Slots of the kind of state, such as text or menu."""
    return (
        predicates.is_text(ram),
        predicates.is_text_choice(ram),
        predicates.is_menu(ram),
        predicates.is_scrolling(ram),
        predicates.is_fading(ram),
        predicates.is_cutscene(ram),
        predicates.has_control(ram),
        predicates.is_dying(ram),
    )


def puzzle_values(ram: RamBlocks) -> Values:
    """Slots of the room's puzzle and of exploration."""
    return _puzzle(ram) + _exploration(ram)


def _puzzle(ram: RamBlocks) -> Values:
    flags = rooms.room_flags(ram, ram.u8(_ROOM))
    tiles = ram.block(_LAYOUT_TILES, _TILES)
    in_dungeon = ram.u8(_ACTIVE_COLLISIONS) in _DUNGEON_COLLISIONS
    locks = _KEY_BLOCKS if in_dungeon else _KEYHOLES
    return (
        ram.u8(_TRIGGERS).bit_count(),
        ram.u8(_SWITCHES).bit_count() + ram.u8(_TOGGLES).bit_count(),
        ram.u8(_TORCHES),
        ram.u8(_ENEMIES_LEFT),
        flags & ROOM_ITEM != 0,
        flags & ROOM_EVENTS != 0,
        CHEST in tiles,
        len(tiles.translate(None, locks)) < len(tiles),
    )


def _exploration(ram: RamBlocks) -> Values:
    visited = rooms.count_visited(ram)
    # Divided by the slot's scale later, like every slot.
    share = visited / (visited + _ROOMS_SCALE) * _ROOMS_SCALE
    return (*rooms.visited_around(ram), *open_sides(ram), share)


_GROUP, _ROOM, _SEASON = (
    address("wActiveGroup"),
    address("wActiveRoom"),
    address("wRoomStateModifier"),
)
_LARGE, _ACTIVE_COLLISIONS = address("wRoomIsLarge"), address("wActiveCollisions")
_HEALTH, _MAX_HEALTH = address("wLinkHealth"), address("wLinkMaxHealth")
_HEART_PIECES, _RUPEES = address("wNumHeartPieces"), address("wNumRupees")
_BOMBS, _EMBER_SEEDS = address("wNumBombs"), address("wNumEmberSeeds")
_SWORD, _SHIELD = address("wSwordLevel"), address("wShieldLevel")
_ITEM_A, _ITEM_B = address("wInventoryA"), address("wInventoryB")
_ESSENCES, _TREASURES = address("wEssencesObtained"), address("wObtainedTreasureFlags")
_KEYS, _BOSS_KEYS = address("wDungeonSmallKeys"), address("wDungeonBossKeys")
_MAPS, _COMPASSES = address("wDungeonMaps"), address("wDungeonCompasses")
_TRIGGERS, _TORCHES = address("wActiveTriggers"), address("wNumTorchesLit")
_SWITCHES, _TOGGLES = address("wSwitchState"), address("wToggleBlocksState")
_ENEMIES_LEFT = address("wNumEnemies")
_COLLISIONS, _LAYOUT_TILES = address("wRoomCollisions"), address("wRoomLayout")
_STORAGE = address("wInventoryStorage")
_ROOM_FLAGS = address("wGroup0RoomFlags")
_FLAGS_END = _ROOM_FLAGS + 4 * 0x100
_ROOMS_SCALE = LAYOUT[slot_index("rooms_visited")].scale


def _span(first: int, size: int = 1) -> slice:
    return slice(first - WRAM_START, first - WRAM_START + size)


_HEALTH_SPAN, _FLIPPERS_SPAN = _span(_HEALTH), _span(_TREASURES + (FLIPPERS >> 3))
_DUNGEON_SPAN = _span(address("wDungeonIndex"), 3)  # and cell, floor

PLACE_SPANS = (
    _span(_COLLISIONS, COLLISION_BYTES),
    _span(_LAYOUT_TILES, _TILES),
    _span(_ROOM_FLAGS, _FLAGS_END - _ROOM_FLAGS),
    _span(_ENEMIES_LEFT, 3),  # and toggle blocks, switches
    _span(_GROUP, _ACTIVE_COLLISIONS + 1 - _GROUP),  # room, its size, season, tile table
    _DUNGEON_SPAN,
    _span(_TORCHES),
    _span(_TRIGGERS),
    _FLIPPERS_SPAN,
)
ITEM_SPANS = (
    _span(_KEYS, _STORAGE - _KEYS),  # possessions in dungeons, items on B and A
    _span(_TREASURES, _ROOM_FLAGS - _TREASURES),  # other possessions, health, the story
    _DUNGEON_SPAN,
)
FLAG_SPANS = (
    _span(address("wGameState"), 2),  # and the cutscene
    _span(address("wPaletteThreadMode")),
    _span(address("wSavefileString"), len(SAVEFILE_STRING)),
    _span(address("wTextIsActive"), 2),  # and its mode
    _span(address("wUseSimulatedInput")),
    _span(address("wOpenedMenuType")),
    _span(address("wLinkDeathTrigger")),
    _span(address("wLinkForceState")),
    _span(address("wDisabledObjects")),
    _span(address("wScrollMode")),
    _span(address("w1Link.id")),
    _span(address("w1Link.state")),
    _HEALTH_SPAN,
)
"""Spans of the work RAM on which room and puzzle, items, and flags depend. The place also depends
on the layout of the dungeon, which is elsewhere.

The spans hold more than the scene needs: everything that a save file keeps of items, story and
rooms, except the order of the inventory. Readers of such facts can rely on it (`Encoder.scene`).
"""

Key = tuple[bytes, ...]


def _key(spans: tuple[slice, ...]) -> "itemgetter[Key]":
    pick: Any = itemgetter
    return cast("itemgetter[Key]", pick(*spans))


PLACE_KEY, ITEM_KEY, FLAG_KEY = _key(PLACE_SPANS), _key(ITEM_SPANS), _key(FLAG_SPANS)
"""Functions from 8,192 bytes of work RAM to the content of these spans. Item 0 of the place is the
collision buffer."""
