"""Look for slips in data/rooms.c that the C compiler cannot see.

A map row one tile short, a coin inside a tree or an edge that opens onto a
wall compiles well and plays badly. Called by build.py.
"""

from __future__ import annotations

import re
from pathlib import Path

# Objects that must lie on a free tile, and those bound to one kind of tile.
ON_FREE = {"O_NPC", "O_ENEMY", "O_PICKUP", "O_ESSENCE"}
ON_TILE = {"O_SIGN": "S", "O_CHEST": "$", "O_WARP": "DKMxE"}


class RoomError(Exception):
    """A slip in the room tables; the message names room and place."""


def _solid_chars(tiles: Path) -> set[str]:
    solid = set()
    for line in tiles.read_text(encoding="ascii").splitlines():
        if line.startswith("tile "):
            words = dict(w.split("=", 1) for w in line.split(" ")[2:] if "=" in w)
            if int(words.get("col", "0"), 16):
                solid.add(line.split("char=", 1)[1][0])
    return solid


def check(rooms: Path, tiles: Path) -> None:
    source = rooms.read_text(encoding="ascii")
    solid = _solid_chars(tiles)
    known = {
        line.split("char=", 1)[1][0]
        for line in tiles.read_text().splitlines()
        if line.startswith("tile ")
    }

    objects = {}
    for name, body in re.findall(r"room_object_t (\w+)\[\] = \{(.*?)\};", source, re.S):
        objects[name] = re.findall(r"\{(O_\w+), (0x[0-9A-Fa-f]{2})", body)

    maps = {}
    for group, room, title, body, listed in re.findall(
        r'\{(\d), (0x[0-9A-Fa-f]+), "([^"]*)",((?:\s*"[^"]*")+), (\w+)\}', source
    ):
        rows = re.findall(r'"([^"]*)"', body)
        place = f"room {group}:{room[2:]} {title!r}"
        if len(rows) != 8 or any(len(row) != 10 for row in rows):
            raise RoomError(f"{place}: a map is 8 rows of 10 tiles")
        for char in sorted(set("".join(rows)) - known):
            raise RoomError(f"{place}: no tile is written {char!r}")
        if len(title) > 12:
            raise RoomError(f"{place}: the name is longer than 12 letters")
        for kind, pos in objects[listed]:
            tile = rows[int(pos[2], 16)][int(pos[3], 16)]
            in_wall = kind in ON_FREE and tile in solid
            if in_wall or (kind in ON_TILE and tile not in ON_TILE[kind]):
                raise RoomError(f"{place}: {kind} at {pos} stands on {tile!r}")
        maps[int(group), int(room, 16)] = (place, rows)

    for (group, room), (place, rows) in maps.items():
        down, right = (8, 1) if group >= 4 else (0x10, 1)
        for step, here, there in (
            (down, lambda r, i: r[7][i], lambda r, i: r[0][i]),
            (right, lambda r, i: r[i][9], lambda r, i: r[i][0]),
        ):
            if (group, room + step) not in maps:
                continue
            other, other_rows = maps[group, room + step]
            for i in range(10 if step == down else 8):
                a, b = here(rows, i), there(other_rows, i)
                if (a in solid) != (b in solid) and "k" not in (a, b):
                    raise RoomError(
                        f"{place} and {other}: the edges differ at tile {i} ({a!r}, {b!r})"
                    )
