"""The cheapest way on a grid: start and goals in, a path as waypoints and as d-pad actions out."""

import heapq
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from rlaif.game.machine.actions import Action
from rlaif.game.navigation.grid import STEP, CollisionGrid, Node


@dataclass(frozen=True)
class Path:
    """A way through one room."""

    nodes: tuple[Node, ...]
    directions: tuple[Action, ...]  # the move to each next node, one fewer than nodes
    cost: float  # of all moves and of getting to the first node

    @property
    def waypoints(self) -> tuple[tuple[int, int], ...]:
        """(x, y) in pixels of the first node, each corner and the last node."""
        turns = [
            node
            for node, before, after in zip(
                self.nodes[1:], self.directions, self.directions[1:], strict=False
            )
            if before != after
        ]
        kept = dict.fromkeys([self.nodes[0], *turns, self.nodes[-1]])
        return tuple((node.x, node.y) for node in kept)

    def actions(self, pixels_per_action: int = 4) -> list[Action]:
        """The d-pad actions that walk it from the first node; one goes the frame skip in pixels."""
        if STEP % pixels_per_action:
            raise ValueError(f"{STEP} pixels are no multiple of {pixels_per_action} an action")
        repeat = STEP // pixels_per_action
        found: list[Action] = []
        for here, there, direction in zip(
            self.nodes, self.nodes[1:], self.directions, strict=False
        ):
            moves = abs(here.row - there.row) + abs(here.column - there.column)
            found += [direction] * (moves * repeat)
        return found


def find_path(
    grid: CollisionGrid, starts: Mapping[Node, float], goals: Collection[Node]
) -> Path | None:
    """The cheapest path (A*) from any start, by what it costs to be there, to any goal, or None."""
    if not goals:
        return None
    rows = [node.row for node in goals]
    columns = [node.column for node in goals]
    box = (min(rows), max(rows), min(columns), max(columns))
    reached, parents = _search(grid, starts, set(goals), lambda node: _to_box(node, box))
    ends = [node for node in goals if node in reached]
    if not ends:
        return None
    return _path(min(ends, key=lambda node: reached[node]), reached, parents)


def nearest_path(grid: CollisionGrid, starts: Mapping[Node, float], x: int, y: int) -> Path | None:
    """The path to the reachable node nearest to a pixel; None when there is no start.

    Nodes at the same distance are told apart by the cost of getting there.
    """
    reached, parents = _search(grid, starts, set(), lambda node: 0.0)
    if not reached:
        return None
    end = min(reached, key=lambda n: (abs(n.x - x) + abs(n.y - y), reached[n], n))
    return _path(end, reached, parents)


_Parents = dict[Node, tuple[Node, Action]]


def _search(
    grid: CollisionGrid,
    starts: Mapping[Node, float],
    goals: set[Node],
    least: Callable[[Node], float],
) -> tuple[dict[Node, float], _Parents]:
    """Costs and parents of the nodes up to the first goal; without goals of all nodes."""
    best = dict(starts)
    parents: _Parents = {}
    settled: dict[Node, float] = {}
    queue = [(cost + least(node), node) for node, cost in starts.items()]
    heapq.heapify(queue)
    while queue:
        _, node = heapq.heappop(queue)
        if node in settled:
            continue
        settled[node] = best[node]
        if node in goals:
            break
        for direction, following, cost in grid.neighbours(node):
            total = best[node] + cost
            if total < best.get(following, math.inf):
                best[following] = total
                parents[following] = (node, direction)
                heapq.heappush(queue, (total + least(following), following))
    return settled, parents


def _to_box(node: Node, box: tuple[int, int, int, int]) -> float:
    """Moves to the rectangle around the goals: never more than the way costs."""
    top, bottom, left, right = box
    return max(top - node.row, 0, node.row - bottom) + max(
        left - node.column, 0, node.column - right
    )


def _path(end: Node, reached: Mapping[Node, float], parents: _Parents) -> Path:
    nodes, directions = [end], []
    while nodes[-1] in parents:
        node, direction = parents[nodes[-1]]
        nodes.append(node)
        directions.append(direction)
    return Path(tuple(reversed(nodes)), tuple(reversed(directions)), reached[end])
