"""How the puzzles of Seedling Vale are solved: what stands in the room in, deeds in order out.

A deed is one macro of `rlaif.contracts.planning.plans` as plain values, so that the expert can be
read beside the guide. Which torches burn and whether the block was pushed comes from the evidence;
where things stand is the expert's own map.
"""

import itertools
from collections import deque
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from rlaif.mock_llm.expert.objectives import (
    BLADE,
    BUTTONS,
    FEATHER,
    HOP_HALL,
    SATCHEL,
    TORCH_HALL,
)
from rlaif.mock_llm.expert.room_plans import COLUMNS, PLANS, ROWS, Tile
from rlaif.mock_llm.expert.situation import Situation

Deed = dict[str, Any]

EMBER_CAVE = "5/199"

_PRIZES: Mapping[str, Tile] = MappingProxyType(
    {EMBER_CAVE: (2, 4), TORCH_HALL: (3, 4), BUTTONS: (1, 4)}
)
"""Room → where its chest or key appears."""

_BLOCK, _UNDER_BLOCK, _UNDER_FOOT = (3, 3), (3, 4), (5, 4)
_LEVER: Tile = (1, 6)
_WEST_RIM, _EAST_RIM = 3, 8
"""Columns of Hop Hall beside the holes that part it."""
_AROUND = ((-1, 0), (1, 0), (0, -1), (0, 1))


def solution(situation: Situation) -> tuple[list[Deed], str]:
    """(deeds in order, why); no deeds where the expert knows nothing to do."""
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


def _torches(situation: Situation, room: str, tile: Tile) -> tuple[list[Deed], str]:
    unlit = situation.left("torch")
    if unlit and not situation.owns(SATCHEL):
        return [], "torches want ember seeds, which are not there yet"
    deeds = [_at("USE_ITEM", torch, item=SATCHEL) for torch in _round_trip(room, tile, unlit)]
    return [*deeds, _at("TAKE", _PRIZES[room])], "light every torch, then take what appears"


def _buttons(situation: Situation) -> tuple[list[Deed], str]:
    """A block for one button and a foot for the other; where the block is lost, a foot for each.

    The lower button stays down once it was stepped on.
    """
    blocks, buttons = situation.left("block"), situation.left("button")
    deeds = []
    if _BLOCK in blocks:
        deeds.append(_at("PUSH_BLOCK", _BLOCK, direction="RIGHT"))
    if _UNDER_FOOT in buttons:
        deeds.append(_at("MOVE_TO", _UNDER_FOOT))
    if _BLOCK not in blocks and _UNDER_BLOCK in buttons:
        deeds.append(_at("MOVE_TO", _UNDER_BLOCK))
    return [*deeds, _at("TAKE", _PRIZES[BUTTONS])], "a block for one button, a foot for the other"


def _lever(situation: Situation, tile: Tile) -> tuple[list[Deed], str]:
    """Over the holes into the middle, then strike the lever."""
    if not situation.owns(BLADE):
        return [], "the lever wants a blade"
    middle = _WEST_RIM + 1 < tile[1] < _EAST_RIM - 1
    deeds: list[Deed] = []
    if not middle and situation.owns(FEATHER):
        way, column = ("RIGHT", _WEST_RIM) if tile[1] <= _WEST_RIM + 1 else ("LEFT", _EAST_RIM)
        row = min(max(tile[0], 2), 5)
        deeds.append(_at("MOVE_TO", (row, column)))
        deeds.append({"kind": "USE_ITEM", "item": FEATHER, "direction": way})
    return [*deeds, _at("CUT", _LEVER)], "over the holes, then hit the lever"


def _at(kind: str, tile: Tile, **more: Any) -> Deed:
    return {"kind": kind, "column": tile[1], "row": tile[0], **more}


def _round_trip(room: str, start: Tile, goals: Iterable[Tile]) -> list[Tile]:
    """The goals in the order in which the walk past all of them is shortest; at most four."""
    known = list(goals)[:4]
    beside = {goal: _steps(room, goal) for goal in (*known, start)}

    def walk(order: Iterable[Tile]) -> int:
        stops = list(order)
        legs = zip((start, *stops), stops, strict=False)
        return sum(beside[there].get(here, ROWS * COLUMNS) for here, there in legs)

    return list(min(itertools.permutations(known), key=walk, default=()))


def _steps(room: str, goal: Tile) -> dict[Tile, int]:
    """Tile → steps from it to beside the goal, over open ground."""
    found, queue = {goal: 0}, deque([goal])
    while queue:
        row, column = here = queue.popleft()
        for dy, dx in _AROUND:
            there = row + dy, column + dx
            inside = 0 <= there[0] < ROWS and 0 <= there[1] < COLUMNS
            if inside and there not in found:
                found[there] = found[here] + 1
                if PLANS[room][there[0]][there[1]] == ".":
                    queue.append(there)
    return found
