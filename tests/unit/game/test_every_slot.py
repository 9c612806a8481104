"""Each of the 128 slots moves when its fact does: one hand-set RAM a slot."""

import numpy as np
import pytest

from rlaif.contracts.game.observation import (
    LAYOUT,
    OTHER_TOOLS,
    STORY_KEYS,
    TREASURE_SLOTS,
    slot_index,
)
from rlaif.game.encoder.reference import encode
from rlaif.game.memory.memory_map import address
from rlaif.testing.data.written_ram import written_ram

X, Y = 72, 56
"""Where the player stands: half tile column 9, row 7."""


def observe(*writes):
    return encode(
        written_ram(
            ("wLinkHealth", 8), ("wLinkMaxHealth", 16), ("wActiveRoom", 0x55),
            ("w1Link.xh", X), ("w1Link.yh", Y), ("w1Link.direction", 2), ("wRoomStateModifier", 1),
            *writes,
        )
    )  # fmt: skip


def treasure(number):
    return [(0xC692 + (number >> 3), 1 << (number & 7))]


def half_tile(row, column, *, solid=True):
    """Writes that make one half tile solid, or its whole tile a hole."""
    at = 0xCE00 + (row >> 1) * 16 + (column >> 1)
    return [(at, 8 >> ((row & 1) * 2 + (column & 1)) if solid else 0x10)]


def walls():
    for dy in range(-2, 3):
        for dx in range(-2, 3):
            if (dy, dx) != (0, 0):
                vertical = f"{'n' if dy < 0 else 's'}{abs(dy)}" if dy else ""
                across = f"{'w' if dx < 0 else 'e'}{abs(dx)}" if dx else ""
                yield f"wall_{vertical}{across}", half_tile(7 + dy, 9 + dx), 1.0


def edge(side):
    tiles = {
        "north": range(10),
        "south": range(0x70, 0x7A),
        "west": range(0, 0x80, 16),
        "east": range(9, 0x89, 16),
    }
    return [(0xCE00 + at, 0x0F) for at in tiles[side]]


def enemy(number, *, x=X + 64, y=Y - 32, health=16, angle=8):
    base = 0xD080 + number * 0x100
    return [
        (base, b"\x01\x10"), (base + 0x0B, y), (base + 0x0D, x), (base + 0x29, health),
        (base + 0x09, angle),
    ]  # fmt: skip


def enemies(count):
    return [write for n in range(count) for write in enemy(n, x=X + 64 + n)]


def enemy_facts():
    for n in (1, 2, 3):
        shown = enemies(n)
        yield f"enemy_{n}_present", shown, 1.0
        yield f"enemy_{n}_dx", shown, 0.5 + (63 + n) / 512
        yield f"enemy_{n}_dy", shown, 0.5 - 32 / 512
        yield f"enemy_{n}_health", shown, 0.5
        yield f"enemy_{n}_dir_x", shown, 1.0
        yield f"enemy_{n}_dir_y", shown, 0.5


PERSON = [(0xD240, 1), (0xD24B, Y + 10), (0xD24D, X), (0xD266, b"\x06\x06"), (0xCCCA, b"\x40\xd2")]
DROP = [(0xD0C0, b"\x01\x01"), (0xD0CB, Y - 20), (0xD0CD, X + 20)]
DUNGEON_1 = ("wDungeonIndex", 1)

FACTS = [
    ("player_x", [("w1Link.xh", 120)], 0.5),
    ("player_y", [("w1Link.yh", 88)], 0.5),
    ("player_height", [("w1Link.zh", 0xF8)], 0.25),
    ("facing_up", [("w1Link.direction", 0)], 1),
    ("facing_right", [("w1Link.direction", 1)], 1),
    ("facing_down", [("w1Link.direction", 3)], 0),
    ("facing_left", [("w1Link.direction", 3)], 1),
    ("swimming", [("wLinkSwimmingState", 1)], 1),
    ("airborne", [("wLinkInAir", 2)], 1),
    ("carrying", [("wLinkGrabState", 0x83)], 1),
    ("hurt", [("w1Link.invincibilityCounter", 32)], 0.5),
    ("pushing", [("wLinkPushingDirection", 1)], 1),
    *((f"group_bit_{bit}", [("wActiveGroup", 1 << bit)], 1) for bit in range(3)),
    *((f"room_bit_{b}", [("wActiveRoom", 0x55 ^ 1 << b)], 1 - (0x55 >> b & 1)) for b in range(8)),
    ("dungeon", [DUNGEON_1], 2 / 12),
    ("season_spring", [("wRoomStateModifier", 0)], 1),
    ("season_summer", [("wRoomStateModifier", 0)], 0),
    ("season_autumn", [("wRoomStateModifier", 2)], 1),
    ("season_winter", [("wRoomStateModifier", 3)], 1),
    ("health", [("wLinkHealth", 4)], 4 / 80),
    ("max_health", [("wLinkMaxHealth", 20)], 0.25),
    ("health_ratio", [("wLinkHealth", 4)], 0.25),
    ("heart_pieces", [("wNumHeartPieces", 1)], 0.25),
    ("rupees", [("wNumRupees", b"\x23\x01")], 123 / 999),
    ("bombs", [("wNumBombs", 0x10)], 10 / 99),
    ("keys", [DUNGEON_1, (address("wDungeonSmallKeys") + 1, 3)], 3 / 9),
    ("boss_key", [DUNGEON_1, ("wDungeonBossKeys", 2)], 1),
    ("dungeon_map", [DUNGEON_1, ("wDungeonMaps", 2)], 1),
    ("compass", [DUNGEON_1, ("wDungeonCompasses", 2)], 1),
    ("sword_level", [("wSwordLevel", 1)], 1 / 3),
    ("shield_level", [("wShieldLevel", 1), *treasure(0x01)], 1 / 3),
    ("sword_equipped", [("wInventoryA", 5)], 1),
    ("ember_seeds", [("wNumEmberSeeds", 0x20)], 20 / 99),
    ("essences", [("wEssencesObtained", 1)], 1 / 8),
    *((f"has_{name}", treasure(number), 1) for name, number in TREASURE_SLOTS.items()),
    *(("story_keys", treasure(number), 1 / 8) for number in STORY_KEYS.values()),
    *(("other_tools", treasure(number), 1 / 4) for number in OTHER_TOOLS.values()),
    ("text_active", [("wTextIsActive", 1)], 1),
    ("text_choice", [("wTextIsActive", 1), ("wTextDisplayMode", 1)], 1),
    ("menu_open", [("wOpenedMenuType", 1)], 1),
    ("scrolling", [("wScrollMode", 8)], 1),
    ("fading", [("wPaletteThreadMode", 1)], 1),
    ("cutscene", [("wDisabledObjects", 1)], 1),
    ("has_control", [("wTextIsActive", 1)], 0),
    ("dying", [("wLinkHealth", 0)], 1),
    ("triggers", [("wActiveTriggers", 0b101)], 0.25),
    ("switches", [("wSwitchState", 1), ("wToggleBlocksState", 1)], 0.25),
    ("torches", [("wNumTorchesLit", 2)], 0.25),
    ("enemies_left", [("wNumEnemies", 4)], 0.25),
    ("item_taken", [(0xC755, 0x20)], 1),
    ("room_event", [(0xC755, 0x80)], 1),
    ("chest_closed", [(0xCF33, 0xF1)], 1),
    ("locked", [(0xCF33, 0xEC)], 1),
    ("visited_north", [(0xC745, 0x10)], 1),
    ("visited_east", [(0xC756, 0x10)], 1),
    ("visited_south", [(0xC765, 0x10)], 1),
    ("visited_west", [(0xC754, 0x10)], 1),
    *((f"exit_{side}", edge(side), 0) for side in ("north", "east", "south", "west")),
    ("rooms_visited", [(0xC700, b"\x10" * 32)], 0.5),
    *walls(),
    ("wall_s1", half_tile(8, 9, solid=False), 0.5),
    ("free_north", half_tile(2, 8), 3 / 8),
    ("free_east", half_tile(6, 13), 3 / 8),
    ("free_south", half_tile(10, 8), 2 / 8),
    ("free_west", half_tile(6, 5), 2 / 8),
    *enemy_facts(),
    ("npc_present", PERSON, 1),
    ("npc_dx", PERSON, 0.5),
    ("npc_dy", PERSON, 0.5 + 10 / 512),
    ("item_present", DROP, 1),
    ("item_dx", DROP, 0.5 + 20 / 512),
    ("item_dy", DROP, 0.5 - 20 / 512),
    ("npc_ahead", PERSON, 1),
]


@pytest.mark.parametrize(("name", "writes", "expected"), FACTS)
def test_a_slot_moves_when_its_fact_does(name, writes, expected):
    at = slot_index(name)
    before, after = observe()[at], observe(*writes)[at]
    assert after == pytest.approx(expected, abs=1e-6)
    assert before != after


def test_every_slot_has_its_fact_here():
    assert {slot.name for slot in LAYOUT} - {name for name, _, _ in FACTS} == set()


def test_a_fact_moves_few_other_slots():
    still = observe()
    moved = {name: np.flatnonzero(observe(*writes) != still).size for name, writes, _ in FACTS}
    # A drop, a person or an enemy fills its own slots; a position shifts all the walls around it.
    assert {name for name, count in moved.items() if count > 20} <= {"player_x", "player_y"}
