"""Where the game keeps what: the symbols that this project reads, as data.

The layout is that of Oracle of Seasons (US), from the public disassembly
github.com/Stewmath/oracles-disasm at dfaba5238b102fa2b70f737a977a32219ba80c6b (include/wram.s,
include/structs.s). The embedded cartridge keeps the same facts at the same addresses.

Traps: money, bombs and seeds are BCD. Small keys are one byte a dungeon. wShieldLevel is 1 on a new
file without a shield: ownership is a treasure bit. Bit 7 of wScrollMode is the camera of a large
room, not a transition. w1Link.health is not the player's health.
"""

from dataclasses import dataclass
from typing import Literal

Encoding = Literal["u8", "s8", "u16", "u32", "bcd8", "bcd16", "bits", "set", "bytes"]
"""`u16`, `u32`, `bcd16`: little-endian. `bits`: flags in one byte. `set`: bit n is byte n/8."""


@dataclass(frozen=True)
class Symbol:
    """One place in RAM.

    Attributes:
        name: Its label in the disassembly.
        address: As the CPU sees it.
        bank: Work RAM bank; 0 is 0xC000-0xCFFF, 1 and up are at 0xD000.
        size: Bytes.
        encoding: How to read them.
        meaning: What they say, with units.
    """

    name: str
    address: int
    bank: int
    size: int
    encoding: Encoding
    meaning: str


SYMBOLS: tuple[Symbol, ...] = (
    Symbol("wGameState", 0xC2EE, 0, 1, "u8", "2 while playing"),
    Symbol("wCutsceneIndex", 0xC2EF, 0, 1, "u8", "0 loading a room, 1 in game, 2 and up cutscene"),
    Symbol("wPaletteThreadMode", 0xC4AB, 0, 1, "u8", "not 0: the screen fades"),
    Symbol("wSavefileString", 0xC5B2, 0, 8, "bytes", "Z11216-0 once a file is loaded"),
    Symbol("wDeathCounter", 0xC61E, 0, 2, "bcd16", "deaths"),
    Symbol("wTotalEnemiesKilled", 0xC620, 0, 2, "u16", "enemies killed, stops at 1000"),
    Symbol("wPlaytimeCounter", 0xC622, 0, 4, "u32", "frames played in this file"),
    Symbol("wDungeonSmallKeys", 0xC66E, 0, 12, "bytes", "small keys held, one byte a dungeon"),
    Symbol("wDungeonBossKeys", 0xC67A, 0, 2, "set", "boss keys by dungeon"),
    Symbol("wDungeonCompasses", 0xC67C, 0, 2, "set", "compasses by dungeon"),
    Symbol("wDungeonMaps", 0xC67E, 0, 2, "set", "maps by dungeon"),
    Symbol("wInventoryB", 0xC680, 0, 1, "u8", "item id on B, 0 nothing"),
    Symbol("wInventoryA", 0xC681, 0, 1, "u8", "item id on A, 0 nothing"),
    Symbol("wObtainedTreasureFlags", 0xC692, 0, 16, "set", "treasures obtained"),
    Symbol("wLinkHealth", 0xC6A2, 0, 1, "u8", "quarter hearts"),
    Symbol("wLinkMaxHealth", 0xC6A3, 0, 1, "u8", "quarter hearts"),
    Symbol("wNumRupees", 0xC6A5, 0, 2, "bcd16", "rupees"),
    Symbol("wShieldLevel", 0xC6A9, 0, 1, "u8", "1 to 3, also without a shield"),
    Symbol("wNumBombs", 0xC6AA, 0, 1, "bcd8", "bombs"),
    Symbol("wSwordLevel", 0xC6AC, 0, 1, "u8", "0 none to 3"),
    Symbol("wObtainedSeasons", 0xC6B0, 0, 1, "bits", "bits 0-3: seasons of the rod"),
    Symbol("wNumEmberSeeds", 0xC6B5, 0, 1, "bcd8", "ember seeds"),
    Symbol("wEssencesObtained", 0xC6BB, 0, 1, "bits", "bit n: essence of dungeon n + 1"),
    Symbol("wGlobalFlags", 0xC6CA, 0, 16, "set", "story flags"),
    Symbol("wGroup0RoomFlags", 0xC700, 0, 256, "bytes", "room flags of group 0"),
    Symbol("wGroup1RoomFlags", 0xC800, 0, 256, "bytes", "room flags of groups 1, 2, 3"),
    Symbol("wGroup4RoomFlags", 0xC900, 0, 256, "bytes", "room flags of groups 4, 6"),
    Symbol("wGroup5RoomFlags", 0xCA00, 0, 256, "bytes", "room flags of groups 5, 7"),
    Symbol("wTextIsActive", 0xCBA0, 0, 1, "u8", "not 0: a text box is on the screen"),
    Symbol("wTextDisplayMode", 0xCBA1, 0, 1, "u8", "1: the text asks for a choice"),
    Symbol("wTextIndex", 0xCBA2, 0, 2, "u16", "text id + 0x0400"),
    Symbol("wUseSimulatedInput", 0xCBC3, 0, 1, "u8", "not 0: scripted input"),
    Symbol("wOpenedMenuType", 0xCBCB, 0, 1, "u8", "0 none, 1 inventory, 2 map, 3 save"),
    Symbol("wNumEnemies", 0xCC30, 0, 1, "u8", "counted enemies left in the room"),
    Symbol("wToggleBlocksState", 0xCC31, 0, 1, "bits", "toggle blocks"),
    Symbol("wSwitchState", 0xCC32, 0, 1, "bits", "hit switches"),
    Symbol("wLinkDeathTrigger", 0xCC34, 0, 1, "u8", "not 0: dying"),
    Symbol("wLinkObjectIndex", 0xCC48, 0, 1, "u8", "0xD0 on foot, 0xD1 riding"),
    Symbol("wActiveGroup", 0xCC49, 0, 1, "u8", "map group, 0 to 7"),
    Symbol("wRoomIsLarge", 0xCC4A, 0, 1, "u8", "0: 10x8 tiles, 1: 15x11"),
    Symbol("wActiveRoom", 0xCC4C, 0, 1, "u8", "room id in its group"),
    Symbol("wRoomStateModifier", 0xCC4E, 0, 1, "u8", "season, 0 spring to 3 winter"),
    Symbol("wActiveCollisions", 0xCC4F, 0, 1, "u8", "which tile table holds"),
    Symbol("wDungeonIndex", 0xCC55, 0, 1, "u8", "current dungeon, 0xFF none"),
    Symbol("wDungeonMapPosition", 0xCC56, 0, 1, "u8", "cell y*8+x; stale outside"),
    Symbol("wDungeonFloor", 0xCC57, 0, 1, "u8", "floor in w2DungeonLayout; stale outside"),
    Symbol("wLinkForceState", 0xCC6A, 0, 1, "u8", "not 0: state forced next frame"),
    Symbol("wLinkGrabState", 0xCC75, 0, 1, "u8", "not 0: grabs or carries"),
    Symbol("wLinkInAir", 0xCC77, 0, 1, "bits", "low nibble not 0: in the air"),
    Symbol("wLinkSwimmingState", 0xCC78, 0, 1, "bits", "low nibble not 0: in water"),
    Symbol("wLinkPushingDirection", 0xCC80, 0, 1, "u8", "0xFF: not pushing"),
    Symbol("wDisabledObjects", 0xCCA4, 0, 1, "bits", "bits 0, 7: the player is frozen"),
    Symbol("wNumTorchesLit", 0xCCA9, 0, 1, "u8", "torches lit in the room"),
    Symbol("wActiveTriggers", 0xCCBA, 0, 1, "bits", "floor buttons pressed"),
    Symbol("wAButtonSensitiveObjectList", 0xCCCA, 0, 32, "bytes", "16 pointers, 0 empty"),
    Symbol("wScrollMode", 0xCD00, 0, 1, "bits", "1 normal, 8 scrolling; bit 7 camera"),
    Symbol("wRoomCollisions", 0xCE00, 0, 192, "bytes", "12 rows of 16 tiles: what is solid"),
    Symbol("wRoomLayout", 0xCF00, 0, 192, "bytes", "12 rows of 16 tiles: tile index"),
    Symbol("w1Link.id", 0xD001, 1, 1, "u8", "0 player, 8 player in a cutscene"),
    Symbol("w1Link.state", 0xD004, 1, 1, "u8", "1 normal control, 3 dying"),
    Symbol("w1Link.direction", 0xD008, 1, 1, "u8", "0 up, 1 right, 2 down, 3 left"),
    Symbol("w1Link.yh", 0xD00B, 1, 1, "u8", "pixels from the top edge of the room"),
    Symbol("w1Link.xh", 0xD00D, 1, 1, "u8", "pixels from the left edge of the room"),
    Symbol("w1Link.zh", 0xD00F, 1, 1, "s8", "pixels; negative is above the ground"),
    Symbol("w1Link.invincibilityCounter", 0xD02B, 1, 1, "s8", "frames of invulnerability left"),
    Symbol("w2DungeonLayout", 0xDC00, 2, 256, "bytes", "room ids, 64 a floor, 8x8, 0 none"),
)
"""Sorted by bank and address."""

_BY_NAME = {symbol.name: symbol for symbol in SYMBOLS}

OBJECT_STRIDE = 0x100
"""Sixteen pages 0xD000, 0xD100 ... each hold one object of every kind."""

OBJECT_PAGES = 16
INTERACTIONS, ENEMIES, PARTS = 0xD040, 0xD080, 0xD0C0
"""First object of each kind (bank 1)."""

OBJECT_ENABLED, OBJECT_ID, OBJECT_SUBID = 0x00, 0x01, 0x02
OBJECT_Y, OBJECT_X, OBJECT_HEALTH = 0x0B, 0x0D, 0x29
"""Fields of an object: offsets from its first byte."""

ROOM_VISITED, ROOM_ITEM, ROOM_EVENTS = 0x10, 0x20, 0xC0
"""Bits of a room's flags."""

RUPEE_ROOM_SCRATCH = (0xC8F0, 16)
"""Address and size of the flags of groups 1-3 that dungeons 2 and 6 use for something else."""

SAVEFILE_STRING = b"Z11216-0"

TREASURE_SHIELD, TREASURE_SWORD = 0x01, 0x05
ITEM_SWORD = 0x05
DUNGEONS = 12


def address(name: str) -> int:
    """The address of a symbol.

    Raises:
        KeyError: No symbol has this name.
    """
    return _BY_NAME[name].address


def room_flags_page(group: int) -> int:
    """Address of the room flags of a map group; groups above 7 wrap, as the game does.

    Groups 1, 2 and 3 share a page, so do 4 and 6, and 5 and 7.
    """
    return (0xC700, 0xC800, 0xC800, 0xC800, 0xC900, 0xCA00, 0xC900, 0xCA00)[group & 7]
