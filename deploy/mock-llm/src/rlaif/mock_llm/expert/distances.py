"""Walking distances on the map of a world, given the player's items.

Dijkstra's algorithm from the targets backwards, over the tiles of all rooms in each of the four
seasons: using the rod at a stump changes to the next season. One step is 16 pixels.
"""

import heapq
import math
from collections.abc import Iterator, Mapping
from functools import lru_cache

from rlaif.mock_llm.expert.world import (
    AROUND,
    COLUMNS,
    ROWS,
    SEASONS,
    TILE,
    Spot,
    Tile,
    Way,
    World,
)

_JUMP = 2 * TILE
_CHANGE_OF_SEASON = 20
"""Cost of using the rod in pixels: the walking distance in the 20 frames that it takes."""

Node = tuple[Spot, int]
"""A tile and a season."""
Means = frozenset[str]
"""Items of the player, `boss_key`, `lever` while it is switched, `shutter` once the boss is beaten,
and `door 3` for each locked door that is opened for objective 3 or an earlier one."""
Targets = tuple[tuple[Spot, float], ...]
"""Target tiles, each with its remaining distance in pixels."""

_TILES = tuple((row, column) for row in range(ROWS) for column in range(COLUMNS))
_NEVER_STOOD_ON = {"jump", "turn", "light"}


def opened_by(world: World, spot: Spot, season: int) -> Iterator[tuple[Way, Means]]:
    """Yield the ways to pass a tile in a season, each with its required means."""
    for way in world.ways(spot):
        if way.how in _NEVER_STOOD_ON or way.season not in (None, SEASONS[season]):
            continue
        if "small_key" not in way.needs:
            yield way, way.needs | ({way.how} & {"lever", "shutter"})
        elif (number := world.locked_doors.get(spot)) is not None:
            yield way, frozenset({f"door {number}"})


def moves(world: World, node: Node) -> Iterator[tuple[Node, float, str, Means]]:
    """Yield (next node, cost in pixels, action, required means) for each move from a node."""
    spot, season = node
    if spot in world.passages:
        yield (world.passages[spot], season), 0.0, "walk", frozenset()
    swims = {way.how for way, _ in opened_by(world, spot, season)} == {"swim"}
    for side in AROUND:
        there = world.beside(spot, side)
        if there is None:
            continue
        for way, needs in opened_by(world, there, season):
            if way.how in ("walk", "swim") or not swims:
                yield (there, season), TILE, way.how, needs
        for way in world.ways(there) if not swims else ():
            if way.how == "turn":
                yield (spot, (season + 1) % 4), _CHANGE_OF_SEASON, "turn", way.needs
            elif way.how == "jump":
                beyond = world.beside(there, side)
                if beyond is not None and beyond[0] == spot[0]:
                    for _, needs in opened_by(world, beyond, season):
                        yield (beyond, season), _JUMP, "jump", way.needs | needs


@lru_cache(maxsize=64)
def distances(world: World, targets: Targets, means: Means) -> Mapping[Node, float]:
    """Walking distance to a target in pixels, for each node from which one is reachable.

    About 60 ms for a world of 30 rooms.
    """
    before = _predecessors(world)
    found: dict[Node, float] = {}
    queue = [
        (more, (spot, season))
        for spot, more in targets
        for season in range(4)
        if any(needs <= means for _, needs in opened_by(world, spot, season))
    ]
    heapq.heapify(queue)
    while queue:
        pixels, node = heapq.heappop(queue)
        if node in found:
            continue
        found[node] = pixels
        for earlier, cost, needs in before.get(node, ()):
            if earlier not in found and needs <= means:
                heapq.heappush(queue, (pixels + cost, earlier))
    return found


@lru_cache(maxsize=8)
def _predecessors(world: World) -> Mapping[Node, list[tuple[Node, float, Means]]]:
    """Node → (predecessor, cost of the move, required means) of each move to it."""
    before: dict[Node, list[tuple[Node, float, Means]]] = {}
    for room in world.rooms:
        for tile in _TILES:
            for season in range(4):
                node = ((room.room, tile), season)
                if any(opened_by(world, *node)):
                    for there, cost, _, needs in moves(world, node):
                        before.setdefault(there, []).append((node, cost, needs))
    return before


def pixels_from(
    reached: Mapping[Node, float], room: str, at: tuple[int, int], season: int | None
) -> float:
    """Walking distance in pixels from a point [x, y] of a room; infinite if no target is reachable.

    Between the centres of two tiles the smaller distance is used; on a closed tile, such as a hole,
    that of the nearest open tile; for an unknown season, the smallest of all seasons.
    """
    seasons = range(4) if season is None else (season,)
    return min(_pixels_in(reached, room, at, each) for each in seasons)


def _pixels_in(reached: Mapping[Node, float], room: str, at: tuple[int, int], season: int) -> float:
    x, y = at
    row, column = min(max(y // TILE, 0), ROWS - 1), min(max(x // TILE, 0), COLUMNS - 1)
    near = [(row, column), *((row + dy, column + dx) for dy, dx in AROUND.values())]
    if ((room, (row, column)), season) not in reached:
        known = [tile for tile in _TILES if ((room, tile), season) in reached]
        near = [min(known, key=lambda tile: _between(tile, x, y))] if known else []
    found = (reached.get(((room, tile), season), math.inf) + _between(tile, x, y) for tile in near)
    return min(found, default=math.inf)


def _between(tile: Tile, x: int, y: int) -> int:
    """Manhattan distance in pixels from the centre of a tile to a point."""
    row, column = tile
    return abs(x - (column * TILE + TILE // 2)) + abs(y - (row * TILE + TILE // 2))
