"""Lasting marks for people: the name that a search gives a mark in, words out.

    treasure:5     sword                    room:5:c7:20   item of room 5/C7
    map:1          map 1                    room:4:11:1    door up of room 4/11

The names are those of the game's memory (`rlaif.trainer.search.marks`): numbers are hexadecimal, a
room is the first map group of its page, its number, and one bit of its flags. A mark that is not
known stays as it is.
"""

from collections.abc import Iterable

from rlaif.contracts.items import NAMED_ITEMS, SEASON_POWERS

_ITEMS = {number: name.replace("_", " ") for name, number in NAMED_ITEMS.items()} | {
    0x28: "first rupees",
    0x29: "first heart",
    0x2A: "heart container",
    0x30: "small key",
    0x31: "boss key",
    0x32: "compass",
    0x33: "map",
    0x37: "ore chunks",
    0x40: "essence",
}
"""Treasure → its name, also of those that a description counts elsewhere."""

_SEASONS = tuple(name.replace("_", " ") for name in SEASON_POWERS.values())
_NUMBERED = frozenset({"boss_key", "compass", "map", "golden", "jewel"})
_LEVELS = frozenset({"sword", "shield", "satchel", "boomerang", "slingshot", "feather", "ring_box"})
_ITEM, _EVENT = 0x20, 0x80
_DOORS = {0x01: "up", 0x02: "right", 0x04: "down", 0x08: "left"}
_UNDERGROUND = frozenset({"4", "5"})


_FIRST = ("essence", "treasure", *sorted(_LEVELS), "season", "boss_key", "jewel")
"""Kinds that say most to people, in this order; the others follow."""


def marks_in_words(marks: Iterable[str]) -> list[str]:
    """What marks say, those first that say most."""
    return [mark_in_words(mark) for mark in sorted(marks, key=_rank)]


def mark_in_words(mark: str) -> str:
    """What a mark says, such as `door up of room 4/11`."""
    kind, *rest = mark.split(":")
    try:
        if kind == "room":
            group, room, flag = rest
            return f"{_flag(group, int(flag, 16))} room {group}/{int(room, 16):02X}"
        (number,) = rest
        return _numbered(kind, int(number, 16)) or mark
    except (ValueError, IndexError):
        return mark


def _rank(mark: str) -> tuple[int, str]:
    kind = mark.split(":")[0]
    return (_FIRST.index(kind) if kind in _FIRST else len(_FIRST)), mark


def _numbered(kind: str, number: int) -> str | None:
    if kind == "treasure":
        return _ITEMS.get(number, f"treasure 0x{number:02X}")
    if kind == "season":
        return _SEASONS[number]
    if kind == "essence":
        return f"essence {number + 1}"
    if kind in _LEVELS:
        return f"{kind.replace('_', ' ')} level {number}"
    return f"{kind.replace('_', ' ')} {number}" if kind in _NUMBERED else None


def _flag(group: str, flag: int) -> str:
    if flag == _ITEM:
        return "item of"
    if flag == _EVENT:
        return "event in"
    if group in _UNDERGROUND and flag in _DOORS:
        return f"door {_DOORS[flag]} of"
    return f"change 0x{flag:02X} in"
