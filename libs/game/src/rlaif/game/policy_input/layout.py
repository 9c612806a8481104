"""The layout of a policy's input: names, places and bounds of its numbers; data only.

It has what the 128 numbers of an observation lack: items on the buttons, the satchel, the menu, the
tiles of the whole room and their kinds, the story flags, amounts as thresholds, and the possible
decisions. The 128 remain unchanged for judges and reward models; a policy reads both.

A number is float32: either in [0, 1], or a code, an integer from 0 to below its field's `codes`,
for which a network has an embedding table. Fields that a game does not use stay 0.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rlaif.contracts.game.items import NAMED_ITEMS
from rlaif.game.decisions.catalog import COUNT, DECISIONS
from rlaif.game.memory.state import SEASONS
from rlaif.game.motion.terrain import TILE_COLUMNS, TILE_ROWS
from rlaif.game.motion.things import KINDS

Row = npt.NDArray[np.float32]
"""`[n] float32`; a whole input or a part of it."""


def bits_of(data: bytes) -> list[int]:
    """The bits of some bytes, the lowest of the first byte first."""
    bits: list[int] = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little").tolist()
    return bits


def reached(amount: int, thresholds: Sequence[int]) -> list[bool]:
    """Which of the thresholds an amount has reached."""
    return [amount >= threshold for threshold in thresholds]


def amount(number: int) -> float:
    """Scale a number up to some thousands to [0, 1], with a finer scale for small ones."""
    return min(math.log2(1 + number) / 10, 1.0)


def read_only(values: Iterable[float]) -> Row:
    """The numbers as a row that may be kept and shared."""
    row = np.array(list(values), dtype=np.float32)
    row.flags.writeable = False
    return row


INPUT_VERSION = "v1"
"""A network depends on the place and meaning of every number: any change is a new version."""

TILES = TILE_ROWS * TILE_COLUMNS
"""Tiles of the buffer, 12 rows of 16; a room fills its upper left part."""

NO_DECISION = COUNT
"""Code of the last decision at the start of an episode, where there is none."""

ROOM_CODES = 8 * 256
"""Map group 0 to 7, then room 0 to 255."""

ITEM_CODES = 33
"""Items 0 (nothing) to 31, as in the inventory; 32 for all other numbers."""

TILE_INDEXES, TILE_TABLES = 256, 4
FLOOR, EDGE, WALL, DEEP, OUTSIDE, SPECIAL = range(6)
"""Kinds by a tile's collision byte: free; solid in some quarters; solid; hole or water; no tile of
this room; another (stairs, bridges, the border that the player can leave by)."""
TILE_CODES = 6 * TILE_TABLES * TILE_INDEXES
"""((collision * 4) + table of tiles) * 256 + tile index; tables: overworld, Subrosia, indoors with
dungeons, others."""

ENEMY_CODES = 129
"""0 for none, n + 1 for enemy n; 128 for all from 127 on."""

COINS = (1, 5, 10, 15, 20, 25, 30, 35, 40, 50, 60, 80, 100, 150, 200, 300, 500, 999)
CHUNKS = (1, 10, 25, 50, 100, 200)
COUNTED = (1, 5, 10, 20)
HEALTH = (1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)
MAX_HEALTH = (8, 12, 16, 20, 24, 28, 32, 40, 48, 56)
KEYS = TORCHES = ENEMIES_LEFT = (1, 2, 3, 4)
"""Thresholds: a slot is 1 from its amount on."""

STORES = (
    "bombs", "bombchus", "ember_seeds", "scent_seeds", "pegasus_seeds", "gale_seeds",
    "mystery_seeds", "gasha_seeds",
)  # fmt: skip
LEVELS = ("sword", "shield", "boomerang", "slingshot", "feather", "seed_satchel", "ring_box")
NEAREST_ENEMIES = 3


@dataclass(frozen=True)
class Field:
    """Some numbers of the input that belong together.

    Attributes:
        slots: A name for each number.
        codes: Each number is a code below this value; None: each is in [0, 1].
        start: Place of the first number.
    """

    name: str
    slots: tuple[str, ...]
    meaning: str
    codes: int | None = None
    start: int = 0

    @property
    def span(self) -> slice:
        return slice(self.start, self.start + len(self.slots))

    @property
    def highest(self) -> float:
        return 1.0 if self.codes is None else float(self.codes - 1)


def _bits(count: int) -> tuple[str, ...]:
    return tuple(f"bit_{bit}" for bit in range(count))


def _from(thresholds: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(f"from_{amount}" for amount in thresholds)


def _treasures() -> tuple[str, ...]:
    names = {number: name for name, number in NAMED_ITEMS.items()}
    return tuple(names.get(number, f"treasure_0x{number:02X}") for number in range(128))


def _tiles() -> tuple[str, ...]:
    return tuple(f"{column}_{row}" for row in range(TILE_ROWS) for column in range(TILE_COLUMNS))


_MOMENT = (
    Field("last_decision", ("decision",), "the decision before this one; the last code: none",
          COUNT + 1),
    Field("tile_row", ("row",), "row of the tile on which the player stands", TILE_ROWS),
    Field("tile_column", ("column",), "its column", TILE_COLUMNS),
    Field("on_tile", ("x", "y"), "position on that tile, pixels of 15"),
    Field("grab", ("none", "grabs", "lifts", "carries"), "state of the hands, one of them"),
    Field("riding", ("riding",), "1: on an animal or in a minecart"),
    Field("running", ("running",), "1: runs fast (pegasus seeds)"),
    Field("shielded", ("shielded",), "1: holds up the shield"),
    Field("menu", ("type",), "0 none, 1 inventory, 2 map, 3 save, 4 to 10 others, 11 unknown", 12),
    Field("menu_page", ("page",), "page of the open inventory, 3 for any other number", 4),
    Field("menu_state", ("state",), "0 opening, 1 open, 2 closing, 3 back to the game", 4),
    Field("menu_cursor", ("cell",), "0 no inventory open, n + 1 for cell n of its page", 17),
    Field("text_option", ("option",), "0 no question, 1 none chosen, n + 2 for option n", 6),
    Field("text", _bits(16), "number of the text on the screen, 0 without one"),
    Field("health", _from(HEALTH), "quarter hearts from this amount on"),
    Field("enemies_near", tuple(f"enemy_{n}" for n in range(1, NEAREST_ENEMIES + 1)),
          "which enemies are nearest, in the order of the observation", ENEMY_CODES),
    Field("own_object", ("present", "dx", "dy", "timer"),
          "nearest object set or thrown by the player (bomb, flame): 0.5 + pixels / 512, "
          "its first counter of 255"),
    Field("own_object_id", ("item",), "its item, 0 none", ITEM_CODES),
)  # fmt: skip

_OWNED = (
    Field("item_b", ("item",), "item on B", ITEM_CODES),
    Field("item_a", ("item",), "item on A", ITEM_CODES),
    Field("inventory", tuple(f"cell_{cell}" for cell in range(16)), "item in each cell",
          ITEM_CODES),
    Field("seeds_in_use", ("satchel", "slingshot"), "kind of seed, 5 for any other number", 6),
    Field("ring", ("ring",), "ring worn + 1, 0 none", 65),
    Field("treasures", _treasures(), "1: obtained"),
    Field("levels", LEVELS, "level of 3"),
    Field("essences", _bits(8), "essence of dungeon n + 1"),
    Field("seasons", SEASONS, "1: the rod can bring it"),
    Field("story", _bits(128), "the game's story flags (wGlobalFlags)"),
    Field("coins", _from(COINS), "rupees from this amount on"),
    Field(
        "chunks", (*_from(CHUNKS), "amount"), "ore chunks from this amount on; log2(1 + n) / 10"
    ),
    Field("stores", tuple(f"{name}_{slot}" for name in STORES
                          for slot in (*_from(COUNTED), "amount")),
          "how many from this amount on; log2(1 + n) / 10"),
    Field("max_health", _from(MAX_HEALTH), "quarter hearts when full, from this amount on"),
    Field("keys", _from(KEYS), "small keys of the current dungeon from this amount on"),
)  # fmt: skip

_SCENE = (
    Field("room", ("room",), "group * 256 + room", ROOM_CODES),
    Field("area", _bits(8), "kind of place (wTilesetFlags): 0 outdoors, 2 indoors, 3 dungeon, "
          "5 side view, 7 Subrosia"),
    Field("room_flags", _bits(8), "flags of this room: 4 visited, 5 item taken, others events"),
    Field("triggers", _bits(8), "floor buttons pressed"),
    Field("switches", _bits(8), "switches hit"),
    Field("toggles", _bits(8), "toggle blocks set"),
    Field("torches", _from(TORCHES), "torches lit from this number on"),
    Field("enemies_left", _from(ENEMIES_LEFT), "counted enemies left from this number on"),
    Field("tiles", _tiles(), "collision, table and index of each tile (TILE_CODES)", TILE_CODES),
)  # fmt: skip

_DEEDS = (
    Field("things", _tiles(), "object of decisions on each tile: 0 none, then "
          + ", ".join(KINDS), len(KINDS) + 1),
    Field("allowed", tuple(decision.name for decision in DECISIONS),
          "1: this decision is possible now and was not just made here without effect"),
)  # fmt: skip


@dataclass(frozen=True)
class Layout:
    """A sequence of fields."""

    fields: tuple[Field, ...]
    size: int

    def __getitem__(self, name: str) -> Field:
        for field in self.fields:
            if field.name == name:
                return field
        raise KeyError(f"policy input {INPUT_VERSION} has no field {name!r}")

    def block(self, fields: tuple[Field, ...]) -> slice:
        return slice(self[fields[0].name].span.start, self[fields[-1].name].span.stop)


def _laid_out(*parts: tuple[Field, ...]) -> Layout:
    placed: list[Field] = []
    start = 0
    for field in (field for part in parts for field in part):
        placed.append(replace(field, start=start))
        start += len(field.slots)
    return Layout(tuple(placed), start)


POLICY_INPUT = _laid_out(_MOMENT, _OWNED, _SCENE, _DEEDS)
SIZE = POLICY_INPUT.size

MOMENT, OWNED = POLICY_INPUT.block(_MOMENT), POLICY_INPUT.block(_OWNED)
SCENE = POLICY_INPUT.block(_SCENE)
THINGS, ALLOWED = POLICY_INPUT["things"].span, POLICY_INPUT["allowed"].span
"""The blocks, each computed as a whole: state of the step, possessions, room; things in the room,
possible decisions."""
