"""The planner that knows nothing: valid macros and buttons, drawn evenly."""

import random
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from rlaif.contracts.planning.plans import KINDS, MAX_CHOICES, MAX_MACROS, USABLE_ITEMS
from rlaif.mock_llm.expert.room_plans import COLUMNS, PLANS, ROWS

_DIRECTIONS = ("UP", "DOWN", "LEFT", "RIGHT")
_BUTTONS = (*_DIRECTIONS, "A", "B", "START", "NOP")
_HALF = 0.5
_REASON = "something must happen"

Draw = Callable[[random.Random], dict[str, Any]]


def plan(draw: random.Random) -> dict[str, Any]:
    """One to eight macros of any kind."""
    kinds = [draw.choice(KINDS) for _ in range(draw.randint(1, MAX_MACROS))]
    macros = [{"kind": kind, **_DRAWN[kind](draw)} for kind in kinds]
    return {"reason": _REASON, "macros": macros, "confidence": round(draw.random(), 2)}


def suggestion(draw: random.Random) -> dict[str, Any]:
    """Any button."""
    return {"reason": _REASON, "button": draw.choice(_BUTTONS)}


def _tile(draw: random.Random) -> dict[str, Any]:
    return {"column": draw.randrange(COLUMNS), "row": draw.randrange(ROWS)}


def _move(draw: random.Random) -> dict[str, Any]:
    if draw.random() < _HALF:
        return _tile(draw)
    return {"room": draw.choice(sorted(PLANS))}


def _use(draw: random.Random) -> dict[str, Any]:
    beside = _tile(draw) if draw.random() < _HALF else {}
    return {"item": draw.choice(USABLE_ITEMS), "direction": draw.choice(_DIRECTIONS), **beside}


def _push(draw: random.Random) -> dict[str, Any]:
    return {**_tile(draw), "direction": draw.choice(_DIRECTIONS)}


def _answer(draw: random.Random) -> dict[str, Any]:
    return {"choice": draw.randrange(MAX_CHOICES)}


_DRAWN: Mapping[str, Draw] = MappingProxyType(
    {
        "MOVE_TO": _move,
        "PUSH_BLOCK": _push,
        "USE_ITEM": _use,
        "TALK": _tile,
        "CUT": _tile,
        "TAKE": _tile,
        "ANSWER": _answer,
    }
)
