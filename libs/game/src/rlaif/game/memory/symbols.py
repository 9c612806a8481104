"""The symbols of the memory map: where the game keeps what, as data.

The layout is that of Oracle of Seasons (US), from the public disassembly
github.com/Stewmath/oracles-disasm at dfaba5238b102fa2b70f737a977a32219ba80c6b (include/wram.s,
include/hram.s, include/structs.s). The embedded cartridge keeps the same facts at the same
addresses. Other regions and Oracle of Ages have another layout.

Confidence, as the game itself was not run:
    A   computed from the disassembly, and a fitting value was seen there in a real save state
    B   computed and documented, but the real save states only held zero there
    C   the address is sure, the meaning is not

Names are the labels of the disassembly, but for two: `wTextIndex` is wTextIndexL and wTextIndexH
together, `wPaletteThreadMode` is wPaletteThread_mode.
"""

from dataclasses import dataclass
from typing import Literal

Encoding = Literal[
    "u8", "s8", "u16", "u32", "bcd8", "bcd16", "bits", "set", "bytes", "text", "direction",
    "angle", "tile", "pointers",
]  # fmt: skip
"""How the bytes are read. `u16`, `u32`, `bcd16`, `pointers`: little-endian. `bits`: flags in one
byte. `set`: number n is bit n % 8 of byte n / 8. `direction`: 0 up, 1 right, 2 down, 3 left.
`angle`: 32 steps clockwise from up. `tile`: row in the high nibble, column in the low one."""

Confidence = Literal["A", "B", "C"]


@dataclass(frozen=True)
class Symbol:
    """One place in RAM."""

    name: str  # label
    address: int  # as the CPU sees it
    bank: int  # 0 is what is always there (0xC000-0xCFFF and 0xFF80-0xFFFE), 1 and up are at 0xD000
    size: int  # bytes
    encoding: Encoding
    confidence: Confidence
    meaning: str  # with units
    group: str  # what it belongs to, for display


_Row = tuple[str, int, int, int, Encoding, Confidence, str]
"""Name, address, bank, size, encoding, confidence, meaning."""

_GAME: tuple[_Row, ...] = (
    ("wGameState", 0xC2EE, 0, 1, "u8", "A",
     "2 while playing, 3 the opening scene, 1 loading a room, 0 starting"),
    ("wCutsceneIndex", 0xC2EF, 0, 1, "u8", "A",
     "0 loading a room, 1 in game, 2 and up a cutscene or transition"),
    ("wKeysPressed", 0xC481, 0, 1, "bits", "A",
     "buttons held: bit 0 A, 1 B, 2 select, 3 start, 4 right, 5 left, 6 up, 7 down"),
    ("wKeysJustPressed", 0xC482, 0, 1, "bits", "B", "buttons that went down this frame, same bits"),
    ("wPaletteThreadMode", 0xC4AB, 0, 1, "u8", "B", "not 0: the screen fades"),
    ("wUseSimulatedInput", 0xCBC3, 0, 1, "u8", "B", "not 0: a script holds the buttons"),
    ("wOpenedMenuType", 0xCBCB, 0, 1, "u8", "B",
     "0 none, 1 inventory, 2 map, 3 save, 4 and up special screens"),
    ("wMenuLoadState", 0xCBCC, 0, 1, "u8", "B", "0 opening, 1 open, 2 closing, 3 back to the game"),
    ("wMenuActiveState", 0xCBCD, 0, 1, "u8", "B", "inventory: 1 waits, 3 turns the page"),
    ("wInventorySubmenu", 0xCBCF, 0, 1, "u8", "B", "page of the inventory, 0 to 2"),
    ("wInventorySubmenu0CursorPos", 0xCBD0, 0, 1, "u8", "B",
     "cell under the cursor, page of the items; the embedded cartridge keeps its own elsewhere"),
    ("wDisplayedHearts", 0xCBE4, 0, 1, "u8", "A",
     "quarter hearts shown; follows the health slowly"),
    ("wDisplayedMoneyAddress", 0xCBE5, 0, 1, "u8", "A", "0xA5 rupees are shown, 0xA7 ore chunks"),
    ("wGameKeysPressed", 0xCC45, 0, 1, "bits", "A",
     "buttons as the game takes them, scripts included"),
    ("wDisabledObjects", 0xCCA4, 0, 1, "bits", "B",
     "frozen: bit 0 player, 1 interactions, 2 enemies, 4 items, 5 companion, 7 most"),
    ("wLinkPlayingInstrument", 0xCCA7, 0, 1, "u8", "B", "not 0: plays the flute"),
    ("wScrollMode", 0xCD00, 0, 1, "bits", "A",
     "bit 0 normal, 1 entering, 2 at the edge, 3 scrolling, 7 the camera moves"),
    ("wScreenTransitionDirection", 0xCD02, 0, 1, "direction", "B",
     "of the last scroll; bit 7 forced"),
    ("wScreenTransitionState", 0xCD04, 0, 1, "u8", "A",
     "2 idle (not 0), 3 to 5 a transition, 0 entering"),
    ("wScreenScrollCounter", 0xCD13, 0, 1, "u8", "B", "rows or columns left to scroll"),
    ("hCameraY", 0xFFA8, 0, 2, "u16", "B", "pixels; 0 in small rooms"),
    ("hCameraX", 0xFFAA, 0, 2, "u16", "B", "pixels; 0 in small rooms"),
)  # fmt: skip

_TEXT: tuple[_Row, ...] = (
    ("wTextIsActive", 0xCBA0, 0, 1, "u8", "A",
     "not 0: a text box is on the screen; 0x80 it cannot be closed"),
    ("wTextDisplayMode", 0xCBA1, 0, 1, "u8", "B",
     "0 plain, 1 asks for a choice, 2 in the inventory"),
    ("wTextIndex", 0xCBA2, 0, 2, "u16", "A", "text id + 0x0400 (wTextIndexL and wTextIndexH)"),
    ("wSelectedTextOption", 0xCBA5, 0, 1, "u8", "A", "chosen option, 0xFF none"),
    ("wTextboxPosition", 0xCBAC, 0, 1, "u8", "B", "place of the box, 0 to 6"),
    ("wAButtonSensitiveObjectList", 0xCCCA, 0, 32, "pointers", "B",
     "objects that react to A; 0 empty"),
)  # fmt: skip

_PLAYER: tuple[_Row, ...] = (
    ("wDeathRespawnBuffer", 0xC62B, 0, 13, "bytes", "A",
     "group, room, season, direction, y, x and companion after a death"),
    ("wLinkHealth", 0xC6A2, 0, 1, "u8", "A", "quarter hearts; 0 is dying"),
    ("wLinkMaxHealth", 0xC6A3, 0, 1, "u8", "A", "quarter hearts"),
    ("wNumHeartPieces", 0xC6A4, 0, 1, "u8", "B", "heart pieces, 0 to 3"),
    ("wLinkDeathTrigger", 0xCC34, 0, 1, "u8", "B", "not 0: dying"),
    ("wGameOverScreenTrigger", 0xCC35, 0, 1, "u8", "B", "not 0: the game-over screen opens"),
    ("wLinkLocalRespawnY", 0xCC3D, 0, 1, "u8", "A", "pixels: where a fall puts the player back"),
    ("wLinkLocalRespawnX", 0xCC3E, 0, 1, "u8", "A", "pixels: where a fall puts the player back"),
    ("wLinkAngle", 0xCC47, 0, 1, "angle", "A", "where the d-pad points"),
    ("wLinkObjectIndex", 0xCC48, 0, 1, "u8", "A",
     "high byte of the controlled object: 0xD0 the player, 0xD1 an animal"),
    ("wLinkForceState", 0xCC6A, 0, 1, "u8", "B", "not 0: state forced on the next frame"),
    ("wLinkGrabState", 0xCC75, 0, 1, "u8", "B", "0 none, 0x41 grabs, 0xC2 lifts, 0x83 carries"),
    ("wLinkInAir", 0xCC77, 0, 1, "bits", "B",
     "low nibble not 0: in the air; bit 7 cliff jump, 6 cape, 5 slow fall"),
    ("wLinkSwimmingState", 0xCC78, 0, 1, "bits", "B",
     "low nibble not 0: in water; bit 7 dives, 6 lava"),
    ("wLinkUsingItem1", 0xCC7A, 0, 1, "bits", "C", "item objects 0xD2 to 0xD6 in use"),
    ("wLinkTurningDisabled", 0xCC7B, 0, 1, "u8", "B", "not 0: keeps facing one way"),
    ("wLinkPushingDirection", 0xCC80, 0, 1, "u8", "A", "direction pushed to, 0xFF not pushing"),
    ("wPushingAgainstTileCounter", 0xCC84, 0, 1, "u8", "A",
     "frames until a pushed block or door gives way"),
    ("wPegasusSeedCounter", 0xCC86, 0, 2, "u16", "B",
     "frames of fast running left, bit 15 while it lasts"),
    ("wUsingShield", 0xCC89, 0, 1, "u8", "B", "shield level while it is held up, else 0"),
    ("wActiveTilePos", 0xCCB3, 0, 1, "tile", "A",
     "tile the player stands on; stands still in the air"),
    ("wActiveTileIndex", 0xCCB4, 0, 1, "u8", "A", "index of that tile"),
    ("wActiveTileType", 0xCCB6, 0, 1, "u8", "B",
     "0 normal, 1 hole, 7 water, 0xD spikes, 0xF ice, 0x10 lava, more in the source"),
    ("w1Link.enabled", 0xD000, 1, 1, "u8", "A", "not 0: the player exists"),
    ("w1Link.id", 0xD001, 1, 1, "u8", "B",
     "0 player, 3 to 7 transformed, 8 in a cutscene, 9 on an animal"),
    ("w1Link.state", 0xD004, 1, 1, "u8", "A",
     "1 obeys, 2 falls or drowns, 3 dies, 0x0A warps, 0x0B walks by itself"),
    ("w1Link.direction", 0xD008, 1, 1, "direction", "A", "faces"),
    ("w1Link.angle", 0xD009, 1, 1, "angle", "A", "moves"),
    ("w1Link.y", 0xD00A, 1, 1, "u8", "A", "1/256 pixels below yh"),
    ("w1Link.yh", 0xD00B, 1, 1, "u8", "A", "pixels from the top edge of the room"),
    ("w1Link.x", 0xD00C, 1, 1, "u8", "A", "1/256 pixels right of xh"),
    ("w1Link.xh", 0xD00D, 1, 1, "u8", "A", "pixels from the left edge of the room"),
    ("w1Link.z", 0xD00E, 1, 1, "u8", "B", "1/256 pixels of the height"),
    ("w1Link.zh", 0xD00F, 1, 1, "s8", "B", "pixels; negative is above the ground"),
    ("w1Link.collisionType", 0xD024, 1, 1, "bits", "A",
     "bit 7: can be touched; clear while falling"),
    ("w1Link.health", 0xD029, 1, 1, "u8", "A", "scratch, mostly 1: not the player's health"),
    ("w1Link.invincibilityCounter", 0xD02B, 1, 1, "s8", "B", "frames of invulnerability left"),
    ("w1Link.animMode", 0xD030, 1, 1, "u8", "A",
     "0x10 walks, 0x0B swims, 0x0C dives, 0x0A drowns, 0x0D falls"),
    ("w1Link.adjacentWallsBitset", 0xD033, 1, 1, "bits", "B",
     "walls touched: bits 7, 6 up, 5, 4 down, 3, 2 left, 1, 0 right"),
)  # fmt: skip

_ITEMS: tuple[_Row, ...] = (
    ("wAnimalCompanion", 0xC610, 0, 1, "u8", "A",
     "which animal: 0x0B, 0x0C or 0x0D; set on a new file"),
    ("wInventoryB", 0xC680, 0, 1, "u8", "A", "item id on B, 0 nothing"),
    ("wInventoryA", 0xC681, 0, 1, "u8", "B", "item id on A, 0 nothing"),
    ("wInventoryStorage", 0xC682, 0, 16, "bytes", "B", "item ids of the inventory, 0 nothing"),
    ("wObtainedTreasureFlags", 0xC692, 0, 16, "set", "A",
     "treasures obtained; some are taken away again"),
    ("wNumRupees", 0xC6A5, 0, 2, "bcd16", "B", "rupees"),
    ("wNumOreChunks", 0xC6A7, 0, 2, "bcd16", "B", "ore chunks"),
    ("wShieldLevel", 0xC6A9, 0, 1, "u8", "A",
     "1 to 3, also without a shield: treasure 1 says whether there is one"),
    ("wNumBombs", 0xC6AA, 0, 1, "bcd8", "B", "bombs"),
    ("wMaxBombs", 0xC6AB, 0, 1, "bcd8", "A",
     "bombs that can be carried, also before there are any"),
    ("wSwordLevel", 0xC6AC, 0, 1, "u8", "A", "0 none to 3"),
    ("wNumBombchus", 0xC6AD, 0, 1, "bcd8", "B", "bombchus"),
    ("wSeedSatchelLevel", 0xC6AE, 0, 1, "u8", "B",
     "0 none, 1 holds 20 of a kind, 2 holds 50, 3 holds 99"),
    ("wObtainedSeasons", 0xC6B0, 0, 1, "bits", "B",
     "bits 0-3: seasons of the rod; bit 7 the rod itself"),
    ("wBoomerangLevel", 0xC6B1, 0, 1, "u8", "B", "0 to 2"),
    ("wMagnetGlovePolarity", 0xC6B2, 0, 1, "u8", "B",
     "0 south, 1 north; independent of owning the gloves"),
    ("wSlingshotLevel", 0xC6B3, 0, 1, "u8", "B", "0 to 2"),
    ("wFeatherLevel", 0xC6B4, 0, 1, "u8", "B", "0 to 2"),
    ("wNumEmberSeeds", 0xC6B5, 0, 1, "bcd8", "B", "ember seeds"),
    ("wNumScentSeeds", 0xC6B6, 0, 1, "bcd8", "B", "scent seeds"),
    ("wNumPegasusSeeds", 0xC6B7, 0, 1, "bcd8", "B", "pegasus seeds"),
    ("wNumGaleSeeds", 0xC6B8, 0, 1, "bcd8", "B", "gale seeds"),
    ("wNumMysterySeeds", 0xC6B9, 0, 1, "bcd8", "B", "mystery seeds"),
    ("wNumGashaSeeds", 0xC6BA, 0, 1, "bcd8", "B", "gasha seeds"),
    ("wEssencesObtained", 0xC6BB, 0, 1, "bits", "B", "bit n: essence of dungeon n + 1"),
    ("wSatchelSelectedSeeds", 0xC6BE, 0, 1, "u8", "B", "kind of seed in use, 0 to 4"),
    ("wShooterSelectedSeeds", 0xC6BF, 0, 1, "u8", "B", "kind of seed in the slingshot, 0 to 4"),
    ("wActiveRing", 0xC6C5, 0, 1, "u8", "A", "ring worn, 0xFF none"),
    ("wRingBoxLevel", 0xC6C6, 0, 1, "u8", "B", "0 none to 3"),
    ("wKilledGoldenEnemies", 0xC6C9, 0, 1, "bits", "B", "golden enemies killed, bits 0-3"),
    ("wInsertedJewels", 0xC6E1, 0, 1, "bits", "B", "jewels put into the gate, bits 0-3"),
)  # fmt: skip

_DUNGEON: tuple[_Row, ...] = (
    ("wDungeonVisitedFloors", 0xC662, 0, 12, "bytes", "A",
     "floors visited, one byte of bits a dungeon"),
    ("wDungeonSmallKeys", 0xC66E, 0, 12, "bytes", "B", "small keys held, one byte a dungeon"),
    ("wDungeonBossKeys", 0xC67A, 0, 2, "set", "B", "boss keys by dungeon"),
    ("wDungeonCompasses", 0xC67C, 0, 2, "set", "B", "compasses by dungeon"),
    ("wDungeonMaps", 0xC67E, 0, 2, "set", "B", "maps by dungeon"),
    ("wDungeonIndex", 0xCC55, 0, 1, "u8", "A", "current dungeon, 0xFF none"),
    ("wDungeonMapPosition", 0xCC56, 0, 1, "u8", "A", "cell y*8+x of the floor; stale outside"),
    ("wDungeonFloor", 0xCC57, 0, 1, "u8", "B", "floor in w2DungeonLayout; stale outside"),
    ("wDungeonRoomProperties", 0xCC58, 0, 1, "bits", "B",
     "fixed, no progress: bits 0-3 exits, 4 key, 5 chest, 6 boss, 7 dark"),
    ("wDungeonFlagsAddressH", 0xCC59, 0, 1, "u8", "A",
     "page of the dungeon's room flags, 0xC9 or 0xCA"),
    ("wDungeonNumFloors", 0xCC5C, 0, 1, "u8", "A", "floors of the dungeon"),
    ("w2DungeonLayout", 0xDC00, 2, 256, "bytes", "A",
     "room ids, 64 a floor, 8x8, 0 none; stale outside"),
)  # fmt: skip

_WORLD: tuple[_Row, ...] = (
    ("wMinimapGroup", 0xC63A, 0, 1, "u8", "A",
     "group of the map screen; not updated in caves and houses"),
    ("wMinimapRoom", 0xC63B, 0, 1, "u8", "A",
     "room of the map screen; not updated in caves and houses"),
    ("wMinimapDungeonMapPosition", 0xC63C, 0, 1, "u8", "A", "cell of the map screen"),
    ("wGroup0RoomFlags", 0xC700, 0, 256, "bytes", "A", "room flags of group 0"),
    ("wGroup1RoomFlags", 0xC800, 0, 256, "bytes", "A", "room flags of groups 1, 2, 3"),
    ("wGroup4RoomFlags", 0xC900, 0, 256, "bytes", "A", "room flags of groups 4, 6"),
    ("wActiveGroup", 0xCC49, 0, 1, "u8", "A",
     "map group: 0 overworld, 1 Subrosia, 2 Maku tree, 3 indoors, 4 and up underground"),
    ("wRoomIsLarge", 0xCC4A, 0, 1, "u8", "B", "0: 10x8 tiles, 1: 15x11"),
    ("wLoadingRoom", 0xCC4B, 0, 1, "u8", "A", "room whose tiles are loaded"),
    ("wActiveRoom", 0xCC4C, 0, 1, "u8", "A", "room id in its group; changes when a scroll starts"),
    ("wRoomStateModifier", 0xCC4E, 0, 1, "u8", "B",
     "season, 0 spring to 3 winter; means something in group 0"),
    ("wActiveCollisions", 0xCC4F, 0, 1, "u8", "A",
     "which tile table holds: 0 overworld, 3 indoors, 4 dungeon, 5 side view"),
    ("wTilesetFlags", 0xCC50, 0, 1, "bits", "A",
     "bit 0 outdoors, 2 indoors, 3 dungeon, 5 side view, 7 Subrosia"),
    ("wWarpDestGroup", 0xCC63, 0, 1, "u8", "A", "group a warp leads to, bit 7 directly"),
    ("wWarpDestRoom", 0xCC64, 0, 1, "u8", "A", "room a warp leads to"),
    ("wWarpTransition", 0xCC65, 0, 1, "u8", "B", "kind of warp"),
    ("wWarpDestPos", 0xCC66, 0, 1, "tile", "B", "tile a warp leads to"),
    ("wWarpTransition2", 0xCC67, 0, 1, "u8", "B", "0 no warp pending, 1 at once, 3 after a fade"),
    ("wEnteredWarpPosition", 0xCCA8, 0, 1, "u8", "A",
     "warp tile the player arrived on and that does nothing yet, 0xFF none"),
)  # fmt: skip

_ROOM: tuple[_Row, ...] = (
    ("wRoomEdgeY", 0xCCA0, 0, 1, "u8", "A", "pixels: height of the room"),
    ("wRoomEdgeX", 0xCCA1, 0, 1, "u8", "A", "pixels: width of the room"),
    ("wRoomWidth", 0xCD0A, 0, 1, "u8", "A", "in 8-pixel tiles"),
    ("wRoomHeight", 0xCD0B, 0, 1, "u8", "A", "in 8-pixel tiles"),
    ("wScreenTransitionBoundaryX", 0xCD0C, 0, 1, "u8", "A", "pixels: right of it the room scrolls"),
    ("wScreenTransitionBoundaryY", 0xCD0D, 0, 1, "u8", "A", "pixels: below it the room scrolls"),
    ("wRoomCollisions", 0xCE00, 0, 192, "bytes", "A", "12 rows of 16 tiles: what is solid"),
    ("wRoomLayout", 0xCF00, 0, 192, "bytes", "A", "12 rows of 16 tiles: tile index"),
    ("w3TileCollisions", 0xDB00, 3, 256, "bytes", "A", "what is solid, by tile index"),
)  # fmt: skip

_PUZZLE: tuple[_Row, ...] = (
    ("wNumEnemies", 0xCC30, 0, 1, "u8", "A", "counted enemies left in the room"),
    ("wToggleBlocksState", 0xCC31, 0, 1, "bits", "B", "toggle blocks"),
    ("wSwitchState", 0xCC32, 0, 1, "bits", "B", "hit switches"),
    ("wSpinnerState", 0xCC33, 0, 1, "bits", "B", "spinners"),
    ("wNumTorchesLit", 0xCCA9, 0, 1, "u8", "B", "torches lit in the room"),
    ("wActiveTriggers", 0xCCBA, 0, 1, "bits", "B", "floor buttons pressed"),
    ("wBlockPushAngle", 0xCCC0, 0, 1, "u8", "C",
     "angle of the last push, bit 7 while the block moves"),
)  # fmt: skip

_STORY: tuple[_Row, ...] = (
    ("wSavefileString", 0xC5B2, 0, 8, "text", "A", "Z11216-0 once a file is loaded"),
    ("wLinkName", 0xC602, 0, 5, "text", "A", "name of the player"),
    ("wFileIsCompleted", 0xC614, 0, 1, "u8", "B", "1: the game was finished"),
    ("wGlobalFlags", 0xC6CA, 0, 16, "set", "A", "story flags"),
)  # fmt: skip

_COUNTERS: tuple[_Row, ...] = (
    ("wDeathCounter", 0xC61E, 0, 2, "bcd16", "B", "deaths; counted on the game-over screen"),
    ("wTotalEnemiesKilled", 0xC620, 0, 2, "u16", "B", "enemies killed, stops at 1000"),
    ("wPlaytimeCounter", 0xC622, 0, 4, "u32", "A", "frames played in this file"),
    ("wTotalRupeesCollected", 0xC627, 0, 2, "bcd16", "B", "rupees collected"),
    ("wGashaMaturity", 0xC65C, 0, 2, "u16", "B", "ripeness of gasha plants"),
    ("wFrameCounter", 0xCC00, 0, 1, "u8", "A", "low byte of the play time"),
    ("hRng1", 0xFF94, 0, 1, "u8", "A", "random number, low byte; the value that the game takes"),
    ("hRng2", 0xFF95, 0, 1, "u8", "A", "random number, high byte"),
)  # fmt: skip

GROUPS: dict[str, tuple[Symbol, ...]] = {
    group: tuple(Symbol(*row, group) for row in rows)
    for group, rows in {
        "game": _GAME,
        "player": _PLAYER,
        "items": _ITEMS,
        "world": _WORLD,
        "room": _ROOM,
        "dungeon": _DUNGEON,
        "puzzle": _PUZZLE,
        "text": _TEXT,
        "story": _STORY,
        "counters": _COUNTERS,
    }.items()
}
"""Each group sorted by bank and address."""

SYMBOLS: tuple[Symbol, ...] = tuple(
    sorted((s for rows in GROUPS.values() for s in rows), key=lambda s: (s.bank, s.address))
)
"""All of them, sorted by bank and address."""
