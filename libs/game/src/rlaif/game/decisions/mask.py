"""Masks of the decisions of an action set that are possible in a state."""

from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

from rlaif.contracts.game.items import NAMED_ITEMS
from rlaif.game.decisions.catalog import (
    AIMED,
    BUTTON,
    COUNT,
    FIGHT,
    INTERACT,
    ITEM,
    ITEMS,
    LEAVE,
    WALK,
    Arm,
    go_to,
    in_arm,
    item,
)
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import (
    has_control,
    is_dying,
    is_menu,
    is_running,
    is_text,
    is_text_choice,
)
from rlaif.game.motion.ground import Reached, reached_in
from rlaif.game.motion.things import fixed_things, moving_things

_BUTTONS, _AT_HAND = address("wInventoryB"), 18
"""Items on B, on A, and in the inventory."""

_BOMBS, _SEEDS, _KINDS_OF_SEEDS = address("wNumBombs"), address("wNumEmberSeeds"), 5
_SWORD, _FEATHER = NAMED_ITEMS["sword"], NAMED_ITEMS["feather"]
_ITEMS = np.array([NAMED_ITEMS[name] for name in ITEMS])
_WAITING = (Action.A, Action.START, Action.NOP)
"""Buttons that stay possible without control, as the game may wait for one of them."""

_MAX_CACHED = 512

Flags = npt.NDArray[np.bool_]


def allowed(ram: RamBlocks, arm: Arm) -> Flags:
    """`[COUNT]` bool, never all False; must not be modified.

    In texts, menus and deaths only buttons and INTERACT are possible, in questions also walks,
    which move the cursor; without control only waiting. The action set `seed` always has its eight
    buttons.
    """
    if arm == "seed":
        return in_arm(arm)
    if has_control(ram):
        return _in_play(ram, arm)
    if is_text(ram) or is_menu(ram) or is_dying(ram) or not is_running(ram):
        return _answers(arm, is_text_choice(ram))
    return _waits(arm)


def _in_play(ram: RamBlocks, arm: Arm) -> Flags:
    at_hand = ram.block(_BUTTONS, _AT_HAND)
    bombs, seeds = ram.u8(_BOMBS) > 0, any(ram.block(_SEEDS, _KINDS_OF_SEEDS))
    jumps = _FEATHER in at_hand
    can = _with_items(at_hand, bombs, seeds, arm) | _with_room(reached_in(ram), jumps, arm)
    if in_arm(arm)[FIGHT]:
        for thing in moving_things(ram):
            can[go_to(thing.tile)] = thing.reachable
            can[FIGHT] |= thing.kind == "enemy" and thing.reachable and _SWORD in at_hand
    return can


@lru_cache(maxsize=_MAX_CACHED)
def _with_items(at_hand: bytes, bombs: bool, seeds: bool, arm: Arm) -> Flags:
    can = np.zeros(COUNT, dtype=np.bool_)
    can[: AIMED.start] = can[INTERACT] = True
    can[AIMED.start : AIMED.stop] = at_hand[0] != 0 or at_hand[1] == _FEATHER
    can[ITEM.start : ITEM.stop] = np.isin(_ITEMS, np.frombuffer(at_hand, dtype=np.uint8))
    can[item("bombs")] &= bombs
    can[item("seed_satchel")] &= seeds
    if arm == "macros":
        can[Action.START] = False  # ITEM replaces menus, which are hard to leave
    return can & in_arm(arm)


@lru_cache(maxsize=_MAX_CACHED)
def _with_room(reached: Reached, jumps: bool, arm: Arm) -> Flags:
    can = np.zeros(COUNT, dtype=np.bool_)
    can[LEAVE.start : LEAVE.stop] = reached.rims
    for thing in fixed_things(reached):
        can[go_to(thing.tile)] = thing.reachable and (jumps or thing.kind != "hole")
    return can & in_arm(arm)


@cache
def _answers(arm: Arm, choice: bool) -> Flags:
    can = np.zeros(COUNT, dtype=np.bool_)
    can[BUTTON.start : BUTTON.stop] = can[INTERACT] = True
    can[WALK.start : WALK.stop] = choice
    return can & in_arm(arm)


@cache
def _waits(arm: Arm) -> Flags:
    can = np.zeros(COUNT, dtype=np.bool_)
    can[list(_WAITING)] = can[INTERACT] = True
    return can & in_arm(arm)
