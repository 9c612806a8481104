"""Names of games and places in descriptions of a state, which judges can look up in a guide.

They are facts about the games of the memory map, never text from a cartridge.
"""

import re
from functools import cache

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
"""(Group, room) → name in the status bar of Seedling Vale: cartridge/data/rooms.c."""

ORACLE_DUNGEONS: tuple[str, ...] = (
    "Hero's Cave", "Gnarled Root Dungeon", "Snake's Remains", "Poison Moth's Lair",
    "Dancing Dragon Dungeon", "Unicorn's Cave", "Ancient Ruins", "Explorer's Crypt",
    "Sword & Shield Maze", "Onox's Castle", "Room of Rites", "Hero's Cave (linked)",
)  # fmt: skip
"""Dungeons of Oracle of Seasons by number."""

WORLD_FIRST_WORDS: tuple[str, ...] = (
    "Ash", "Amber", "Birch", "Bramble", "Brook", "Clay", "Clover", "Copper", "Crow", "Dew",
    "Dusk", "Elder", "Elm", "Ember", "Fern", "Flint", "Fog", "Fox", "Frost", "Gale", "Gold",
    "Gorse", "Hare", "Hazel", "Heron", "Holly", "Ivy", "Jay", "Juniper", "Lark", "Lily", "Lost",
    "Low", "Maple", "Mint", "Mist", "Moss", "Moth", "Nettle", "Oak", "Old", "Otter", "Owl",
    "Pearl", "Pine", "Plum", "Quiet", "Rain", "Raven", "Red", "Reed", "Robin", "Rook", "Rose",
    "Rush", "Sage", "Salt", "Sand", "Silver", "Sloe", "Snow", "Sorrel", "Star", "Still", "Stoat",
    "Storm", "Sun", "Swan", "Tansy", "Thorn", "Thyme", "Vole", "West", "Wild", "Willow", "Wind",
    "Winter", "Wren", "Yarrow", "Yew",
)  # fmt: skip
WORLD_NOUNS: dict[str, tuple[str, ...]] = {
    "wood": ("Wood", "Grove", "Glade", "Thicket", "Dell"),
    "pines": ("Pines", "Spruces", "Hollow", "Forest", "Ridge"),
    "meadow": ("Meadow", "Field", "Green", "Lea", "Common"),
    "cliffs": ("Cliff", "Stair", "Crag", "Ledge", "Gap"),
    "shore": ("Shore", "Marsh", "Mere", "Fen", "Reeds"),
    "stones": ("Stones", "Circle", "Barrow", "Moor", "Heath"),
    "cave": ("Cave", "Den", "Grotto", "Burrow", "Cavern"),
    "dungeon": ("Hall", "Vault", "Cross", "Crypt", "Well", "Nave", "Cell", "Arch", "Gallery",
                "Chamber"),
    "shop": ("Shop", "Store"),
}  # fmt: skip
WORLD_PEOPLE: tuple[str, ...] = (
    "Fern", "Sorrel", "Bryony", "Rowan", "Tansy", "Alder", "Hazel", "Linden", "Sage", "Clover",
    "Reed", "Elm",
)  # fmt: skip
"""Persons of generated worlds, after whom houses are named; other places have a first word and a
noun of their type."""
_WORLD_PLACES = (
    *(
        f"{first} {noun}"
        for first in WORLD_FIRST_WORDS
        for nouns in WORLD_NOUNS.values()
        for noun in nouns
    ),
    *(f"{person}'s Hut" for person in WORLD_PEOPLE),
)
WORLD_SEEDS = re.compile(r"([0-9]{1,5})(?:-([0-9]{1,5}))?(?:x([0-9]{2,3}))?")
_WORLD = re.compile(r"world-([0-9]{1,5})-([0-9]{2,3})")

NAMED_GAMES = frozenset({SEEDLING_VALE, ORACLE_OF_SEASONS})
NAMED_PLACES = frozenset({*SEEDLING_ROOMS.values(), *ORACLE_DUNGEONS, *_WORLD_PLACES})


def seed_and_size(game: str) -> tuple[int, int] | None:
    """Seed and size of a generated world, named `world-SEED-SIZE`; None for any other game."""
    found = _WORLD.fullmatch(game)
    return None if found is None else (int(found[1]), int(found[2]))


@cache
def world_names(seeds: str) -> tuple[str, ...]:
    """Names of worlds by seeds: `7` or `1-64` with 30 rooms each, `1-64x60` with 60."""
    found = WORLD_SEEDS.fullmatch(seeds)
    if found is None:
        return ()
    first, last, size = int(found[1]), int(found[2] or found[1]), int(found[3] or 30)
    return tuple(f"world-{seed}-{size}" for seed in range(first, last + 1))


def is_named_game(game: str) -> bool:
    """Whether the memory map supports the game of this name."""
    return game in NAMED_GAMES or seed_and_size(game) is not None
