"""The player's guide of a generated world, in the format of `rlaif.guides`, from its world.json."""

from collections.abc import Iterator
from typing import Any

from rlaif.game.worlds.tables import read_data

World = dict[str, Any]

_NAME_WIDTH = 13
_STUMPS = "Stumps, where swinging the rod turns the season (spring, summer, autumn, winter, again)"


def guide(world: World) -> str:
    """The guide's text."""
    names = {room["room"]: room["name"] for room in world["rooms"]}
    cave = next(it for room in world["rooms"] for it in room["doors"] if it["to"][0] == "4")["to"]
    return read_data("guide.txt").format(
        title=world["title"],
        objectives="\n".join(f"{it['number']}. {it['text']}" for it in world["objectives"]),
        land="\n".join(_map(world, 0, 16)),
        cave=names[cave],
        dungeon="\n".join(_map(world, 4, 8)),
        places="\n".join(f"- {line}" for line in _places(world, names)),
        said="\n".join(
            f"- {room['name']}: {text}"
            for room in world["rooms"] for it in room["objects"] if "text" in it
            for text in (it["text"], *it.get("later", []))
        ),
        start=names[world["start"]["room"]],
        distances="; ".join(_far(world, names)),
    )  # fmt: skip


def _map(world: World, group: int, width: int) -> Iterator[str]:
    """Names of the rooms of a group on their grid; passages without a lock are drawn."""
    locked = {(it["room"], it["to"]) for it in world["locks"]}
    cells = {
        divmod(int(room["room"].split("/")[1]), width): room
        for room in world["rooms"]
        if room["room"].startswith(f"{group}/")
    }
    columns = range(min(column for _, column in cells), max(column for _, column in cells) + 1)
    for row in range(min(row for row, _ in cells), max(row for row, _ in cells) + 1):
        line = below = " " * 4
        for column in columns:
            room = cells.get((row, column), {"name": "", "ways": {}})
            open_to = {
                side for side, to in room["ways"].items()
                if not {(room["room"], to), (to, room["room"])} & locked
            }  # fmt: skip
            line += room["name"].ljust(_NAME_WIDTH) + ("- " if "east" in open_to else "  ")
            below += ("     |" if "south" in open_to else "").ljust(_NAME_WIDTH + 2)
        yield line.rstrip()
        if below.strip():
            yield below.rstrip()


def _places(world: World, names: dict[str, str]) -> Iterator[str]:
    for it in world["locks"]:
        needs = [
            " ".join([*each["needs"], *([f"in {each['season']}"] if each["season"] else [])])
            for each in it["ways"]
        ]
        tool = f" ({', or '.join(needs)})" if any(needs) else ""
        ends = f"{names[it['room']]}, {it['side']}, to {names[it['to']]}"
        yield f"{ends}: {it['name']}{tool}."
    for room in world["rooms"]:
        for door in room["doors"]:
            if room["room"].startswith("0/"):
                sign = room["map"][door["tile"][0]][door["tile"][1]]
                yield f"{room['name']}: {world['signs'][sign]['name']} of {names[door['to']]}."
    stumps = [room["name"] for room in world["rooms"] if "u" in "".join(room["map"])]
    if stumps:
        yield f"{_STUMPS}: {', '.join(stumps)}."


def _far(world: World, names: dict[str, str]) -> Iterator[str]:
    rooms: dict[int, list[str]] = {}
    for room, distance in world["distances"].items():
        rooms.setdefault(distance, []).append(names[room])
    for distance, found in sorted(rooms.items()):
        if distance:
            yield f"{distance} {', '.join(found)}"
