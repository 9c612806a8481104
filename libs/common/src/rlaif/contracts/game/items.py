"""Names of items in descriptions of a state, and their bits in memory."""

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

These items are permanent or unlock paths, so gaining one is progress. Omitted are treasures that a
description counts elsewhere (money, hearts, keys, essences), parts of other treasures, items that
every saved game contains, and those of Oracle of Ages only.
"""

DUNGEON_ITEMS = ("map", "compass", "boss_key")
"""Items of a dungeon, described for the current one; small keys are counted separately."""

SEASON_POWERS: dict[str, str] = {
    season: f"power_of_{season}" for season in ("spring", "summer", "autumn", "winter")
}
"""Season → name of its power, in games where each power is an objective."""
