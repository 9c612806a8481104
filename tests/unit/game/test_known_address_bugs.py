"""Addresses and readings that other programs for this game got wrong, each against our map.

A row puts bait where the mistake looks, and the truth where the game keeps it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from rlaif.game.encoder.scene import item_values
from rlaif.game.memory import predicates, rooms
from rlaif.game.memory.blocks import RamBlocks, bcd, bcd16
from rlaif.game.memory.entities import enemies, interactions, parts, talkables
from rlaif.game.memory.memory_map import symbol
from rlaif.game.memory.state import decode
from rlaif.game.memory.walls import SOLID, half_tiles

Write = tuple[int, int | bytes]


def byte(ram: RamBlocks, name: str) -> int:
    return ram.u8(symbol(name).address)


def bits(ram: RamBlocks, name: str) -> set[int]:
    place = symbol(name)
    return {number for number in range(8 * place.size) if ram.bit(place.address, number)}


class Mistake(NamedTuple):
    what: str
    bait: tuple[Write, ...]
    truth: tuple[Write, ...]
    ask: Callable[[RamBlocks], Any]
    answer: Any
    symbol: str = ""
    address: int = 0


MISTAKES = (
    Mistake("x is not the fade speed", ((0xC4AC, 77),), ((0xD00D, 0x4C),),
            lambda ram: decode(ram).x, 0x4C, "w1Link.xh", 0xD00D),
    Mistake("y is not the fade rate", ((0xC4AD, 77),), ((0xD00B, 0x76),),
            lambda ram: decode(ram).y, 0x76, "w1Link.yh", 0xD00B),
    Mistake("x and y are not on the stack", ((0xC100, b"\x11\x22"),), ((0xD00D, 5), (0xD00B, 6)),
            lambda ram: (decode(ram).x, decode(ram).y), (5, 6)),
    Mistake("facing is not a fade parameter, nor in an item", ((0xC4AE, 3), (0xD302, 3)),
            ((0xD008, 1),), lambda ram: decode(ram).facing, "right", "w1Link.direction", 0xD008),
    Mistake("facing 0 is up, not down", (), ((0xD008, 0),), lambda ram: decode(ram).facing, "up"),
    Mistake("facing 2 is down, not left", (), ((0xD008, 2),), lambda ram: decode(ram).facing,
            "down"),
    Mistake("the room is not that of the map screen", ((0xC63B, 9), (0xC63C, 9)),
            ((0xCC4C, 0xD9),), lambda ram: decode(ram).room, 0xD9, "wActiveRoom", 0xCC4C),
    Mistake("the group is not that of the map screen", ((0xC63A, 5),), ((0xCC49, 2),),
            lambda ram: decode(ram).group, 2, "wActiveGroup", 0xCC49),
    Mistake("the dungeon cell is not that of the map screen", ((0xC63C, 9),), ((0xCC56, 12),),
            lambda ram: byte(ram, "wDungeonMapPosition"), 12, "wDungeonMapPosition", 0xCC56),
    Mistake("the floor is not that of the map screen", ((0xC63D, 9),), ((0xCC57, 1),),
            lambda ram: byte(ram, "wDungeonFloor"), 1, "wDungeonFloor", 0xCC57),
    Mistake("health is not a sound wave", ((0xC021, 99),), ((0xC6A2, 10),),
            lambda ram: decode(ram).health, 10, "wLinkHealth", 0xC6A2),
    Mistake("health is not the bombs, as in Oracle of Ages", ((0xC6AA, 0x20),), ((0xC6A2, 9),),
            lambda ram: decode(ram).health, 9),
    Mistake("health is not that of the player's object", ((0xD029, 1),), ((0xC6A2, 8),),
            lambda ram: decode(ram).health, 8),
    Mistake("max health is no sound byte, nor the bombs that fit", ((0xC022, 9), (0xC05B, 9),
            (0xC6AB, 0x10)), ((0xC6A3, 16),), lambda ram: decode(ram).max_health, 16,
            "wLinkMaxHealth", 0xC6A3),
    Mistake("500 rupees are not 1280", (), ((0xC6A5, b"\x00\x05"),),
            lambda ram: decode(ram).rupees, 500, "wNumRupees", 0xC6A5),
    Mistake("rupees are not the heart pieces", ((0xC6A4, 3),), ((0xC6A5, b"\x99\x09"),),
            lambda ram: decode(ram).rupees, 999),
    Mistake("ore chunks are decimal", (), ((0xC6A7, b"\x20\x01"),),
            lambda ram: bcd16(ram.u16(symbol("wNumOreChunks").address)), 120,
            "wNumOreChunks", 0xC6A7),
    Mistake("10 bombs are not 16", ((0xC674, 7),), ((0xC6AA, 0x10),),
            lambda ram: decode(ram).bombs, 10, "wNumBombs", 0xC6AA),
    Mistake("20 seeds are not 32", (), ((0xC6B5, 0x20),),
            lambda ram: bcd(byte(ram, "wNumEmberSeeds")), 20, "wNumEmberSeeds", 0xC6B5),
    Mistake("12 deaths are not 18", (), ((0xC61E, b"\x12\x00"),), lambda ram: decode(ram).deaths,
            12, "wDeathCounter", 0xC61E),
    Mistake("a shield level is no shield", ((0xC6A9, 1),), (), lambda ram: item_values(ram)[11],
            0, "wShieldLevel", 0xC6A9),
    Mistake("a shield is a treasure", (), ((0xC6A9, 2), (0xC692, 0x02)),
            lambda ram: item_values(ram)[11], 2),
    Mistake("the sword is not in the visited floors", ((0xC668, 2),), ((0xC6AC, 1),),
            lambda ram: byte(ram, "wSwordLevel"), 1, "wSwordLevel", 0xC6AC),
    Mistake("the bracelet is not the gloves' polarity", ((0xC6B2, 1),), ((0xC694, 0x40),),
            lambda ram: (decode(ram).owns(0x16), decode(ram).owns(0x08)), (True, False)),
    Mistake("the polarity is no glove", ((0xC6B2, 1),), (), lambda ram: decode(ram).owns(0x08),
            False, "wMagnetGlovePolarity", 0xC6B2),
    Mistake("the gnarled key is no item but a treasure", ((0xC680, 0x14),), ((0xC69A, 0x04),),
            lambda ram: decode(ram).owns(0x42), True, "wObtainedTreasureFlags", 0xC692),
    Mistake("the items on A and B are not in an item object", ((0xD320, b"\x07\x08\x09"),),
            ((0xC680, b"\x03\x05"),), lambda ram: (decode(ram).item_b, decode(ram).item_a), (3, 5),
            "wInventoryB", 0xC680),
    Mistake("the season is not the item on B, nor in an object", ((0xC680, 1), (0xD340, 1)),
            ((0xCC4E, 3),), lambda ram: decode(ram).season, "winter", "wRoomStateModifier", 0xCC4E),
    Mistake("the seasons of the rod are bits, not a number", ((0xD341, 9),), ((0xC6B0, 0x8A),),
            lambda ram: decode(ram).seasons, 0b1010, "wObtainedSeasons", 0xC6B0),
    Mistake("essences are a set of their own", ((0xC69A, 0x01),), ((0xC6BB, 0x81),),
            lambda ram: decode(ram).essences.bit_count(), 2, "wEssencesObtained", 0xC6BB),
    Mistake("keys are those of this dungeon, not of dungeon 0", ((0xC66E, 4), (0xD330, 4)),
            ((0xC66F, 2), (0xCC55, 1)), lambda ram: decode(ram).keys, 2,
            "wDungeonSmallKeys", 0xC66E),
    Mistake("keys are not those of dungeon 5", ((0xC673, 3),), ((0xC670, 1), (0xCC55, 2)),
            lambda ram: decode(ram).keys, 1),
    Mistake("boss keys, maps and compasses are sets by dungeon", ((0xC67A, 1), (0xC67C, 1),
            (0xC67E, 1)), ((0xC67B, 1), (0xC67D, 1), (0xC67F, 1), (0xCC55, 8)),
            lambda ram: (decode(ram).boss_key, decode(ram).compass, decode(ram).dungeon_map),
            (True, True, True), "wDungeonBossKeys", 0xC67A),
    Mistake("of another dungeon they do not count", ((0xC67A, 1), (0xC67C, 1), (0xC67E, 1)),
            ((0xCC55, 8),),
            lambda ram: (decode(ram).boss_key, decode(ram).compass, decode(ram).dungeon_map),
            (False, False, False), "wDungeonCompasses", 0xC67C),
    Mistake("0xFF is no dungeon", (), ((0xCC55, 0xFF),), lambda ram: decode(ram).dungeon, None,
            "wDungeonIndex", 0xCC55),
    Mistake("story flags are not in an object page", ((0xD400, b"\xff" * 16),),
            ((0xC6CD, 0x01),), lambda ram: bits(ram, "wGlobalFlags"), {0x18},
            "wGlobalFlags", 0xC6CA),
    Mistake("kills are not in an object", ((0xD500, b"\x09\x09\x09"),), ((0xC620, b"\x2c\x01"),),
            lambda ram: decode(ram).kills, 300, "wTotalEnemiesKilled", 0xC620),
    Mistake("toggle blocks are no people", ((0xCC31, 5),), (),
            lambda ram: (interactions(ram), talkables(ram), decode(ram).toggles), ([], [], 5),
            "wToggleBlocksState", 0xCC31),
    Mistake("switches are no items", ((0xCC32, 6),), (),
            lambda ram: (parts(ram), decode(ram).switches), ([], 6), "wSwitchState", 0xCC32),
    Mistake("enemies stand in all 16 pages", ((0xD140, 1), (0xD1C0, 1)),
            ((0xD080, b"\x01\x09"), (0xDF80, b"\x01\x10")),
            lambda ram: [enemy.slot for enemy in enemies(ram)], [0xD080, 0xDF80]),
    Mistake("0xD040 is an interaction, 0xD080 an enemy, 0xD0C0 a part", (),
            ((0xD040, 1), (0xD080, 1), (0xD0C0, 1)),
            lambda ram: [found[0].slot for found in (interactions(ram), enemies(ram), parts(ram))],
            [0xD040, 0xD080, 0xD0C0]),
    Mistake("pushing is not a warp, as in Oracle of Ages", ((0xCC65, 0),), ((0xCC80, 2),),
            lambda ram: byte(ram, "wLinkPushingDirection"), 2, "wLinkPushingDirection", 0xCC80),
    Mistake("a camera that moves is no transition", ((0xCD00, 0x81),), (),
            lambda ram: (predicates.is_scrolling(ram), predicates.has_control(ram),
                         predicates.is_room_stable(ram)),
            (False, True, True), "wScrollMode", 0xCD00),
    Mistake("a transition has no bit 7", (), ((0xCD00, 0x08),), predicates.is_scrolling, True),
    Mistake("the idle transition state is 2, not 0", ((0xCD04, 2), (0xC2F2, 7), (0xD600, 1)), (),
            predicates.is_scrolling, False, "wScreenTransitionState", 0xCD04),
    Mistake("a menu is not an item object", ((0xD700, 1),), ((0xCBCB, 1),), predicates.is_menu,
            True, "wOpenedMenuType", 0xCBCB),
    Mistake("no menu, whatever the item objects hold", ((0xD700, b"\x01\x01"),), (),
            predicates.is_menu, False),
    Mistake("a cutscene is no dialog", ((0xC2EF, 6),), (),
            lambda ram: (predicates.is_dialog_state(ram), predicates.is_cutscene(ram)),
            (False, True), "wCutsceneIndex", 0xC2EF),
    Mistake("a dialog is a text on the screen", (), ((0xCBA0, 1),), predicates.is_dialog_state,
            True, "wTextIsActive", 0xCBA0),
    Mistake("exits of a dungeon room are no puzzle", ((0xCC58, 0x0F), (0xCC55, 1)), (),
            predicates.is_puzzle_state, False, "wDungeonRoomProperties", 0xCC58),
    Mistake("bits of the room's properties: key 10, chest 20, boss 40, dark 80", (),
            ((0xCC58, 0x50),), lambda ram: bits(ram, "wDungeonRoomProperties"),
            {4, 6}),
    Mistake("an item taken is flag 0x20, not 0x40", ((0xC700, 0x40),), ((0xC701, 0x20),),
            lambda ram: [bool(rooms.room_flags(ram, room) & 0x20) for room in (0, 1)],
            [False, True], "wGroup0RoomFlags", 0xC700),
    Mistake("collision 0x0F is a wall, not ice to walk on", (), ((0xCE00, 0x0F),),
            lambda ram: (half_tiles(ram)[:2, :2] == SOLID).all(), True, "wRoomCollisions", 0xCE00),
    Mistake("no health is death, before it is counted", ((0xC61E, 0),), ((0xC6A2, 0),),
            predicates.is_dying, True, "wLinkDeathTrigger", 0xCC34),
    Mistake("the text id is stored 0x0400 higher", (), ((0xCBA0, 1), (0xCBA2, b"\x42\x04")),
            lambda ram: decode(ram).text_id, 0x42, "wTextIndex", 0xCBA2),
    Mistake("the mode of the player is 1 when he obeys", (), ((0xD004, 2),),
            predicates.has_control, False, "w1Link.state", 0xD004),
    Mistake("rooms visited leave out the rupee rooms' scratch", ((0xC8F0, b"\x10" * 16),),
            ((0xC7D9, 0x90),), rooms.count_visited, 1, "wGroup1RoomFlags", 0xC800),
    Mistake("the wall bits are those of the code, not of the comment", (), ((0xD033, 0x20),),
            lambda ram: bits(ram, "w1Link.adjacentWallsBitset"), {5}),
)  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.what)
def test_the_map_does_not_make_the_mistake(make_ram, mistake):
    assert mistake.ask(make_ram(*mistake.bait, *mistake.truth)) == mistake.answer
    if mistake.symbol:
        assert symbol(mistake.symbol).address == mistake.address
