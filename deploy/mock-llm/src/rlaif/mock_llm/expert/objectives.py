"""The expert's knowledge of the quest: the objectives of the guide, and which one is next.

Numbers and order are those of the guide. An objective is reached at a set of tiles: where the
player stands to talk, buy or open the chest, and every place of work if there are several.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from rlaif.contracts.judging.evidence import Moment
from rlaif.mock_llm.expert.rooms import PLANS, Spot, Tile

SHIELD_PRICE, BOMBS_PRICE = 20, 15

BLADE, SHIELD, BOMBS, SHOVEL = "sword", "shield", "bombs", "shovel"
BRACELET, ROD, FEATHER = "bracelet", "rod_of_seasons", "feather"
SATCHEL, FLIPPERS, GNARLED_KEY = "seed_satchel", "flippers", "gnarled_key"
"""Items by their names in the evidence."""

ENTRANCE, BUTTONS, HOP_HALL, CROSS_HALL = "4/28", "4/27", "4/29", "4/20"
TORCH_HALL, VAULT, DEN, SEED_HALL = "4/19", "4/21", "4/12", "4/4"
"""Rooms of Root Cave."""
_ROOT_CAVE = frozenset({ENTRANCE, BUTTONS, HOP_HALL, CROSS_HALL, TORCH_HALL, VAULT, DEN, SEED_HALL})

LEVER: Spot = (HOP_HALL, (2, 6))
"""The tile from which the lever is hit."""
FARMER: Spot = ("0/120", (4, 4))
"""The tile at which one gets the shovel, which digging requires."""

LAST = 18
"""Number of the last objective."""


@dataclass(frozen=True)
class Known:
    """Facts that a single state does not show, and the rest of the evidence may.

    Attributes:
        lever: The lever of Hop Hall was hit.
        gnarl_beaten: Gnarl is gone.
        door_opened: A small key has just opened a door of this room.
    """

    lever: bool = True
    gnarl_beaten: bool = False
    door_opened: bool = False


USUAL = Known()
"""The assumption without evidence."""


@dataclass(frozen=True)
class Objective:
    """One objective and where it is reached."""

    title: str
    room: str
    tiles: tuple[Tile, ...]

    @property
    def spots(self) -> tuple[Spot, ...]:
        return tuple((self.room, tile) for tile in self.tiles)


def _open_tiles(room: str) -> tuple[Tile, ...]:
    return tuple(
        (row, column)
        for row, line in enumerate(PLANS[room])
        for column, sign in enumerate(line)
        if sign == "."
    )


_SOIL = ((1, 7), (2, 1), (2, 2), (2, 6), (2, 8), (3, 2))
_EMBER_TORCHES = ((1, 2), (1, 7), (5, 2), (5, 7))
_ROOT_TORCHES = ((2, 1), (2, 8), (5, 1), (5, 8))
_BUTTON, _BESIDE_BLOCK = (5, 4), (3, 2)

OBJECTIVES: Mapping[int, Objective] = MappingProxyType(
    {
        1: Objective("the Briar Blade", "3/16", ((3, 5),)),
        2: Objective("20 coins", "0/102", ((2, 4),)),
        3: Objective("the shield", "3/17", ((4, 3),)),
        4: Objective("15 coins", "0/120", _SOIL),
        5: Objective("bombs", "3/17", ((4, 5),)),
        6: Objective("the bracelet", "5/161", ((3, 4),)),
        7: Objective("the Rod of Seasons", "0/134", _open_tiles("0/134")),
        8: Objective("the Gale Feather", "5/180", ((2, 7),)),
        9: Objective("the seed satchel", "0/103", ((3, 4),)),
        10: Objective("the frog flippers", "5/199", (*_EMBER_TORCHES, (3, 4))),
        11: Objective("the gnarled key", "0/137", ((4, 4),)),
        12: Objective("Root Cave", ENTRANCE, _open_tiles(ENTRANCE)),
        13: Objective("the Button Room's key", BUTTONS, (_BESIDE_BLOCK, _BUTTON, (2, 4))),
        14: Objective("Cross Hall", CROSS_HALL, _open_tiles(CROSS_HALL)),
        15: Objective("Torch Hall's key", TORCH_HALL, (*_ROOT_TORCHES, (3, 4))),
        16: Objective("the thorn key", VAULT, ((2, 3),)),
        17: Objective("Gnarl", DEN, _open_tiles(DEN)),
        18: Objective("the Sun Seed", SEED_HALL, ((2, 4), (2, 5))),
    }
)

_ITEMS_FROM_6 = (BRACELET, ROD, FEATHER, SATCHEL, FLIPPERS, GNARLED_KEY)
"""Items of objectives 6 to 11."""


def next_objective(moment: Moment, known: Known = USUAL) -> int | None:
    """Number of the next objective; None if the evidence does not show it."""
    if moment.items is None:
        return None
    owned = set(moment.items)
    if BLADE not in owned:
        return 1
    for item, price, gather in ((SHIELD, SHIELD_PRICE, 2), (BOMBS, BOMBS_PRICE, 4)):
        if item not in owned:
            if moment.rupees is None:
                return None
            return gather if moment.rupees < price else gather + 1
    for number, item in enumerate(_ITEMS_FROM_6, 6):
        if item not in owned:
            return number
    return LAST if moment.essences else _underground(moment, known)


def _underground(moment: Moment, known: Known) -> int:
    """In Root Cave it follows from keys and the room: a spent small key has opened a door."""
    room = moment.room
    if room not in _ROOT_CAVE:
        return 12
    if room in (DEN, SEED_HALL):
        return LAST if room == SEED_HALL or known.gnarl_beaten else 17
    if moment.boss_key:
        return 17
    has_key = bool(moment.keys) or known.door_opened
    if room in (CROSS_HALL, TORCH_HALL):
        return 16 if has_key else 15
    if room == VAULT:
        return 16
    return 14 if has_key else 13
