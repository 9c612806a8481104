"""Where the player can get to in this room: the RAM in, the places to which a way leads out."""

from dataclasses import dataclass

import numpy as np

from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.entities import talkables
from rlaif.game.navigation.field import Moves
from rlaif.game.navigation.footing import Footing, Pixels, footing
from rlaif.game.navigation.goals import OnTile, goal_pixels
from rlaif.game.navigation.grid import TilePlace
from rlaif.game.navigation.room_watcher import Standing, standing
from rlaif.game.navigation.terrain import terrain_of
from rlaif.game.options.room_tiles import in_room, tile_under

_RIM = 12
"""Pixels from the edge of the room within which nobody flees."""


@dataclass(frozen=True)
class Reach:
    """The places of a room to which a way leads from the player, past people as they stand."""

    here: Standing
    steps: Footing
    reached: Pixels  # `[pixels]`, not those where the room is left

    def distance_to(self, ram: RamBlocks, tile: TilePlace) -> int | None:
        """Pixels to a tile as the crow flies; None where no way leads to it, and of doors."""
        if not in_room(ram, tile) or terrain_of(ram).warps()[tile]:
            return None
        places = goal_pixels(self.steps, OnTile(self.here.room, tile))
        if not any((self.reached & place).any() for place in places):
            return None
        x, y = tile.middle
        return abs(x - self.here.x) + abs(y - self.here.y)

    def nearest_away_from(self, x: int, y: int, pixels: int) -> tuple[int, int] | None:
        """(x, y) of the nearest place so far from a pixel on one axis, and not at the rim."""
        height, width = self.steps.size
        ys, xs = np.divmod(self.reached.nonzero()[0], width)
        far = np.maximum(np.abs(xs - x), np.abs(ys - y)) >= pixels
        inside = (xs > _RIM) & (xs < width - _RIM) & (ys > _RIM) & (ys < height - _RIM)
        ys, xs = ys[far & inside], xs[far & inside]
        if not xs.size:
            return None
        nearest = int(np.argmin(np.abs(xs - self.here.x) + np.abs(ys - self.here.y)))
        return int(xs[nearest]), int(ys[nearest])


def reach_of(ram: RamBlocks) -> Reach:
    """What can be reached now; some milliseconds."""
    here = standing(ram)
    steps = footing(
        terrain_of(ram),
        enterable=[tile_under(ram)],
        obstacles=[(it.x, it.y) for it in talkables(ram)],
    )
    reached = Moves(steps).reachable(steps.index(here.x, here.y)) & ~steps.ways_out
    return Reach(here, steps, reached)
