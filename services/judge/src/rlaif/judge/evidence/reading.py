"""Tolerant reading of a state description: a field that is missing or odd is None, never 0."""

import math
import string
from collections.abc import Container, Mapping
from typing import Any

from rlaif.contracts.items import DUNGEON_ITEMS, NAMED_ITEMS, SEASON_POWERS
from rlaif.contracts.places import NAMED_GAMES, NAMED_PLACES, ORACLE_OF_SEASONS

OTHER = "other"
"""Stands for every word that is not in the vocabulary."""

VOCABULARY = frozenset(
    {
        *("UP", "DOWN", "LEFT", "RIGHT", "A", "B", "START", "NOP"),
        *("overworld", "Subrosia", "Maku tree", "indoors", "underground", "side view"),
        *("spring", "summer", "autumn", "winter"),
        *NAMED_ITEMS,
        *DUNGEON_ITEMS,
        *SEASON_POWERS.values(),
    }
)
"""Words of a description that a judge may read: inputs, areas, seasons and items.

Games and places have sets of their own.
"""

MOST_SAID = 160
"""Characters of a text of the game that a judge reads."""

_LETTERS = frozenset(string.ascii_letters + string.digits + " .,:;!?'\"()-+/&%")
"""Of a text of the game: those that a text box shows. None of them marks up a prompt."""


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


def label(value: Any, vocabulary: Container[str] = VOCABULARY) -> str | None:
    """A word of a vocabulary, or `other`; None when there is no word.

    Words come out of a game's memory, thus from whoever made the cartridge. None of them reaches
    a prompt as it is: what is not in the vocabulary is `other`, so nothing can be written into it.
    The one exception is `said`.
    """
    if isinstance(value, bool) or not isinstance(value, str) or not value.strip():
        return None
    return value if value in vocabulary else OTHER


def game(state: Mapping[str, Any]) -> str | None:
    """The name of the game, `other` for one that is not known."""
    return label(state.get("game"), NAMED_GAMES)


def place(state: Mapping[str, Any]) -> str | None:
    """What the game calls the room; None for one without a name."""
    return label(lookup(state, "room", "name"), NAMED_PLACES)


def labels(state: Mapping[str, Any], *path: str) -> list[str] | None:
    """The words of a list at `path`; of `{"name": ...}` entries the names."""
    value = lookup(state, *path)
    if isinstance(value, Mapping):
        value = [name for name, held in value.items() if held]
    if not isinstance(value, list | tuple):
        return None
    names = (label(entry.get("name") if isinstance(entry, Mapping) else entry) for entry in value)
    return [name for name in names if name is not None]


def items(state: Mapping[str, Any]) -> list[str] | None:
    """What is owned, in Oracle of Seasons with the powers of the rod; not what a dungeon has."""
    owned = labels(state, "items")
    if owned is None or game(state) != ORACLE_OF_SEASONS:
        return owned
    seasons = labels(state, "seasons_owned") or []
    return [*owned, *(SEASON_POWERS[season] for season in seasons if season in SEASON_POWERS)]


def room(state: Mapping[str, Any]) -> str | None:
    """The room as `group/room`, or None when either is unknown."""
    group, index = number(state, "room", "group"), number(state, "room", "room")
    return None if group is None or index is None else f"{int(group)}/{int(index)}"


def position(state: Mapping[str, Any]) -> tuple[int, int] | None:
    """The player's place in the room, in pixels from its top left corner."""
    x, y = number(state, "player", "x"), number(state, "player", "y")
    return None if x is None or y is None else (int(x), int(y))


def said(state: Mapping[str, Any]) -> str | None:
    """What the text box says; None without one, or where it cannot be read.

    Only of a game that is known, whose texts are no stranger's. Even so it is data: one line of the
    letters that a text box shows, cut short.
    """
    text = lookup(state, "text")
    known = game(state) in NAMED_GAMES
    if not known or not isinstance(text, str) or flag(state, "flags", "dialog") is not True:
        return None
    shown = "".join(letter if letter in _LETTERS else " " for letter in text[: 4 * MOST_SAID])
    line = " ".join(shown.split())
    return line[:MOST_SAID].rstrip() or None
