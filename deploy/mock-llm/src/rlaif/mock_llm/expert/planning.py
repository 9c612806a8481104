"""Plans and single buttons of the expert: what a model that knows the guide would answer."""

import itertools
from collections import deque
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from rlaif.mock_llm.expert.distances import Node, beside, sign_at
from rlaif.mock_llm.expert.objectives import (
    BLADE,
    BOMBS,
    BOMBS_PRICE,
    BUTTONS,
    FEATHER,
    HOP_HALL,
    OBJECTIVES,
    ROD,
    SATCHEL,
    SHIELD,
    SHIELD_PRICE,
    TORCH_HALL,
    next_objective,
)
from rlaif.mock_llm.expert.progress import next_move, next_room
from rlaif.mock_llm.expert.rooms import AROUND, COLUMNS, PLANS, ROWS, Tile
from rlaif.mock_llm.expert.situation import Situation

Macro = dict[str, Any]
"""One macro of `rlaif.contracts.planning.plans` as plain values."""

YES, NO = 0, 1
EMBER_CAVE = "5/199"

_OFFERS: Mapping[str, tuple[str, int]] = MappingProxyType(
    {
        "wooden shield": (SHIELD, SHIELD_PRICE),
        "ten bombs": (BOMBS, BOMBS_PRICE),
        "ten ember seeds": ("ember_seeds", 10),
    }
)
"""First words of a question, in lower case → (item for sale, price)."""
_PRIZES: Mapping[str, Tile] = MappingProxyType(
    {EMBER_CAVE: (2, 4), TORCH_HALL: (3, 4), BUTTONS: (1, 4)}
)
"""Room → where its chest or key appears."""
_DIRECTIONS = MappingProxyType({"UP": (-1, 0), "DOWN": (1, 0), "LEFT": (0, -1), "RIGHT": (0, 1)})

_BLOCK, _BUTTON_FOR_BLOCK, _BUTTON_FOR_PLAYER = (3, 3), (3, 4), (5, 4)
_LEVER: Tile = (1, 6)
_WEST_RIM, _EAST_RIM = 3, 8
"""Columns of Hop Hall beside the holes that divide it."""
_OPENED_BY_ACTION = "botcdmK"
"""Signs of the map that a blade, a lift or a tool opens."""
_EXIT_ROW = 7
_MAX_TORCHES = 4


def plan(situation: Situation) -> dict[str, Any]:
    """A plan: reason, macros, confidence."""
    if situation.text is not None:
        number, reason = _choice(situation)
        return _plan(reason, [{"kind": "ANSWER", "choice": number}], 0.9)
    macros, reason = _solution(situation)
    if macros:
        return _plan(reason, macros, 0.9)
    room = situation.room and situation.tile and next_room(situation.moment, situation.tile)
    if not room:
        return _plan(f"{reason}; nothing to do", [{"kind": "ANSWER", "choice": NO}], 0.0)
    return _plan(f"{reason}; continue to {room}", [{"kind": "MOVE_TO", "room": room}], 0.3)


def suggestion(situation: Situation) -> dict[str, Any]:
    """One button towards the next objective; START for a tool that is not equipped."""
    button, reason = _button(situation)
    return {"reason": reason, "button": button}


def _plan(reason: str, macros: list[Macro], confidence: float) -> dict[str, Any]:
    return {"reason": reason, "macros": macros, "confidence": confidence}


# Open texts


def _offer(text: str) -> tuple[str, int] | None:
    """(item, price) of a question whether to buy something."""
    words = " ".join(text.split()).casefold()
    if "?" not in words or "coins" not in words:
        return None
    return next((offer for begin, offer in _OFFERS.items() if words.startswith(begin)), None)


def _choice(situation: Situation) -> tuple[int, str]:
    """(number of the answer, reason): yes to what the quest needs and the player can pay.

    A text without a question takes any number: its last page is closed.
    """
    offer = _offer(situation.text or "")
    if offer is None:
        return NO, "read it to its end"
    item, price = offer
    if item not in (SHIELD, BOMBS):
        return NO, f"the quest needs no {item}"
    if situation.owns(item):
        return NO, f"the {item} is there already"
    if (situation.moment.rupees or 0) < price:
        return NO, f"{price} coins are not there"
    return YES, f"the quest needs the {item}, and {price} coins are there"


# Puzzles: which torches burn and whether the block was pushed is in the briefing; where they are is
# on the expert's map.


def _solution(situation: Situation) -> tuple[list[Macro], str]:
    """(macros, reason); no macros if nothing is to be done."""
    room, tile = situation.room, situation.tile
    if room is None or tile is None:
        return [], "the place is unknown"
    if room in (EMBER_CAVE, TORCH_HALL):
        return _torches(situation, room, tile)
    if room == BUTTONS:
        return _buttons(situation)
    if room == HOP_HALL:
        return _lever(situation, tile)
    return [], "no puzzle that the guide knows"


def _torches(situation: Situation, room: str, tile: Tile) -> tuple[list[Macro], str]:
    unlit = situation.to_do.get("torch", ())
    if unlit and not situation.owns(SATCHEL):
        return [], "torches want ember seeds, which are not there yet"
    macros = [_at("USE_ITEM", torch, item=SATCHEL) for torch in _round_trip(room, tile, unlit)]
    return [*macros, _at("TAKE", _PRIZES[room])], "light every torch, then take what appears"


def _buttons(situation: Situation) -> tuple[list[Macro], str]:
    """The block holds one button and the player the other; else the player steps on each.

    The lower button stays down.
    """
    blocks, buttons = situation.to_do.get("block", ()), situation.to_do.get("button", ())
    macros = []
    if _BLOCK in blocks:
        macros.append(_at("PUSH_BLOCK", _BLOCK, direction="RIGHT"))
    if _BUTTON_FOR_PLAYER in buttons:
        macros.append(_at("MOVE_TO", _BUTTON_FOR_PLAYER))
    if _BLOCK not in blocks and _BUTTON_FOR_BLOCK in buttons:
        macros.append(_at("MOVE_TO", _BUTTON_FOR_BLOCK))
    return [*macros, _at("TAKE", _PRIZES[BUTTONS])], "a block for one button, a foot for the other"


def _lever(situation: Situation, tile: Tile) -> tuple[list[Macro], str]:
    """Over the holes to the middle, then hit the lever."""
    if not situation.owns(BLADE):
        return [], "the lever wants a blade"
    macros: list[Macro] = []
    if not _WEST_RIM + 1 < tile[1] < _EAST_RIM - 1 and situation.owns(FEATHER):
        west = tile[1] <= _WEST_RIM + 1
        row = min(max(tile[0], 2), 5)
        macros.append(_at("MOVE_TO", (row, _WEST_RIM if west else _EAST_RIM)))
        direction = "RIGHT" if west else "LEFT"
        macros.append({"kind": "USE_ITEM", "item": FEATHER, "direction": direction})
    return [*macros, _at("CUT", _LEVER)], "over the holes, then hit the lever"


def _at(kind: str, tile: Tile, **more: Any) -> Macro:
    return {"kind": kind, "column": tile[1], "row": tile[0], **more}


def _round_trip(room: str, start: Tile, goals: Iterable[Tile]) -> list[Tile]:
    """The goals, at most four, in the order of the shortest walk past all of them."""
    known = list(goals)[:_MAX_TORCHES]
    steps = {goal: _steps(room, goal) for goal in (*known, start)}

    def walk(order: Iterable[Tile]) -> int:
        stops = list(order)
        legs = zip((start, *stops), stops, strict=False)
        return sum(steps[there].get(here, ROWS * COLUMNS) for here, there in legs)

    return list(min(itertools.permutations(known), key=walk, default=()))


def _steps(room: str, goal: Tile) -> dict[Tile, int]:
    """Tile → steps to a neighbour of the goal, over open ground."""
    found, queue = {goal: 0}, deque([goal])
    while queue:
        row, column = here = queue.popleft()
        for dy, dx in AROUND:
            there = row + dy, column + dx
            inside = 0 <= there[0] < ROWS and 0 <= there[1] < COLUMNS
            if inside and there not in found:
                found[there] = found[here] + 1
                if PLANS[room][there[0]][there[1]] == ".":
                    queue.append(there)
    return found


# Single buttons


def _button(situation: Situation) -> tuple[str, str]:
    """(button, reason)."""
    if situation.text is not None:
        if _offer(situation.text) is None:
            return "A", "read on"
        number, reason = _choice(situation)
        return ("A" if number == YES else "B"), reason  # B declines
    objective, tile = next_objective(situation.moment), situation.tile
    if objective is None or situation.room is None or tile is None:
        return "NOP", "where to go is unknown"
    title = OBJECTIVES[objective].title
    if (situation.room, tile) in OBJECTIVES[objective].spots:
        return "A", f"here is {title}"
    move = next_move(situation.moment, tile)
    if move is None:
        return "NOP", f"no way to {title} is known"
    return _towards(*move, situation), f"towards {title}"


def _towards(here: Node, there: Node, situation: Situation) -> str:
    (spot, season), (goal, later) = here, there
    if season != later:
        return situation.buttons.get(ROD, "START")
    for name, (dy, dx) in _DIRECTIONS.items():
        ahead = beside(spot, dy, dx)
        if ahead == goal:
            return "A" if sign_at(goal) in _OPENED_BY_ACTION else name
        if ahead is not None and beside(ahead, dy, dx) == goal:
            return situation.buttons.get(FEATHER, "START")
    return "DOWN" if spot[1][0] == _EXIT_ROW else "UP"  # through a door
