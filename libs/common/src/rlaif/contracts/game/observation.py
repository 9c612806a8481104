"""The observation layout: meaning of each of the 128 numbers, float32 in [0, 1].

Networks depend on index and meaning of each slot: any change requires a new `LAYOUT_VERSION`.
`rlaif.game.encoder` computes the numbers.
"""

from dataclasses import dataclass

LAYOUT_VERSION = "v1"
OBSERVATION_SIZE = 128

WALLS_RADIUS = 2
"""Radius of the walls grid around the player in half tiles (8 px): 5 by 5."""

RAY_LENGTH = 8
"""Maximum length of a ray in half tiles."""

ENEMY_SLOTS = 3
"""Number of observed enemies, the nearest ones."""

TREASURE_SLOTS: dict[str, int] = {
    "rod_of_seasons": 0x07,
    "bracelet": 0x16,
    "feather": 0x17,
    "flippers": 0x2E,
    "seed_satchel": 0x19,
}
"""Treasures with their own slot `has_<name>` → bit in wObtainedTreasureFlags."""

STORY_KEYS: dict[str, int] = {
    "gnarled_key": 0x42,
    "floodgate_key": 0x43,
    "dragon_key": 0x44,
    "pirates_bell": 0x4A,
    "round_jewel": 0x4C,
    "pyramid_jewel": 0x4D,
    "square_jewel": 0x4E,
    "x_shaped_jewel": 0x4F,
}
"""Treasures that open a place of the story, counted by slot `story_keys`."""

OTHER_TOOLS: dict[str, int] = {
    "boomerang": 0x06,
    "magnet_gloves": 0x08,
    "slingshot": 0x13,
    "shovel": 0x15,
}
"""Tools counted by slot `other_tools`."""

_SIDES = ("north", "east", "south", "west")


@dataclass(frozen=True)
class Slot:
    """One number of the observation; raw values are divided by `scale` and clipped at 1."""

    index: int
    name: str
    group: str
    meaning: str
    scale: float = 1.0


_Row = tuple[str, str, str, float]

_PLAYER: tuple[_Row, ...] = (
    ("player_x", "player", "pixels from the left edge of the room", 240),
    ("player_y", "player", "pixels from the top edge of the room", 176),
    ("player_height", "player", "pixels above the ground", 32),
    ("facing_up", "player", "1: faces up", 1),
    ("facing_right", "player", "1: faces right", 1),
    ("facing_down", "player", "1: faces down", 1),
    ("facing_left", "player", "1: faces left", 1),
    ("swimming", "player", "1: in water", 1),
    ("airborne", "player", "1: jumping or falling", 1),
    ("carrying", "player", "1: grabs, lifts or carries something", 1),
    ("hurt", "player", "frames of invulnerability left after a hit", 64),
    ("pushing", "player", "1: pushes against something solid", 1),
)

_ROOM: tuple[_Row, ...] = (
    *((f"group_bit_{bit}", "room", f"bit {bit} of the map group", 1) for bit in range(3)),
    *((f"room_bit_{bit}", "room", f"bit {bit} of the room id", 1) for bit in range(8)),
    ("dungeon", "room", "0: not in a dungeon, else dungeon index + 1", 12),
    ("season_spring", "room", "1: spring", 1),
    ("season_summer", "room", "1: summer", 1),
    ("season_autumn", "room", "1: autumn", 1),
    ("season_winter", "room", "1: winter", 1),
)


_ITEMS: tuple[_Row, ...] = (
    ("health", "items", "quarter hearts", 80),
    ("max_health", "items", "quarter hearts when full", 80),
    ("health_ratio", "items", "health of max health", 1),
    ("heart_pieces", "items", "heart pieces towards the next container", 4),
    ("rupees", "items", "rupees (BCD in RAM)", 999),
    ("bombs", "items", "bombs (BCD in RAM)", 99),
    ("keys", "items", "small keys held for the current dungeon; 0 outside", 9),
    ("boss_key", "items", "1: boss key of the current dungeon", 1),
    ("dungeon_map", "items", "1: map of the current dungeon", 1),
    ("compass", "items", "1: compass of the current dungeon", 1),
    ("sword_level", "items", "0 none to 3 master", 3),
    ("shield_level", "items", "0 not owned to 3 mirror", 3),
    ("sword_equipped", "items", "1: the sword is on A or B", 1),
    ("ember_seeds", "items", "ember seeds (BCD in RAM)", 99),
    ("essences", "items", "essences of nature", 8),
    *(
        (f"has_{n}", "items", f"1: owns treasure 0x{bit:02X}", 1)
        for n, bit in TREASURE_SLOTS.items()
    ),
    ("story_keys", "items", "keys and jewels of the story owned", len(STORY_KEYS)),
    ("other_tools", "items", "boomerang, magnet gloves, slingshot, shovel owned", len(OTHER_TOOLS)),
)

_FLAGS: tuple[_Row, ...] = (
    ("text_active", "flags", "1: a text box is on the screen", 1),
    ("text_choice", "flags", "1: the text box asks for a choice", 1),
    ("menu_open", "flags", "1: inventory, map or save menu", 1),
    ("scrolling", "flags", "1: moving between two rooms", 1),
    ("fading", "flags", "1: the screen fades", 1),
    ("cutscene", "flags", "1: the game plays by itself", 1),
    ("has_control", "flags", "1: the player obeys the buttons", 1),
    ("dying", "flags", "1: no health, or the death animation", 1),
)

_PUZZLE: tuple[_Row, ...] = (
    ("triggers", "puzzle", "floor buttons pressed in this room", 8),
    ("switches", "puzzle", "hit switches and toggle blocks set", 8),
    ("torches", "puzzle", "torches lit in this room", 8),
    ("enemies_left", "puzzle", "counted enemies left in this room", 16),
    ("item_taken", "puzzle", "1: the item or chest of this room is taken", 1),
    ("room_event", "puzzle", "1: the event of this room (gate, boss, stairs) happened", 1),
    ("chest_closed", "puzzle", "1: a closed chest stands in this room", 1),
    ("locked", "puzzle", "1: a key door, key block or keyhole is in this room", 1),
)


_EXPLORATION: tuple[_Row, ...] = (
    *((f"visited_{s}", "exploration", f"1: the room to the {s} was visited", 1) for s in _SIDES),
    *((f"exit_{s}", "exploration", f"1: the room's {s} edge has a way out", 1) for s in _SIDES),
    ("rooms_visited", "exploration", "n / (n + scale) with n rooms visited in this file", 32),
)

_WALL_OFFSETS: tuple[tuple[int, int], ...] = tuple(
    (dy, dx)
    for dy in range(-WALLS_RADIUS, WALLS_RADIUS + 1)
    for dx in range(-WALLS_RADIUS, WALLS_RADIUS + 1)
    if (dy, dx) != (0, 0)
)


def _wall_name(dy: int, dx: int) -> str:
    vertical = f"{'n' if dy < 0 else 's'}{abs(dy)}" if dy else ""
    horizontal = f"{'w' if dx < 0 else 'e'}{abs(dx)}" if dx else ""
    return f"wall_{vertical}{horizontal}"


_WALLS: tuple[_Row, ...] = (
    *(
        (_wall_name(dy, dx), "walls", "half tile: 0 free, 0.5 hole or water, 1 solid", 1)
        for dy, dx in _WALL_OFFSETS
    ),
    ("free_north", "walls", "free half tiles to the north", RAY_LENGTH),
    ("free_east", "walls", "free half tiles to the east", RAY_LENGTH),
    ("free_south", "walls", "free half tiles to the south", RAY_LENGTH),
    ("free_west", "walls", "free half tiles to the west", RAY_LENGTH),
)


def _nearby(prefix: str, what: str) -> tuple[_Row, ...]:
    return (
        (f"{prefix}_present", "entities", f"1: there is {what}; else its other slots are 0", 1),
        (f"{prefix}_dx", "entities", "0.5 + pixels to the right / scale", 512),
        (f"{prefix}_dy", "entities", "0.5 + pixels below / scale", 512),
    )


def _enemy(number: int) -> tuple[_Row, ...]:
    prefix = f"enemy_{number}"
    return (
        *_nearby(prefix, f"an enemy, number {number} by distance"),
        (f"{prefix}_health", "entities", "its health", 32),
        (f"{prefix}_dir_x", "entities", "0.5 + half the sine of its angle; 1 moves right", 1),
        (f"{prefix}_dir_y", "entities", "0.5 - half the cosine of its angle; 1 moves down", 1),
    )


_ENTITIES: tuple[_Row, ...] = (
    *(row for number in range(1, ENEMY_SLOTS + 1) for row in _enemy(number)),
    *_nearby("npc", "someone or something to talk to, the nearest"),
    *_nearby("item", "something to pick up or use, the nearest"),
    ("npc_ahead", "entities", "1: A would talk to, read or open what is in front", 1),
)

LAYOUT: tuple[Slot, ...] = tuple(
    Slot(index, name, group, meaning, float(scale))
    for index, (name, group, meaning, scale) in enumerate(
        (
            *_PLAYER, *_ROOM, *_ITEMS, *_FLAGS, *_PUZZLE, *_EXPLORATION, *_WALLS, *_ENTITIES,
        )
    )
)  # fmt: skip
"""Slots by index."""

_INDEX_BY_NAME = {slot.name: slot.index for slot in LAYOUT}


def slot_index(name: str) -> int:
    """The index of a slot; raises KeyError."""
    try:
        return _INDEX_BY_NAME[name]
    except KeyError:
        raise KeyError(f"observation layout {LAYOUT_VERSION} has no slot {name!r}") from None


_LASTING = (
    *("player_x", "player_y"),
    *(slot.name for slot in LAYOUT if slot.group == "room"),
    *("max_health", "heart_pieces", "rupees", "bombs", "keys", "boss_key", "dungeon_map"),
    *("compass", "sword_level", "shield_level", "essences"),
    *(f"has_{name}" for name in TREASURE_SLOTS),
    *("story_keys", "other_tools"),
    *("triggers", "switches", "torches", "item_taken", "room_event", "chest_closed", "locked"),
)

LASTING_SLOTS: tuple[int, ...] = tuple(slot_index(name) for name in _LASTING)
"""Slots of position and lasting progress, the inputs of a potential.

The others are transient (menus, text, facing, enemies, health), implied by the position (walls,
exits), or reward wandering (`rooms_visited`): a potential of them could reward opening a menu.
"""

QUEST_SLOTS: tuple[int, ...] = tuple(
    slot_index(name)
    for name in (
        *("boss_key", "dungeon_map", "compass", "sword_level", "shield_level"),
        *("essences", *(f"has_{name}" for name in TREASURE_SLOTS), "story_keys", "other_tools"),
    )
)
"""Slots of permanent possessions: more is never a regression."""
