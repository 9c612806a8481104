"""RAM in, observation out: 128 float32 in [0, 1], layout `rlaif.contracts.observation`.

A pure function of the RAM: no memory, no clock, no randomness. The trainer calls it while playing
and the exporter while replaying, and both get the same bits.

Most slots depend on one byte each and come from one table look-up; the rest are computed.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from rlaif.contracts.observation import (
    ENEMY_SLOTS,
    LAYOUT,
    OBSERVATION_SIZE,
    TREASURE_SLOTS,
    WALLS_RADIUS,
    slot_index,
)
from rlaif.game import predicates, rooms
from rlaif.game.blocks import RamBlocks, bcd, bcd16
from rlaif.game.emulator import WRAM_START
from rlaif.game.entities import (
    Entity,
    enemies,
    interactions,
    nearest,
    player_position,
    talkables,
    things,
)
from rlaif.game.memory_map import (
    DUNGEONS,
    ITEM_SWORD,
    ROOM_EVENTS,
    ROOM_ITEM,
    TREASURE_SHIELD,
    address,
)
from rlaif.game.walls import SOLID, look_around

Observation = npt.NDArray[np.float32]
"""`[128]` float32 in [0, 1]."""

ByteRule = Callable[[int], float]
"""What one byte says, before the slot's scale."""

_TREASURES = address("wObtainedTreasureFlags")
_LAYOUT_TILES = address("wRoomLayout")
_CHEST = b"\xf1"
_KEYHOLES = b"\xec"
_KEY_BLOCKS = b"\x1e\x70\x71\x72\x73\x74\x75\x76\x77"
_DUNGEON_COLLISIONS = (3, 4)


def encode(ram: RamBlocks) -> Observation:
    """The observation of one moment, `[128]` float32 in [0, 1]."""
    out = np.empty(OBSERVATION_SIZE, dtype=np.float32)
    encode_into(ram, out)
    return out


def encode_into(ram: RamBlocks, out: Observation) -> None:
    """Write the observation into `out`, `[128]` float32."""
    out.fill(0.0)
    bytes_read = ram.array()[_BYTE_ADDRESSES]
    out[_BYTE_SLOTS] = _BYTE_TABLE[_BYTE_ROWS + bytes_read]
    x, y = player_position(ram)
    out[_COMPUTED] = (
        x, y, *_items(ram), *_flags(ram), *_room(ram), *_entities(ram, x, y),
    )  # fmt: skip
    grid, free = look_around(ram, x, y)
    out[_WALLS] = grid[_NOT_CENTRE]
    out[_RAYS] = free
    out *= _INVERSE_SCALE
    np.minimum(out, 1.0, out=out)


def _items(ram: RamBlocks) -> tuple[float, ...]:
    health, full = ram.u8(_HEALTH), ram.u8(_MAX_HEALTH)
    shield = ram.u8(_SHIELD) if ram.bit(_TREASURES, TREASURE_SHIELD) else 0
    equipped = ITEM_SWORD in (ram.u8(_ITEM_A), ram.u8(_ITEM_B))
    money = bcd16(ram.u16(_RUPEES))
    dungeon = rooms.dungeon_of(ram)
    if dungeon is None:
        return (health / full if full else 0.0, money, shield, equipped, 0, 0, 0, 0)
    return (
        health / full if full else 0.0,
        money,
        shield,
        equipped,
        ram.u8(_KEYS + dungeon),
        ram.bit(_BOSS_KEYS, dungeon),
        ram.bit(_MAPS, dungeon),
        ram.bit(_COMPASSES, dungeon),
    )


_ITEM_SLOTS = (
    "health_ratio", "rupees", "shield_level", "sword_equipped", "keys", "boss_key",
    "dungeon_map", "compass",
)  # fmt: skip
_HEALTH, _MAX_HEALTH = address("wLinkHealth"), address("wLinkMaxHealth")
_SHIELD, _RUPEES = address("wShieldLevel"), address("wNumRupees")
_ITEM_A, _ITEM_B = address("wInventoryA"), address("wInventoryB")
_KEYS, _BOSS_KEYS = address("wDungeonSmallKeys"), address("wDungeonBossKeys")
_MAPS, _COMPASSES = address("wDungeonMaps"), address("wDungeonCompasses")


def _flags(ram: RamBlocks) -> tuple[float, ...]:
    return (
        predicates.is_text_choice(ram),
        predicates.is_cutscene(ram),
        predicates.has_control(ram),
        predicates.is_dying(ram),
    )


_FLAG_SLOTS = ("text_choice", "cutscene", "has_control", "dying")


def _room(ram: RamBlocks) -> tuple[float, ...]:
    flags = rooms.room_flags(ram, ram.u8(_ROOM))
    tiles = ram.block(_LAYOUT_TILES, 192)
    in_dungeon = ram.u8(_ACTIVE_COLLISIONS) in _DUNGEON_COLLISIONS
    locks = _KEY_BLOCKS if in_dungeon else _KEYHOLES
    visited = rooms.count_visited(ram)
    return (
        flags & ROOM_ITEM != 0,
        flags & ROOM_EVENTS != 0,
        _CHEST in tiles,
        len(tiles.translate(None, locks)) < len(tiles),
        *rooms.visited_around(ram),
        # Divided by the slot's scale later, like every slot.
        visited / (visited + _ROOMS_SCALE) * _ROOMS_SCALE,
    )


_ROOM_SLOTS = (
    "item_taken", "room_event", "chest_closed", "locked", "visited_north", "visited_east",
    "visited_south", "visited_west", "rooms_visited",
)  # fmt: skip
_ROOM, _ACTIVE_COLLISIONS = address("wActiveRoom"), address("wActiveCollisions")
_ROOMS_SCALE = LAYOUT[slot_index("rooms_visited")].scale


def _entities(ram: RamBlocks, x: int, y: int) -> list[float]:
    numbers: list[float] = []
    near = nearest(enemies(ram), x, y)[:ENEMY_SLOTS]
    for enemy in near:
        numbers += _seen(enemy, x, y)
        numbers.append(enemy.health)
    numbers += [0.0] * (4 * (ENEMY_SLOTS - len(near)))
    for found in (talkables(ram) or interactions(ram), things(ram)):
        numbers += _seen(nearest(found, x, y)[0], x, y) if found else (0.0, 0.0, 0.0)
    return numbers


def _seen(entity: Entity, x: int, y: int) -> tuple[float, float, float]:
    """Present, dx, dy; the offsets become 0.5 + pixels / scale once divided by the scale."""
    return 1.0, entity.x - x + _OFFSET_SCALE / 2, entity.y - y + _OFFSET_SCALE / 2


_ENTITY_SLOTS = (
    *(
        f"enemy_{n}_{field}"
        for n in range(1, ENEMY_SLOTS + 1)
        for field in ("present", "dx", "dy", "health")
    ),
    *(f"{kind}_{field}" for kind in ("npc", "item") for field in ("present", "dx", "dy")),
)
_OFFSET_SCALE = LAYOUT[slot_index("npc_dx")].scale


def _value(byte: int) -> float:
    return byte


def _set(byte: int) -> float:
    return byte != 0


def _count_bits(byte: int) -> float:
    return byte.bit_count()


def _low_nibble_set(byte: int) -> float:
    return byte & 0x0F != 0


def _not_ff(byte: int) -> float:
    return byte != 0xFF


def _positive(byte: int) -> float:
    return byte if byte < 0x80 else 0


def _height(byte: int) -> float:
    return 0x100 - byte if byte >= 0x80 else 0


def _dungeon(byte: int) -> float:
    return byte + 1 if byte < DUNGEONS else 0


def _scrolls(byte: int) -> float:
    return byte & 0x0C != 0


def _equals(number: int, mask: int = 0xFF) -> ByteRule:
    return lambda byte: byte & mask == number


def _bit(number: int) -> ByteRule:
    return lambda byte: byte >> number & 1


_BYTE_RULES: tuple[tuple[str, int, ByteRule], ...] = (
    ("player_height", address("w1Link.zh"), _height),
    *(
        (f"facing_{name}", address("w1Link.direction"), _equals(number))
        for number, name in enumerate(("up", "right", "down", "left"))
    ),
    ("swimming", address("wLinkSwimmingState"), _low_nibble_set),
    ("airborne", address("wLinkInAir"), _low_nibble_set),
    ("carrying", address("wLinkGrabState"), _set),
    ("hurt", address("w1Link.invincibilityCounter"), _positive),
    ("pushing", address("wLinkPushingDirection"), _not_ff),
    *((f"group_{group}", address("wActiveGroup"), _equals(group, 0x07)) for group in range(8)),
    *((f"room_bit_{bit}", address("wActiveRoom"), _bit(bit)) for bit in range(8)),
    ("room_large", address("wRoomIsLarge"), _set),
    ("dungeon", address("wDungeonIndex"), _dungeon),
    *(
        (f"season_{name}", address("wRoomStateModifier"), _equals(number))
        for number, name in enumerate(("spring", "summer", "autumn", "winter"))
    ),
    ("health", address("wLinkHealth"), _value),
    ("max_health", address("wLinkMaxHealth"), _value),
    ("bombs", address("wNumBombs"), bcd),
    ("sword_level", address("wSwordLevel"), _value),
    ("ember_seeds", address("wNumEmberSeeds"), bcd),
    ("essences", address("wEssencesObtained"), _count_bits),
    *((f"has_{n}", _TREASURES + (t >> 3), _bit(t & 7)) for n, t in TREASURE_SLOTS.items()),
    ("text_active", address("wTextIsActive"), _set),
    ("menu_open", address("wOpenedMenuType"), _set),
    ("scrolling", address("wScrollMode"), _scrolls),
    ("fading", address("wPaletteThreadMode"), _set),
    ("triggers", address("wActiveTriggers"), _count_bits),
    ("switches", address("wSwitchState"), _count_bits),
    ("toggles", address("wToggleBlocksState"), _count_bits),
    ("torches", address("wNumTorchesLit"), _value),
    ("enemies_left", address("wNumEnemies"), _value),
)
"""Slot, address, what its byte says."""


def _slots(*names: str) -> npt.NDArray[np.intp]:
    return np.array([slot_index(name) for name in names], dtype=np.intp)


_BYTE_SLOTS = _slots(*(name for name, _, _ in _BYTE_RULES))
_BYTE_ADDRESSES = np.array([at - WRAM_START for _, at, _ in _BYTE_RULES], dtype=np.intp)
_BYTE_ROWS = np.arange(len(_BYTE_RULES), dtype=np.intp) * 256
_BYTE_TABLE = np.array(
    [float(rule(byte)) for _, _, rule in _BYTE_RULES for byte in range(256)], dtype=np.float32
)
_COMPUTED = _slots("player_x", "player_y", *_ITEM_SLOTS, *_FLAG_SLOTS, *_ROOM_SLOTS, *_ENTITY_SLOTS)
_RAYS = _slots("free_north", "free_east", "free_south", "free_west")
_WALLS = np.array([s.index for s in LAYOUT if s.name.startswith("wall_")], dtype=np.intp)
_NOT_CENTRE = np.delete(
    np.arange((2 * WALLS_RADIUS + 1) ** 2), 2 * WALLS_RADIUS * (WALLS_RADIUS + 1)
)
_INVERSE_SCALE = np.array([1.0 / s.scale for s in LAYOUT], dtype=np.float32)
_INVERSE_SCALE[_WALLS] = 1.0 / SOLID
