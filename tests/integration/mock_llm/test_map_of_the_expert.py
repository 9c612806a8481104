"""The expert's own map against the real cartridge: its walls, its doors, and the ways between."""

import re
from pathlib import Path
from typing import Any

import pytest

from rlaif.mock_llm.expert.distances import beside
from rlaif.mock_llm.expert.rooms import NAMES, PASSAGES, PLANS

SOURCE = Path(__file__).parents[3] / "libs/game/cartridge/data/rooms.c"

FREE, WALL, HAZARD = 0x00, 0x0F, 0x10
"""Collision bytes of the cartridge."""

HIDDEN_CHESTS = {("5/161", (2, 4)), ("5/199", (2, 4)), ("4/27", (1, 4)), ("4/20", (1, 5))}
"""Closed on the map, and ground until the room is solved."""

BYTES = {
    **{sign: {FREE} for sign in ".>"},
    **{sign: {WALL} for sign in "#ubotcK1234md"},
    **{sign: {HAZARD} for sign in "h~"},
    **{sign: {FREE, WALL} for sign in "nx"},
}
"""Sign of the map → collision bytes that it may stand for, whatever the season."""

IN_SEASON = {
    "w": ("winter", FREE, HAZARD),
    "p": ("autumn", FREE, HAZARD),
    "v": ("summer", FREE, WALL),
    "y": ("spring", FREE, WALL),
}
"""Sign → season, collision byte in it, and in the others."""


NOT_WALKED: set[tuple[str, str]] = {
    ("0/105", "0/104"), ("0/89", "0/105"), ("4/28", "0/89"), ("4/20", "4/28"), ("4/12", "4/20"),
    ("4/4", "4/12"),
}  # fmt: skip
"""Ways on the map on which the story never goes."""


def _source() -> str:
    return SOURCE.read_text(encoding="utf-8")


def _rooms_of_the_source() -> dict[str, str]:
    found = re.findall(r'\{(\d), 0x([0-9A-F]{2}), "([^"]+)",', _source())
    return {f"{group}/{int(room, 16)}": name for group, room, name in found}


def _tile(position: str) -> tuple[int, int]:
    """(row, column) of a byte 0xYX."""
    return divmod(int(position, 16), 16)


def _doors_of_the_source() -> dict[Any, Any]:
    source = _source()
    objects = dict(re.findall(r"room_object_t (\w+)\[\] = \{(.*?)\{O_END\}", source, re.DOTALL))
    rooms = re.findall(r'\{(\d), 0x([0-9A-F]{2}), "[^"]+",\s*(?:"[^"]+"\s*)+, (\w+)\}', source)
    warp = r"O_WARP, 0x(\w\w), (\d), 0x(\w\w), 0x(\w\w)"
    return {
        (f"{group}/{int(room, 16)}", _tile(at)): (f"{to}/{int(number, 16)}", _tile(there))
        for group, room, name in rooms
        for at, to, number, there in re.findall(warp, objects[name])
    }


def test_it_has_every_room_of_the_cartridge_by_its_name() -> None:
    assert dict(NAMES) == _rooms_of_the_source()
    assert set(PLANS) == set(NAMES)


def test_its_doors_lead_where_those_of_the_cartridge_lead() -> None:
    assert dict(PASSAGES) == _doors_of_the_source()


def test_every_tile_is_as_open_as_the_game_has_it_when_the_room_is_first_seen(
    walkthrough: list[Any],
) -> None:
    first: dict[str, Any] = {}
    for look in walkthrough:
        if look.control and not look.scrolling:
            first.setdefault(look.moment.room, look)
    assert set(first) == set(PLANS)
    wrong = [
        (room, row, column, sign, int(look.collisions[row, column]))
        for room, look in first.items()
        for row, line in enumerate(PLANS[room])
        for column, sign in enumerate(line)
        if look.collisions[row, column] not in _bytes(sign, (room, (row, column)), look)
    ]
    assert wrong == []


def _bytes(sign: str, spot: tuple[str, tuple[int, int]], look: Any) -> set[int]:
    if spot in HIDDEN_CHESTS:
        return {FREE, WALL}
    if sign in BYTES:
        return BYTES[sign]
    season, then, else_ = IN_SEASON[sign]
    return {then if look.moment.season == season else else_}


def _ways() -> set[tuple[str, str]]:
    """Rooms that the map joins, by an edge or by a door."""
    joined = {(door[0], arrival[0]) for door, arrival in PASSAGES.items()}
    for room, rows in PLANS.items():
        for row, line in enumerate(rows):
            for column, sign in enumerate(line):
                for dy, dx in ((-1, 0), (1, 0), (0, -1), (0, 1)):
                    there = beside((room, (row, column)), dy, dx)
                    if sign != "#" and there is not None and there[0] != room:
                        joined.add((room, there[0]))
    return joined


def test_every_crossing_that_is_walked_is_on_the_map(walkthrough: list[Any]) -> None:
    crossed: set[tuple[str, str]] = set()
    room = None
    for look in walkthrough:
        if look.game_over:
            room = None  # death takes the player elsewhere
        elif look.control and not look.scrolling:
            crossed |= {(room, look.moment.room)} if room not in (None, look.moment.room) else set()
            room = look.moment.room
    crossed.discard(("4/4", "0/119"))  # the end of the story takes the player home
    assert crossed <= _ways()
    assert _ways() - crossed == NOT_WALKED


@pytest.mark.parametrize("room", PLANS)
def test_nobody_walks_off_the_map(room: str) -> None:
    for row, line in enumerate(PLANS[room]):
        for column, sign in enumerate(line):
            on_edge = row in (0, 7) or column in (0, 9)
            if on_edge and sign == "." and (room, (row, column)) not in PASSAGES:
                ways = [beside((room, (row, column)), dy, dx) for dy, dx in _OUTWARD]
                assert any(way is not None and way[0] != room for way in ways)


_OUTWARD = ((-1, 0), (1, 0), (0, -1), (0, 1))
