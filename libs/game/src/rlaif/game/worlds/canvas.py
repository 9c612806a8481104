"""The drawing of one room.

Decided tiles are final, paths connect the tiles to be reached, and the rest is decoration.
"""

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from random import Random

from rlaif.game.worlds.tables import COLUMNS, DOWN, LEFT, RIGHT, ROWS, STEPS, UP, Spot

INSIDE = [(row, column) for row in range(1, ROWS - 1) for column in range(1, COLUMNS - 1)]
_INSIDE = frozenset(INSIDE)


class NoRoomError(Exception):
    """Not everything fits into the room; another draw may succeed."""


class Canvas:
    """A room of 8x10 tiles, at first walls around undecided ground."""

    def __init__(self, rng: Random, wall: str, ground: str) -> None:
        self.rng, self.wall, self.ground = rng, wall, ground
        every = ((row, column) for row in range(ROWS) for column in range(COLUMNS))
        self.tiles: dict[Spot, str] = {spot: wall for spot in every if spot not in _INSIDE}
        self.kept: set[Spot] = set()  # ground that must stay free
        self.anchors: list[Spot] = []  # tiles that one connected path must touch

    def put(self, spot: Spot, tile: str) -> None:
        """Decide a tile.

        Raises:
            NoRoomError: It is already decided.
        """
        if spot in self.kept or (spot in _INSIDE and self.tiles.get(spot, tile) != tile):
            raise NoRoomError(f"{spot} is taken")
        self.tiles[spot] = tile

    def keep(self, spot: Spot, *, anchor: bool = True) -> None:
        """Keep a tile free to walk on, and connect it to the path."""
        if self.tiles.setdefault(spot, self.ground) != self.ground:
            raise NoRoomError(f"{spot} is taken")
        self.kept.add(spot)
        if anchor:
            self.anchors.append(spot)

    def open(self, direction: int, place: int, signs: str) -> None:
        """Open a passage of two tiles; `signs` are those from the edge inwards, `.` is ground."""
        for depth, sign in enumerate(signs):
            for i in range(2):
                spot = from_edge(direction, place + i, depth)
                self.tiles[spot] = self.ground if sign == "." else sign
            for i in (-1, 2):
                if depth:
                    self.put(from_edge(direction, place + i, depth), self.wall)
        for i in range(2):
            self.keep(from_edge(direction, place + i, len(signs)), anchor=not i)

    def connect(self, path: str) -> None:
        """Join all anchors by paths over undecided ground.

        Raises:
            NoRoomError: One cannot be reached.
        """
        joined = {*self.anchors[:1]}
        for anchor in self.anchors[1:]:
            for spot in self._way(anchor, joined):
                if self.tiles.get(spot, self.ground) == self.ground:
                    self.tiles[spot] = path
                self.kept.add(spot)
                joined.add(spot)
        for anchor in self.anchors:
            if self.tiles[anchor] == self.ground:
                self.tiles[anchor] = path

    def _way(self, start: Spot, goals: set[Spot]) -> list[Spot]:
        came: dict[Spot, Spot] = {start: start}
        queue = deque([start])
        while queue:
            spot = queue.popleft()
            if spot in goals:
                way = [spot]
                while way[-1] != start:
                    way.append(came[way[-1]])
                return way
            for row, column in self.rng.sample(STEPS, len(STEPS)):
                to = spot[0] + row, spot[1] + column
                if to not in came and (to in self.kept or (to in _INSIDE and to not in self.tiles)):
                    came[to] = spot
                    queue.append(to)
        raise NoRoomError(f"{start} cannot be reached")

    def free(self) -> list[Spot]:
        """Undecided tiles in random order."""
        found = [spot for spot in INSIDE if spot not in self.tiles]
        self.rng.shuffle(found)
        return found

    def place(self, tile: str) -> Spot:
        """Place a tile that is used from below, and keep the tile below it free."""
        for spot in self.free():
            below = spot[0] + 1, spot[1]
            if below in _INSIDE and (below not in self.tiles or below in self.kept):
                self.put(spot, tile)
                self.keep(below)
                return spot
        raise NoRoomError(f"no place for {tile}")

    def scatter(self, tiles: Mapping[str, float]) -> None:
        """Fill undecided tiles: each kind with its probability, else ground."""
        signs, weights = [*tiles, self.ground], [*tiles.values(), 1 - sum(tiles.values())]
        for spot in INSIDE:
            if spot not in self.tiles:
                self.tiles[spot] = self.rng.choices(signs, weights)[0]

    def rows(self) -> tuple[str, ...]:
        """The map; undecided tiles are ground."""
        return tuple(
            "".join(self.tiles.get((row, column), self.ground) for column in range(COLUMNS))
            for row in range(ROWS)
        )

    def roomy(self, walkable: Collection[str], far_from: Iterable[Spot]) -> list[Spot]:
        """Free tiles that can be reached, at least three steps from each of `far_from`."""
        away, reached = list(far_from), set(self.kept)
        edge = list(reached)
        for row, column in edge:  # grows while it is read
            for y, x in STEPS:
                spot = row + y, column + x
                if spot in _INSIDE and spot not in reached and self.tiles.get(spot) in walkable:
                    reached.add(spot)
                    edge.append(spot)
        found = [
            spot
            for spot in INSIDE
            if spot in reached
            and self.tiles[spot] in walkable
            and all(abs(spot[0] - row) + abs(spot[1] - column) > 2 for row, column in away)
        ]
        self.rng.shuffle(found)
        return found


def from_edge(direction: int, along: int, depth: int) -> Spot:
    """The tile `along` an edge, `depth` tiles inwards."""
    return {
        UP: (depth, along), DOWN: (ROWS - 1 - depth, along),
        LEFT: (along, depth), RIGHT: (along, COLUMNS - 1 - depth),
    }[direction]  # fmt: skip
