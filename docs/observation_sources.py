"""The symbols of the memory map from which each slot of an observation is computed.

Used by generate.py only. A test checks that every slot has a source and every source is a symbol.
"""

import re

_OBJECTS = ("objects 0xD080 ... 0xDF80",)
_INTERACTIONS = ("wAButtonSensitiveObjectList", "objects 0xD040 ... 0xDF40")
_ITEMS = ("objects 0xD0C0 ... 0xDFC0", "objects 0xD040 ... 0xDF40")
_POSITION = ("w1Link.yh", "w1Link.xh")
_RUNNING = ("wGameState", "wCutsceneIndex", "wSavefileString")

_BY_NAME: dict[str, tuple[str, ...]] = {
    "player_x": ("w1Link.xh", "wLinkObjectIndex"),
    "player_y": ("w1Link.yh", "wLinkObjectIndex"),
    "player_height": ("w1Link.zh",),
    "swimming": ("wLinkSwimmingState",),
    "airborne": ("wLinkInAir",),
    "carrying": ("wLinkGrabState",),
    "hurt": ("w1Link.invincibilityCounter",),
    "pushing": ("wLinkPushingDirection",),
    "dungeon": ("wDungeonIndex",),
    "health": ("wLinkHealth",),
    "max_health": ("wLinkMaxHealth",),
    "health_ratio": ("wLinkHealth", "wLinkMaxHealth"),
    "heart_pieces": ("wNumHeartPieces",),
    "rupees": ("wNumRupees",),
    "bombs": ("wNumBombs",),
    "keys": ("wDungeonSmallKeys", "wDungeonIndex"),
    "boss_key": ("wDungeonBossKeys", "wDungeonIndex"),
    "dungeon_map": ("wDungeonMaps", "wDungeonIndex"),
    "compass": ("wDungeonCompasses", "wDungeonIndex"),
    "sword_level": ("wSwordLevel",),
    "shield_level": ("wShieldLevel", "wObtainedTreasureFlags"),
    "sword_equipped": ("wInventoryA", "wInventoryB"),
    "ember_seeds": ("wNumEmberSeeds",),
    "essences": ("wEssencesObtained",),
    "story_keys": ("wObtainedTreasureFlags",),
    "other_tools": ("wObtainedTreasureFlags",),
    "text_active": ("wTextIsActive",),
    "text_choice": ("wTextIsActive", "wTextDisplayMode"),
    "menu_open": ("wOpenedMenuType",),
    "scrolling": ("wScrollMode",),
    "fading": ("wPaletteThreadMode",),
    "cutscene": ("wCutsceneIndex", "wDisabledObjects", "wUseSimulatedInput", "w1Link.id"),
    "has_control": (
        *_RUNNING, "wOpenedMenuType", "w1Link.state", "wPaletteThreadMode", "wScrollMode",
        "wLinkDeathTrigger", "wLinkForceState", "wTextIsActive", "wDisabledObjects",
        "wUseSimulatedInput",
    ),
    "dying": ("wLinkDeathTrigger", "w1Link.state", "wLinkHealth"),
    "triggers": ("wActiveTriggers",),
    "switches": ("wSwitchState", "wToggleBlocksState"),
    "torches": ("wNumTorchesLit",),
    "enemies_left": ("wNumEnemies",),
    "item_taken": ("wGroup0RoomFlags", "wActiveGroup", "wActiveRoom"),
    "room_event": ("wGroup0RoomFlags", "wActiveGroup", "wActiveRoom"),
    "chest_closed": ("wRoomLayout",),
    "locked": ("wRoomLayout", "wActiveCollisions"),
    "rooms_visited": ("wGroup0RoomFlags",),
    "npc_ahead": (
        "wAButtonSensitiveObjectList", "wRoomLayout", *_POSITION, "w1Link.direction",
        "wLinkGrabState",
    ),
}  # fmt: skip

_BY_PATTERN: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"facing_.*", ("w1Link.direction",)),
    (r"group_bit_\d", ("wActiveGroup",)),
    (r"room_bit_\d", ("wActiveRoom",)),
    (r"season_.*", ("wRoomStateModifier",)),
    (r"has_.*", ("wObtainedTreasureFlags",)),
    (r"visited_.*", ("wGroup0RoomFlags", "wActiveGroup", "wActiveRoom", "w2DungeonLayout")),
    (r"exit_.*", ("wRoomCollisions", "wRoomIsLarge", "wObtainedTreasureFlags")),
    (r"(wall|free)_.*", ("wRoomCollisions", *_POSITION)),
    (r"enemy_\d_(health|dir_.|present)", _OBJECTS),
    (r"enemy_\d_d.", (*_OBJECTS, *_POSITION)),
    (r"npc_present", _INTERACTIONS),
    (r"npc_d.", (*_INTERACTIONS, *_POSITION)),
    (r"item_present", _ITEMS),
    (r"item_d.", (*_ITEMS, *_POSITION)),
)


def sources_of(slot: str) -> tuple[str, ...]:
    """Symbols of a slot; objects are named by the addresses of their pages."""
    if slot in _BY_NAME:
        return _BY_NAME[slot]
    for pattern, sources in _BY_PATTERN:
        if re.fullmatch(pattern, slot):
            return sources
    raise KeyError(slot)
