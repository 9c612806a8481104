"""What changed from one JSON value to the next, so that a page is told no more than that.

A change of a value is one of

    {"v": value}                        it is this now
    {"o": {name: change}, "d": [name]}  of an object: members that are new or changed; those gone
    {"l": [piece, …]}                   of a list, which now consists of
        [from, count]                       elements of the list before,
        {"i": from, "c": change}            one of them, changed,
        {"v": [value, …]}                   new ones

`static/js/deltas.js` applies it in the page. True and 1 are one value here: no field changes its
type.
"""

from collections.abc import Hashable
from typing import Any

from pydantic_core import to_json

Json = Any
Change = dict[str, Any]

NAMES = ("segment_id", "candidate_id", "event_id", "version", "key", "name", "judge", "id")
"""The first of them that a row has tells it from the others. It saves bytes and no more: a change
is right whatever rows are taken for the same."""


class ChangeError(ValueError):
    """The change is not one of this value."""


def difference(old: Json, new: Json) -> Change | None:
    """The change that makes `new` of `old`; None when they are equal."""
    if isinstance(old, dict) and isinstance(new, dict):
        return _of_object(old, new)
    if old == new:
        return None
    if isinstance(old, list) and isinstance(new, list):
        return _of_list(old, new)
    return {"v": new}


def applied(value: Json, change: Change) -> Json:
    """The value after the change."""
    if "v" in change:
        return change["v"]
    if "l" in change:
        if not isinstance(value, list):
            raise ChangeError("a change of a list is given for something else")
        return [element for piece in change["l"] for element in _elements(value, piece)]
    if not isinstance(value, dict):
        raise ChangeError("a change of an object is given for something else")
    kept = {name: each for name, each in value.items() if name not in change.get("d", ())}
    return kept | {name: applied(kept.get(name), each) for name, each in change["o"].items()}


def _of_object(old: dict[str, Json], new: dict[str, Json]) -> Change | None:
    gone = [name for name in old if name not in new]
    order = [name for name in old if name in new] + [name for name in new if name not in old]
    if order != list(new):
        return {"v": new}
    changes: dict[str, Change] = {}
    for name, value in new.items():
        if name not in old:
            changes[name] = {"v": value}
        elif (change := difference(old[name], value)) is not None:
            changes[name] = change
    if not changes and not gone:
        return None
    return {"o": changes, "d": gone} if gone else {"o": changes}


def _of_list(old: list[Json], new: list[Json]) -> Change:
    where: dict[Hashable, int] = {}
    for index, element in enumerate(old):
        where.setdefault(_identity(element), index)
    pieces: list[Any] = []
    for element in new:
        if _goes_on(pieces, old, element):
            pieces[-1][1] += 1
            continue
        at = where.get(_identity(element))
        change = difference(old[at], element) if at is not None else None
        if at is None:
            _add_new(pieces, element)
        elif change is None:
            pieces.append([at, 1])
        else:
            pieces.append({"i": at, "c": change})
    # Of short values the words of the change can be longer than they are.
    if len(to_json(pieces)) >= len(to_json(new)):
        return {"v": new}
    return {"l": pieces}


def _goes_on(pieces: list[Any], old: list[Json], element: Json) -> bool:
    """Whether the last piece is a run of old elements, and this one follows it there."""
    if not pieces or not isinstance(pieces[-1], list):
        return False
    following = sum(pieces[-1])
    return following < len(old) and bool(old[following] == element)


def _add_new(pieces: list[Any], element: Json) -> None:
    if pieces and isinstance(pieces[-1], dict) and "v" in pieces[-1]:
        pieces[-1]["v"].append(element)
    else:
        pieces.append({"v": [element]})


def _identity(element: Json) -> Hashable:
    if isinstance(element, dict):
        for name in NAMES:
            if isinstance(value := element.get(name), str | int):
                return (name, value)
    return to_json(element)


def _elements(value: list[Json], piece: Any) -> list[Json]:
    if isinstance(piece, list):
        first, count = piece
        if first + count > len(value):
            raise ChangeError(f"the list has {len(value)} elements, not {first + count}")
        return value[first : first + count]
    if "i" in piece:
        if piece["i"] >= len(value):
            raise ChangeError(f"the list has {len(value)} elements, not {piece['i'] + 1}")
        return [applied(value[piece["i"]], piece["c"])]
    new: list[Json] = piece["v"]
    return new
