"""Tolerant reading of a state description: a field that is missing or odd is None, never 0."""

import math
from collections.abc import Mapping
from typing import Any

from rlaif.contracts.items import NAMED_ITEMS

OTHER = "other"
"""Stands for every word that is not in the vocabulary."""

VOCABULARY = frozenset(
    {
        *("UP", "DOWN", "LEFT", "RIGHT", "A", "B", "START", "NOP"),
        *("overworld", "Subrosia", "Maku tree", "indoors", "underground", "side view"),
        *("spring", "summer", "autumn", "winter"),
        *NAMED_ITEMS,
    }
)
"""Words of a description that a judge may read: inputs, areas, seasons and items."""


def lookup(state: Mapping[str, Any], *path: str) -> Any:
    """The value at `path`, or None when a part of the way is missing."""
    value: Any = state
    for name in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


def number(state: Mapping[str, Any], *path: str) -> int | float | None:
    """A finite number at `path`; booleans are not numbers here."""
    value = lookup(state, *path)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value


def flag(state: Mapping[str, Any], *path: str) -> bool | None:
    """A boolean at `path`; the numbers 0 and 1 count too."""
    value = lookup(state, *path)
    return bool(value) if value in (0, 1) and isinstance(value, int) else None


def count(state: Mapping[str, Any], *path: str) -> int | None:
    """A whole number at `path`, or the length of a list there."""
    value = lookup(state, *path)
    if isinstance(value, list | tuple):
        return len(value)
    found = number(state, *path)
    return None if found is None else int(found)


def label(value: Any) -> str | None:
    """A word of the vocabulary, or `other`; None when there is no word.

    Words come out of a game's memory, thus from whoever made the cartridge. None of its text
    reaches a prompt: what is not in the vocabulary is `other`, so nothing can be written into it.
    """
    if isinstance(value, bool) or not isinstance(value, str) or not value.strip():
        return None
    return value if value in VOCABULARY else OTHER


def labels(state: Mapping[str, Any], *path: str) -> list[str] | None:
    """The words of a list at `path`; of `{"name": ...}` entries the names."""
    value = lookup(state, *path)
    if isinstance(value, Mapping):
        value = [name for name, held in value.items() if held]
    if not isinstance(value, list | tuple):
        return None
    names = (label(entry.get("name") if isinstance(entry, Mapping) else entry) for entry in value)
    return [name for name in names if name is not None]


def room(state: Mapping[str, Any]) -> str | None:
    """The room as `group/room`, or None when either is unknown."""
    group, index = number(state, "room", "group"), number(state, "room", "room")
    return None if group is None or index is None else f"{int(group)}/{int(index)}"


def position(state: Mapping[str, Any]) -> tuple[int, int] | None:
    """The player's place in the room, in pixels from its top left corner."""
    x, y = number(state, "player", "x"), number(state, "player", "y")
    return None if x is None or y is None else (int(x), int(y))
