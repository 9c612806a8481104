"""Games, places and items that a description of a state names: words that judges may read.

A judge can look up `Mirror Pond` or `gnarled_key` in the guide of the game; `0/103` or
`treasure 0x42` mean nothing to it. The names are facts of the two games that the memory map fits,
never text from a cartridge.
"""

from rlaif.contracts.game.observation import OTHER_TOOLS, STORY_KEYS, TREASURE_SLOTS

NAMED_ITEMS: dict[str, int] = {
    "shield": 0x01,
    "bombs": 0x03,
    "sword": 0x05,
    **TREASURE_SLOTS,
    **STORY_KEYS,
    **OTHER_TOOLS,
    "biggoron_sword": 0x0C,
    "bombchus": 0x0D,
    "flute": 0x0E,
    "fools_ore": 0x1E,
    "ember_seeds": 0x20,
    "scent_seeds": 0x21,
    "pegasus_seeds": 0x22,
    "gale_seeds": 0x23,
    "mystery_seeds": 0x24,
    "heart_piece": 0x2B,
    "ring_box": 0x2C,
    "ring": 0x2D,
    "potion": 0x2F,
    "gasha_seed": 0x34,
    "maku_seed": 0x36,
    "trade_item": 0x41,
    "star_ore": 0x45,
    "ribbon": 0x46,
    "spring_banana": 0x47,
    "rickys_gloves": 0x48,
    "bomb_flower": 0x49,
    "treasure_map": 0x4B,
    "red_ore": 0x50,
    "blue_ore": 0x51,
    "hard_ore": 0x52,
    "members_card": 0x53,
    "masters_plaque": 0x54,
}
"""Name in a description → bit in wObtainedTreasureFlags.

What is named stays with the player or opens the way, so gaining it is progress. Left out are
treasures that a description counts elsewhere (money, hearts, keys, essences), parts of other
treasures, what every file contains, and what only Oracle of Ages has.
"""

DUNGEON_ITEMS = ("map", "compass", "boss_key")
"""What belongs to a dungeon and is described for the current one; small keys are counted."""

SEASON_POWERS: dict[str, str] = {
    season: f"power_of_{season}" for season in ("spring", "summer", "autumn", "winter")
}
"""Season → what owning it is called, in the game where each is an objective of its own."""

SEEDLING_VALE = "seedling-vale"
ORACLE_OF_SEASONS = "oracle-of-seasons"

SEEDLING_ROOMS: dict[tuple[int, int], str] = {
    (0, 0x56): "Frost Hollow",
    (0, 0x57): "Vine Cliff",
    (0, 0x58): "Windy Ridge",
    (0, 0x59): "Root Gate",
    (0, 0x66): "Old Orchard",
    (0, 0x67): "Mirror Pond",
    (0, 0x68): "Stone Stair",
    (0, 0x69): "Blossom Way",
    (0, 0x76): "West Meadow",
    (0, 0x77): "Seedling",
    (0, 0x78): "East Field",
    (0, 0x79): "Reed Lake",
    (0, 0x86): "Mossy Wood",
    (0, 0x87): "South Lane",
    (0, 0x88): "Dry Hollow",
    (0, 0x89): "Lake Isle",
    (3, 0x10): "Fern's House",
    (3, 0x11): "Nut Shop",
    (3, 0x12): "Sorrel's Hut",
    (5, 0xA1): "Quarry Cave",
    (5, 0xB4): "Windy Cave",
    (5, 0xC7): "Ember Cave",
    (4, 0x04): "Seed Hall",
    (4, 0x0C): "Gnarl's Den",
    (4, 0x13): "Torch Hall",
    (4, 0x14): "Cross Hall",
    (4, 0x15): "Stone Vault",
    (4, 0x1B): "Button Room",
    (4, 0x1C): "Root Cave",
    (4, 0x1D): "Hop Hall",
}
"""(Group, room) → what Seedling Vale calls it in its status bar: cartridge/data/rooms.c."""

ORACLE_DUNGEONS: tuple[str, ...] = (
    "Hero's Cave", "Gnarled Root Dungeon", "Snake's Remains", "Poison Moth's Lair",
    "Dancing Dragon Dungeon", "Unicorn's Cave", "Ancient Ruins", "Explorer's Crypt",
    "Sword & Shield Maze", "Onox's Castle", "Room of Rites", "Hero's Cave (linked)",
)  # fmt: skip
"""Dungeons of Oracle of Seasons by their number."""

NAMED_GAMES = frozenset({SEEDLING_VALE, ORACLE_OF_SEASONS})
NAMED_PLACES = frozenset({*SEEDLING_ROOMS.values(), *ORACLE_DUNGEONS})
