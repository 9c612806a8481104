"""Look for slips in data/rooms.c and data/texts.c that the C compiler cannot see.

A map row one tile short, a coin inside a tree, an edge that opens onto a wall,
a way that lets the player off only to one side or a line of text that runs out
of its box compiles well and plays badly. Called by build.py.
"""

from __future__ import annotations

import re
from pathlib import Path

# Objects that must lie on a tile that is free, and those bound to kinds of tile.
ON_FREE = {"O_NPC", "O_ENEMY", "O_PICKUP", "O_ESSENCE", "O_TREASURE", "O_SCENE", "O_BOSS"}
ON_TILE = {
    "O_CHEST": {"CHEST", "CAVE_FLOOR", "EARTH"},
    "O_WARP": {"DOOR", "KEYHOLE", "CRACKED_CLIFF", "CAVE_MOUTH", "MAT", "CAVE_EXIT"},
    "O_SHOP": {"COUNTER"},
    "O_BUTTON": {"BUTTON"},
    "O_LEVER": {"ORB_OFF"},
    "O_DIG": {"SOIL"},
}
ALWAYS_SOLID = {"O_SIGN"}
LINE, LINES = 17, 3  # letters a line, lines a page
NAME = 12
OVERWORLD, DUNGEON = 0, 4  # groups whose rooms are joined
DOORS = {"KEYDOOR", "BOSSDOOR", "SHUTTER", "CRACKED_WALL"}  # solid now, open later


class RoomError(Exception):
    """A slip in the tables; the message names the place."""


def _tiles(path: Path) -> dict[str, tuple[str, int]]:
    """{map character: (name, collision byte)}."""
    found = {}
    for line in path.read_text(encoding="ascii").splitlines():
        if line.startswith("tile ") and " char=" in line:
            words = dict(w.split("=", 1) for w in line.split(" ")[2:] if "=" in w)
            found[line.split("char=", 1)[1][0]] = line.split(" ")[1], int(words.get("col", "0"), 16)
    return found


def _objects(source: str) -> dict[str, list[tuple[str, int]]]:
    """{list name: [(kind, position)]}."""
    return {
        name: [(k, int(p, 0)) for k, p in re.findall(r"\{(O_\w+), (0x[0-9A-Fa-f]{2})", body)]
        for name, body in re.findall(r"room_object_t (\w+)\[\] = \{(.*?)\};", source, re.S)
    }


def _check_object(place: str, kind: str, pos: int, tile: str, collision: int) -> None:
    in_wall = kind in ON_FREE and collision
    on_air = kind in ALWAYS_SOLID and not collision
    if in_wall or on_air or (kind in ON_TILE and tile not in ON_TILE[kind]):
        raise RoomError(f"{place}: {kind} at 0x{pos:02X} stands on {tile}")


def check(rooms: Path, tiles: Path) -> None:
    """Check every room.

    Raises:
        RoomError: The first slip.
    """
    source = rooms.read_text(encoding="ascii")
    known = _tiles(tiles)
    objects = _objects(source)
    maps = {}
    for group, room, title, body, listed in re.findall(
        r'\{(\d), (0x[0-9A-Fa-f]+), "([^"]*)",((?:\s*"[^"]*")+), (\w+)\}', source
    ):
        rows = re.findall(r'"([^"]*)"', body)
        place = f"room {group}:{room[2:]} {title!r}"
        if len(rows) != 8 or any(len(row) != 10 for row in rows):
            raise RoomError(f"{place}: a map is 8 rows of 10 tiles")
        for char in sorted(set("".join(rows)) - set(known)):
            raise RoomError(f"{place}: no tile is written {char!r}")
        if len(title) > NAME:
            raise RoomError(f"{place}: the name is longer than {NAME} letters")
        for kind, pos in objects[listed]:
            _check_object(place, kind, pos, *known[rows[pos >> 4][pos & 15]])
        maps[int(group), int(room, 16)] = (place, rows)
    for group, room in maps:
        _check_edges(maps, known, group, room)


def _check_edges(maps, known, group: int, room: int) -> None:
    place, rows = maps[group, room]
    for step, size, here, there in (
        (8 if group == DUNGEON else 0x10, 10, lambda r, i: r[7][i], lambda r, i: r[0][i]),
        (1, 8, lambda r, i: r[i][9], lambda r, i: r[i][0]),
    ):
        if group not in (OVERWORLD, DUNGEON) or (group, room + step) not in maps:
            continue
        other, other_rows = maps[group, room + step]
        for i in range(size):
            sides = known[here(rows, i)], known[there(other_rows, i)]
            solid = [bool(collision) and collision != 0x10 for _, collision in sides]
            if solid[0] != solid[1] and not DOORS & {name for name, _ in sides}:
                raise RoomError(
                    f"{place} and {other}: the edges differ at tile {i} "
                    f"({sides[0][0]}, {sides[1][0]})"
                )


def check_texts(texts: Path) -> None:
    """Check that every line of dialog fits its box.

    Raises:
        RoomError: The first that does not.
    """
    source = texts.read_text(encoding="ascii")
    for name, body in re.findall(r'/\* (\w+) \*/\s*((?:\s*"[^"]*")+)', source):
        for page in "".join(re.findall(r'"([^"]*)"', body)).split("\\f"):
            lines = page.split("\\n")
            if len(lines) > LINES or max(map(len, lines)) > LINE:
                raise RoomError(
                    f"text {name}: a page is {LINES} lines of {LINE} letters, not {lines}"
                )
