"""The tables of a cartridge: rooms, objects, texts, rules, and the meaning of their numbers.

The numbers are those of `cartridge/data/rooms.h`, `cartridge/src/ram.h` and
`cartridge/art/tiles.txt`; a test builds a cartridge by them.
"""

import csv
from dataclasses import dataclass
from enum import IntEnum
from importlib import resources

ROWS, COLUMNS = 8, 10
NAME_LETTERS, LINE_LETTERS, PAGE_LINES, TEXT_LETTERS, TITLE_LETTERS = 12, 17, 3, 250, 10
MAX_THINGS = 24

OVERWORLD, HOUSES, DUNGEON, CAVES = 0, 3, 4, 5
"""Groups of rooms. Rooms of a group are joined if their ids are neighbours on its grid."""

SEASONS = ("spring", "summer", "autumn", "winter")
UP, RIGHT, DOWN, LEFT = range(4)
DIRECTIONS = ("UP", "RIGHT", "DOWN", "LEFT")
SIDES = ("north", "east", "south", "west")
STEPS = ((-1, 0), (0, 1), (1, 0), (0, -1))

Spot = tuple[int, int]
"""Row and column of a tile."""
Key = tuple[int, int]
"""Group and id of a room."""

Kind = IntEnum(
    "Kind",
    "NPC ENEMY PICKUP ESSENCE SIGN CHEST WARP TREASURE SHOP BUTTON LEVER SOLVE DIG BOSS SCENE IF "
    "TILE",
)
"""Objects of a room; rooms.h defines `a`, `b`, `c` of a `Thing`."""
Condition = IntEnum("Condition", "ENEMIES TRIGGERS TORCHES SWITCH", start=0)
"""Conditions of a `SOLVE`."""
Effect = IntEnum("Effect", "SHUTTERS CHEST KEY BRIDGE", start=0)
"""Effects of a `SOLVE`."""
When = IntEnum("When", "HAS HAS_NOT ESSENCE SEASON FLAG NOT_FLAG VISITED NO_ESSENCE", start=0)
"""Conditions of `IF`, `TILE` and of dialogs."""


class Flag(IntEnum):
    """Bits of a room's flags."""

    DUG, VISITED, ITEM, FREE, OPEN = 0x01, 0x10, 0x20, 0x40, 0x80


class Treasure(IntEnum):
    """Numbers of treasures; in lower case, the tools are named as in the evidence of a segment."""

    SHIELD, BOMBS, SWORD, ROD_OF_SEASONS = 0x01, 0x03, 0x05, 0x07
    SHOVEL, BRACELET, FEATHER, SEED_SATCHEL, FLIPPERS = 0x15, 0x16, 0x17, 0x19, 0x2E
    EMBER_SEEDS, RUPEES, HEART_REFILL, HEART_CONTAINER, HEART_PIECE = 0x20, 0x28, 0x29, 0x2A, 0x2B
    SMALL_KEY, BOSS_KEY, COMPASS, MAP, ESSENCE, GNARLED_KEY = 0x30, 0x31, 0x32, 0x33, 0x40, 0x42


class Enemy(IntEnum):
    """Kinds of enemies."""

    SPITTER, CHARGER, BAT, SLIME, BEETLE, BOSS = 0x09, 0x10, 0x32, 0x34, 0x51, 0x78


class Person(IntEnum):
    """Kinds of people."""

    GIRL, CHILD, MAN, GRANNY, ELDER, KEEPER = 0x2E, 0x35, 0x37, 0x3C, 0x3D, 0x46


DROP_HEART = 0x01


@dataclass(frozen=True)
class Way:
    """A way to pass a tile: the action, the required items, the only season if any."""

    how: str
    needs: frozenset[str] = frozenset()
    season: int | None = None


@dataclass(frozen=True)
class Sign:
    """A character of the maps: its tile index, a readable name, and the ways to pass it."""

    index: int
    name: str
    ways: tuple[Way, ...]


def _way(text: str) -> Way:
    rest, _, season = text.partition("@")
    how, _, needs = rest.partition(":")
    return Way(how, frozenset({needs} - {""}), SEASONS.index(season) if season else None)


def _signs() -> dict[str, Sign]:
    rows = csv.DictReader(read_data("tiles.csv").splitlines())
    return {
        row["sign"]: Sign(int(row["index"], 16), row["name"], tuple(map(_way, row["ways"].split())))
        for row in rows
    }


def read_data(name: str) -> str:
    """A data file of this package."""
    return (resources.files(__package__) / name).read_text(encoding="ascii")


SIGNS = _signs()
FREE = frozenset(sign for sign, it in SIGNS.items() if it.ways == (Way("walk"),))
"""Signs of tiles that can always be walked on (a mouth, door or mat is an exit)."""


@dataclass(frozen=True)
class Thing:
    """An object of a room; `pos` is 0xYX."""

    kind: int
    pos: int
    a: int = 0
    b: int = 0
    c: int = 0

    @property
    def tile(self) -> Spot:
        return divmod(self.pos, 16)


@dataclass(frozen=True)
class Room:
    """One room as the cartridge holds it."""

    group: int
    id: int
    name: str
    rows: tuple[str, ...]  # 8 of 10 characters
    things: tuple[Thing, ...] = ()

    @property
    def key(self) -> Key:
        return self.group, self.id

    def of(self, *kinds: Kind) -> list[Thing]:
        return [it for it in self.things if it.kind in kinds]

    def spots(self, sign: str) -> list[Spot]:
        """Tiles with a sign."""
        return [
            (row, column)
            for row, line in enumerate(self.rows)
            for column, each in enumerate(line)
            if each == sign
        ]


@dataclass(frozen=True)
class Tables:
    """Everything that distinguishes one cartridge of the engine from another."""

    title: tuple[str, str]
    start: tuple[int, int, int]  # group, room, 0xYX
    rooms: tuple[Room, ...]
    seasons: tuple[tuple[int, ...], ...]  # tile, and its index in each season
    talks: tuple[tuple[int, ...], ...]  # text, When, value, the text said instead
    gifts: tuple[tuple[int, ...], ...]  # text, treasure, amount
    prizes: tuple[tuple[int, ...], ...]  # treasure, its text
    title_map: str  # 9 rows of 10 characters
    texts: tuple[str, ...]
    engine_texts: tuple[int, ...]  # numbers of the texts that the engine itself shows

    def room(self, key: Key) -> Room:
        return next(room for room in self.rooms if room.key == key)


def neighbour(key: Key, direction: int) -> Key:
    """The key of the room beyond an edge, whether or not the room exists."""
    row, column = STEPS[direction]
    return key[0], key[1] + row * (8 if key[0] == DUNGEON else 16) + column


def at(row: int, column: int) -> int:
    """A tile as 0xYX."""
    return row << 4 | column
