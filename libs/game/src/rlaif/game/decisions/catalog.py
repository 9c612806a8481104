"""All decisions by number, each a skill with its argument.

The numbers never change. The first eight are the buttons themselves, with the numbers of `Action`.
"""

from dataclasses import dataclass
from typing import Literal, cast

import numpy as np
import numpy.typing as npt

from rlaif.contracts.planning.plans import USABLE_ITEMS
from rlaif.game.machine.actions import ACTION_NAMES, Action
from rlaif.game.motion.grid import WALKS, TilePlace
from rlaif.game.motion.terrain import TILE_COLUMNS, TILE_ROWS
from rlaif.game.skills.table import Skill, SkillCall

Family = Literal["BUTTON", "WALK", "AIMED", "INTERACT", "FIGHT", "ITEM", "LEAVE", "GO_TO"]

Arm = Literal["seed", "buttons", "macros", "options"]
"""An action set: the eight buttons; with walks, jumps and items; everything; everything but the
buttons."""

ITEMS: tuple[str, ...] = tuple(name for name in USABLE_ITEMS if not name.endswith("_seeds"))
"""Items that can be put on a button; seeds are represented by their satchel."""


@dataclass(frozen=True)
class Decision:
    """One decision; fields that its family does not use are None."""

    index: int
    family: Family
    name: str
    direction: Action | None = None  # of WALK, AIMED, LEAVE
    item: str | None = None  # of ITEM, a name of `ITEMS`
    tile: TilePlace | None = None  # of GO_TO

    @property
    def call(self) -> SkillCall:
        arguments = (self.direction, self.item, self.tile)
        argument = next((each for each in arguments if each is not None), None)
        if self.family == "BUTTON":
            argument = Action(self.index)
        return SkillCall(cast(Skill, self.family.lower()), argument)


def _all() -> tuple[Decision, ...]:
    rows: list[tuple[Family, str, Action | None, str | None, TilePlace | None]] = []
    rows += [("BUTTON", name, None, None, None) for name in ACTION_NAMES]
    rows += [("WALK", f"WALK_{way.name}", way, None, None) for way in WALKS]
    rows += [("AIMED", f"AIMED_{way.name}", way, None, None) for way in WALKS]
    rows += [("INTERACT", "INTERACT", None, None, None), ("FIGHT", "FIGHT", None, None, None)]
    rows += [("ITEM", f"ITEM_{name}", None, name, None) for name in ITEMS]
    rows += [("LEAVE", f"LEAVE_{way.name}", way, None, None) for way in WALKS]
    rows += [
        ("GO_TO", f"GO_TO_{column}_{row}", None, None, TilePlace(row, column))
        for row in range(TILE_ROWS)
        for column in range(TILE_COLUMNS)
    ]
    return tuple(Decision(index, *row) for index, row in enumerate(rows))


DECISIONS: tuple[Decision, ...] = _all()
COUNT = len(DECISIONS)


def _range(family: Family) -> range:
    found = [decision.index for decision in DECISIONS if decision.family == family]
    return range(found[0], found[-1] + 1)


BUTTON, WALK, AIMED = _range("BUTTON"), _range("WALK"), _range("AIMED")
INTERACT, FIGHT = _range("INTERACT").start, _range("FIGHT").start
ITEM, LEAVE, GO_TO = _range("ITEM"), _range("LEAVE"), _range("GO_TO")
"""Numbers of each family; directions in the order UP, DOWN, LEFT, RIGHT."""


def item(name: str) -> int:
    """The decision to use an item of `ITEMS`; ValueError for other names."""
    if name not in ITEMS:
        raise ValueError(f"no item {name} can be put on a button")
    return ITEM.start + ITEMS.index(name)


def go_to(tile: TilePlace) -> int:
    """The decision to go to a tile of the 12 x 16 buffer."""
    return GO_TO.start + tile.row * TILE_COLUMNS + tile.column


_FAMILIES: dict[Arm, frozenset[Family]] = {
    "seed": frozenset({"BUTTON"}),
    "buttons": frozenset({"BUTTON", "WALK", "AIMED", "ITEM"}),
    "macros": frozenset({"BUTTON", "WALK", "AIMED", "INTERACT", "FIGHT", "ITEM", "LEAVE", "GO_TO"}),
    "options": frozenset({"WALK", "AIMED", "INTERACT", "FIGHT", "ITEM", "LEAVE", "GO_TO"}),
}


def in_arm(arm: Arm) -> npt.NDArray[np.bool_]:
    """`[COUNT]` bool: the decisions of an action set; read-only."""
    return _IN_ARM[arm]


def _flags(families: frozenset[Family]) -> npt.NDArray[np.bool_]:
    flags = np.array([decision.family in families for decision in DECISIONS], dtype=np.bool_)
    flags.setflags(write=False)
    return flags


_IN_ARM: dict[Arm, npt.NDArray[np.bool_]] = {
    arm: _flags(families) for arm, families in _FAMILIES.items()
}
