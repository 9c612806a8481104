"""How far it is: the shortest walk over the map to an objective, with what the player owns.

Dijkstra's algorithm from the targets backwards, over the tiles of all rooms in each of the four
seasons: a swing of the rod at a stump leads from one season to the next. One step is 16 pixels.
"""

import heapq
import math
from collections.abc import Iterator, Mapping
from functools import lru_cache

from rlaif.mock_llm.expert.room_plans import COLUMNS, PASSAGES, PLANS, ROWS, Spot, Tile

TILE = 16
_JUMP = 2 * TILE
_SWING = 20
"""Pixels that the player would walk while the rod turns the season: 20 frames."""

SPRING, SUMMER, AUTUMN, WINTER = range(4)
SEASONS = ("spring", "summer", "autumn", "winter")

Node = tuple[Spot, int]
"""A tile and the season."""

Means = frozenset[str]
"""Items of the player, and the doors that are open to him: `north`, `vault`, `thorn`, `shutter`,
and `lever` when it has been hit."""

_NEEDS: Mapping[str, frozenset[str]] = {
    "b": frozenset({"sword"}),
    "o": frozenset({"bracelet"}),
    "t": frozenset({"seed_satchel"}),
    "c": frozenset({"bombs"}),
    "K": frozenset({"gnarled_key"}),
    "~": frozenset({"flippers"}),
    "m": frozenset({"bracelet"}),
    "d": frozenset({"shovel"}),
    "x": frozenset({"lever"}),
    "1": frozenset({"north"}),
    "2": frozenset({"vault"}),
    "3": frozenset({"thorn"}),
    "4": frozenset({"shutter"}),
    **dict.fromkeys(".>vypw", frozenset[str]()),
}
"""Sign of the map → what opens it; signs without a line are closed for good."""

_SEASON = {"v": SUMMER, "y": SPRING, "p": AUTUMN, "w": WINTER, "m": AUTUMN, "d": WINTER}

_AROUND = ((-1, 0), (1, 0), (0, -1), (0, 1))
_ABOVE = {"0": 16, "4": 8}
"""Map group → by how much the number of the room above is less."""


def sign_at(spot: Spot) -> str:
    """What the map shows there."""
    room, (row, column) = spot
    return PLANS[room][row][column]


def is_open(spot: Spot, season: int, means: Means) -> bool:
    """Whether the player can stand or swim there."""
    sign = sign_at(spot)
    if sign == "w" and "flippers" in means:
        return True
    needs = _NEEDS.get(sign)
    return needs is not None and needs <= means and _SEASON.get(sign, season) == season


def beside(spot: Spot, dy: int, dx: int) -> Spot | None:
    """The next tile in a direction, over the edge of the room, too; None at the end of the map."""
    room, (row, column) = spot
    row, column = row + dy, column + dx
    if 0 <= row < ROWS and 0 <= column < COLUMNS:
        return room, (row, column)
    group, number = room.split("/")
    if group not in _ABOVE:
        return None
    there = f"{group}/{int(number) + (dx or dy * _ABOVE[group])}"
    return (there, (row % ROWS, column % COLUMNS)) if there in PLANS else None


def moves(node: Node, means: Means) -> Iterator[tuple[Node, float]]:
    """(where one gets, pixels that it costs) from an open tile."""
    spot, season = node
    if spot in PASSAGES:
        yield (PASSAGES[spot], season), 0.0
    for dy, dx in _AROUND:
        there = beside(spot, dy, dx)
        if there is None:
            continue
        if is_open(there, season, means):
            yield (there, season), TILE
        elif sign_at(there) == "u" and "rod_of_seasons" in means:
            yield (spot, (season + 1) % 4), _SWING
        elif sign_at(there) in "hp" and "feather" in means:
            beyond = beside(there, dy, dx)
            if beyond is not None and beyond[0] == spot[0] and is_open(beyond, season, means):
                yield (beyond, season), _JUMP


_EVERY_TILE = tuple((row, column) for row in range(ROWS) for column in range(COLUMNS))
_NODES: tuple[Node, ...] = tuple(
    ((room, tile), season) for room in PLANS for tile in _EVERY_TILE for season in range(4)
)

NEEDED = frozenset({"rod_of_seasons", "feather", "shovel"}).union(*_NEEDS.values())
"""All that ever opens a way."""

Targets = tuple[tuple[Spot, float], ...]
"""Tiles that are looked for, and how far it still is from there, in pixels."""


@lru_cache(maxsize=64)
def distances(targets: Targets, means: Means) -> Mapping[Node, float]:
    """Pixels to walk from every tile and season from which there is a way to a target.

    The first time for some means it takes about 60 ms.
    """
    before = _ways_in(means)
    found: dict[Node, float] = {}
    queue = [
        (more, (spot, season))
        for spot, more in targets
        for season in range(4)
        if is_open(spot, season, means)
    ]
    heapq.heapify(queue)
    while queue:
        pixels, node = heapq.heappop(queue)
        if node in found:
            continue
        found[node] = pixels
        for earlier, cost in before.get(node, ()):
            if earlier not in found:
                heapq.heappush(queue, (pixels + cost, earlier))
    return found


@lru_cache(maxsize=2)
def _ways_in(means: Means) -> Mapping[Node, list[tuple[Node, float]]]:
    """Node → the nodes from which one step leads there, and what it costs."""
    before: dict[Node, list[tuple[Node, float]]] = {}
    for node in _NODES:
        if is_open(*node, means):
            for there, cost in moves(node, means):
                before.setdefault(there, []).append((node, cost))
    return before


def pixels_from(
    reached: Mapping[Node, float], room: str, at: tuple[int, int], season: int | None
) -> float:
    """Pixels to walk from a point [x, y] of a room; infinity where there is no way.

    From between the middles of two tiles the nearer way counts. From a closed tile, as over a hole,
    it goes on from the nearest open one. An unknown season is taken for the best one.
    """
    seasons = range(4) if season is None else (season,)
    return min(_pixels_in(reached, room, at, time) for time in seasons)


def _pixels_in(reached: Mapping[Node, float], room: str, at: tuple[int, int], season: int) -> float:
    x, y = at
    row, column = min(max(y // TILE, 0), ROWS - 1), min(max(x // TILE, 0), COLUMNS - 1)
    near = [(row, column), *((row + dy, column + dx) for dy, dx in _AROUND)]
    if ((room, (row, column)), season) not in reached:
        known = [tile for tile in _EVERY_TILE if ((room, tile), season) in reached]
        near = [min(known, key=lambda tile: _between(tile, x, y))] if known else []
    ways = (reached.get(((room, tile), season), math.inf) + _between(tile, x, y) for tile in near)
    return min(ways, default=math.inf)


def _between(tile: Tile, x: int, y: int) -> int:
    """Pixels along the axes from the middle of a tile to a point."""
    row, column = tile
    return abs(x - (column * TILE + TILE // 2)) + abs(y - (row * TILE + TILE // 2))
