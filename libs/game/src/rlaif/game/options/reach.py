"""Where the player can get to in this room: the RAM in, places and what the way there costs out."""

import heapq
import math
from dataclasses import dataclass

from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.entities import enemies, talkables
from rlaif.game.navigation.goals import Place, goal_nodes
from rlaif.game.navigation.grid import STEP, CollisionGrid, Node, TilePlace, collision_grid
from rlaif.game.navigation.room_watcher import standing
from rlaif.game.navigation.terrain import terrain_of
from rlaif.game.options.room_tiles import in_room, middle, tile_under


@dataclass(frozen=True)
class Reach:
    """The places of a room to which a way leads, past people and enemies as they stand."""

    grid: CollisionGrid
    costs: dict[Node, float]  # of the way to each node

    def cost_to(self, ram: RamBlocks, tile: TilePlace) -> float | None:
        """What it costs to stand in the middle of a tile; None where no way leads to it."""
        if not in_room(ram, tile):
            return None
        x, y = middle(tile)
        nodes = goal_nodes(self.grid, Place(standing(ram).room, x, y))
        return min((self.costs[node] for node in nodes if node in self.costs), default=None)

    def nearest_away_from(self, x: int, y: int, pixels: int) -> tuple[int, int] | None:
        """(x, y) of the nearest place so far from a pixel on one axis, and not at the rim."""
        height, width = self.grid.size
        far = [
            node
            for node in self.costs
            if max(abs(node.x - x), abs(node.y - y)) >= pixels
            and STEP < node.x < width - STEP
            and STEP < node.y < height - STEP
        ]
        nearest = min(far, key=lambda node: (self.costs[node], node), default=None)
        return None if nearest is None else (nearest.x, nearest.y)


def reach_of(ram: RamBlocks) -> Reach:
    """What can be reached now; some milliseconds."""
    grid = collision_grid(
        terrain_of(ram),
        enterable=[tile_under(ram)],
        obstacles=[(it.x, it.y) for it in talkables(ram)],
        dangers=[(it.x, it.y) for it in enemies(ram)],
    )
    here = standing(ram)
    starts = {node: pixels / STEP for node, pixels in grid.entries(here.x, here.y).items()}
    return Reach(grid, _costs(grid, starts))


def _costs(grid: CollisionGrid, starts: dict[Node, float]) -> dict[Node, float]:
    best, settled = dict(starts), set[Node]()
    queue = [(cost, node) for node, cost in starts.items()]
    heapq.heapify(queue)
    while queue:
        cost, node = heapq.heappop(queue)
        if node in settled:
            continue
        settled.add(node)
        for _, following, price in grid.neighbours(node):
            if cost + price < best.get(following, math.inf):
                best[following] = cost + price
                heapq.heappush(queue, (cost + price, following))
    return best
