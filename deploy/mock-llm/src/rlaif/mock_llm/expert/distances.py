"""Walking distances over the map to an objective, with what the player owns.

Dijkstra's algorithm from the targets backwards, over the tiles of all rooms in each of the four
seasons: using the rod at a stump leads from one season to the next. One step is 16 pixels.
"""

import heapq
import math
from collections.abc import Iterator, Mapping
from functools import lru_cache

from rlaif.mock_llm.expert.rooms import AROUND, COLUMNS, PASSAGES, PLANS, ROWS, TILE, Spot, Tile

_JUMP = 2 * TILE
_CHANGE_OF_SEASON = 20
"""Cost in pixels: what the player would walk in the 20 frames that the rod takes."""

SPRING, SUMMER, AUTUMN, WINTER = range(4)
SEASONS = ("spring", "summer", "autumn", "winter")

Node = tuple[Spot, int]
"""A tile and the season."""
Means = frozenset[str]
"""Items of the player, the doors that are open (`north`, `vault`, `thorn`, `shutter`), and `lever`
once it was hit."""
Targets = tuple[tuple[Spot, float], ...]
"""Target tiles, each with the distance that remains from there, in pixels."""

_NEEDS: Mapping[str, Means] = {
    sign: frozenset(means.split())
    for sign, means in {
        "b": "sword", "o": "bracelet", "t": "seed_satchel", "c": "bombs", "K": "gnarled_key",
        "~": "flippers", "m": "bracelet", "d": "shovel", "x": "lever", "1": "north", "2": "vault",
        "3": "thorn", "4": "shutter", **dict.fromkeys(".>vypw", ""),
    }.items()
}  # fmt: skip
"""Sign of the map → what opens it; other signs are never open."""
_SEASON = {"v": SUMMER, "y": SPRING, "p": AUTUMN, "w": WINTER, "m": AUTUMN, "d": WINTER}

RELEVANT = frozenset({"rod_of_seasons", "feather", "shovel"}).union(*_NEEDS.values())
"""All means that open any tile."""

_TILES = tuple((row, column) for row in range(ROWS) for column in range(COLUMNS))
_NUMBERS_PER_ROW = {"0": 16, "4": 8}
"""Map group → the difference of the numbers of a room and the one above it."""


def sign_at(spot: Spot) -> str:
    """The sign of a tile on the map."""
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
    """The neighbouring tile, also across the edge of the room; None at the edge of the map."""
    room, (row, column) = spot
    row, column = row + dy, column + dx
    if 0 <= row < ROWS and 0 <= column < COLUMNS:
        return room, (row, column)
    group, number = room.split("/")
    if group not in _NUMBERS_PER_ROW:
        return None
    there = f"{group}/{int(number) + (dx or dy * _NUMBERS_PER_ROW[group])}"
    return (there, (row % ROWS, column % COLUMNS)) if there in PLANS else None


def moves(node: Node, means: Means) -> Iterator[tuple[Node, float]]:
    """(next node, cost in pixels) from an open tile."""
    spot, season = node
    if spot in PASSAGES:
        yield (PASSAGES[spot], season), 0.0
    for dy, dx in AROUND:
        there = beside(spot, dy, dx)
        if there is None:
            continue
        if is_open(there, season, means):
            yield (there, season), TILE
        elif sign_at(there) == "u" and "rod_of_seasons" in means:
            yield (spot, (season + 1) % 4), _CHANGE_OF_SEASON
        elif sign_at(there) in "hp" and "feather" in means:
            beyond = beside(there, dy, dx)
            if beyond is not None and beyond[0] == spot[0] and is_open(beyond, season, means):
                yield (beyond, season), _JUMP


@lru_cache(maxsize=64)
def distances(targets: Targets, means: Means) -> Mapping[Node, float]:
    """Pixels to walk to a target, for each tile and season from which one can be reached.

    The first call for some means takes about 60 ms.
    """
    before = _predecessors(means)
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
def _predecessors(means: Means) -> Mapping[Node, list[tuple[Node, float]]]:
    """Node → the nodes from which one move leads there, and its cost."""
    before: dict[Node, list[tuple[Node, float]]] = {}
    nodes = (((room, tile), season) for room in PLANS for tile in _TILES for season in range(4))
    for node in nodes:
        if is_open(*node, means):
            for there, cost in moves(node, means):
                before.setdefault(there, []).append((node, cost))
    return before


def pixels_from(
    reached: Mapping[Node, float], room: str, at: tuple[int, int], season: int | None
) -> float:
    """Pixels to walk from a point [x, y] of a room; infinity if no target can be reached.

    Between the centres of two tiles the smaller distance counts. On a closed tile, such as a hole,
    the nearest open tile counts. For an unknown season the smallest distance of all counts.
    """
    seasons = range(4) if season is None else (season,)
    return min(_pixels_in(reached, room, at, each) for each in seasons)


def _pixels_in(reached: Mapping[Node, float], room: str, at: tuple[int, int], season: int) -> float:
    x, y = at
    row, column = min(max(y // TILE, 0), ROWS - 1), min(max(x // TILE, 0), COLUMNS - 1)
    near = [(row, column), *((row + dy, column + dx) for dy, dx in AROUND)]
    if ((room, (row, column)), season) not in reached:
        known = [tile for tile in _TILES if ((room, tile), season) in reached]
        near = [min(known, key=lambda tile: _between(tile, x, y))] if known else []
    found = (reached.get(((room, tile), season), math.inf) + _between(tile, x, y) for tile in near)
    return min(found, default=math.inf)


def _between(tile: Tile, x: int, y: int) -> int:
    """Pixels along the axes from the centre of a tile to a point."""
    row, column = tile
    return abs(x - (column * TILE + TILE // 2)) + abs(y - (row * TILE + TILE // 2))
