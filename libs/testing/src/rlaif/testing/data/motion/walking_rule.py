"""An independent implementation of the game's walking rule, for reachability in a room.

It follows the game's source frame by frame (player.c of the cartridge, link.s of the disassembly)
and shares no code with `rlaif.game.motion`, which is tested against it.
"""

from collections import deque
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Literal

from rlaif.game.machine.actions import Action
from rlaif.testing.data.motion.reach import Pixel, Tile, Truth, tile_of

FRAMES = 4
JUMPS_FROM = 4
"""Maximum distance in pixels from the center of a tile to jump off a cliff."""

WAYS = {Action.UP: (0, -1), Action.DOWN: (0, 1), Action.LEFT: (-1, 0), Action.RIGHT: (1, 0)}
_PROBES = {
    Action.UP: ((-3, -3), (2, -3)),
    Action.DOWN: ((-3, 7), (2, 7)),
    Action.LEFT: ((-5, 0), (-5, 5)),
    Action.RIGHT: ((4, 0), (4, 5)),
}
_BRIDGES = {
    0x11: (4, 4, 0, 0), 0x12: (4, 0, 0, 0), 0x13: (0, 4, 0, 0), 0x15: (4, 4, 0, 0),
    0x16: (4, 4, 0, 0), 0x19: (0, 0, 4, 4), 0x1A: (0, 0, 4, 0), 0x1B: (0, 0, 0, 4),
    0x1C: (0, 0, 0, 4), 0x1D: (0, 0, 2, 4), 0x1E: (16, 0, 0, 0),
}  # fmt: skip
"""Solid pixels from the left, the right, the top and the bottom of a tile."""


@dataclass(frozen=True)
class Ground:
    """A room as input of the rule.

    Attributes:
        collisions: Collision byte by tile; missing tiles are open.
        deadly: Holes and lava, and water if the player cannot swim.
        water: Tiles where the player swims, at half speed.
        doors: Tiles that lead out of the room.
        cliffs: Tiles from which the player jumps, by direction.
        size: Height and width in pixels.
        beat: 1 if the player moves in water in the first frame of a step, 0 if in the second.
    """

    collisions: Mapping[Tile, int]
    deadly: Set[Tile] = frozenset()
    water: Set[Tile] = frozenset()
    doors: Set[Tile] = frozenset()
    cliffs: Mapping[Action, Set[Tile]] = field(default_factory=dict)
    size: tuple[int, int] = (128, 160)
    beat: int = 0

    def solid(self, x: int, y: int) -> bool:
        """Whether there is a wall at a pixel."""
        byte = self.collisions.get((y // 16, x // 16), 0)
        inside_x, inside_y = x % 16, y % 16
        if byte < 0x10:
            quarter = 8 >> (2 * (inside_y >= 8) + (inside_x >= 8))
            return bool(byte & quarter)
        left, right, top, bottom = _BRIDGES.get(0x10 | byte & 0x0F, (0, 0, 0, 0))
        beside = inside_x < left or inside_x >= 16 - right
        return beside or inside_y < top or inside_y >= 16 - bottom

    def is_outside(self, x: int, y: int) -> bool:
        """Whether the position is in the next room."""
        height, width = self.size
        return x <= 5 or y <= 5 or x >= width - 5 or y >= height - 6


class Walking:
    """Plays emulator steps on a ground."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self._frames: dict[tuple[Pixel, Action], Pixel] = {}

    def step(
        self, start: Pixel, way: Action
    ) -> tuple[Pixel, Tile | Literal["dies", "edge"] | None]:
        """Hold a direction for an emulator step; return the resulting position and event.

        A tile in place of an event is the door that the player used.
        """
        here = start
        under = tile_of(*start)
        for number in range(FRAMES):
            if tile_of(*here) in self.ground.water and (number + self.ground.beat) % 2 == 0:
                continue
            here = self._frame(here, way)
            tile = tile_of(*here)
            if tile in self.ground.deadly:
                return here, "dies"
            if tile in self.ground.doors and tile != under:
                return here, tile
            if self.ground.is_outside(*here):
                return here, "edge"
        if here == start and (landing := self._jump(start, way)) is not None:
            tile = tile_of(*landing)
            return landing, tile if tile in self.ground.doors else None
        return here, None

    def truth(self, start: Pixel) -> Truth:
        """Explore all places from a start."""
        found = Truth(start, {start: 0})
        queue = deque([start])
        while queue:
            here = queue.popleft()
            for way in WAYS:
                there, happened = self.step(here, way)
                if isinstance(happened, tuple):
                    found.doors.setdefault(happened, found.steps[here] + 1)
                elif happened is None and there not in found.steps:
                    found.steps[there], found.ways[there] = found.steps[here] + 1, (here, way)
                    queue.append(there)
        return found

    def _frame(self, at: Pixel, way: Action) -> Pixel:
        if (at, way) not in self._frames:
            self._frames[at, way] = self._walk(*at, way)
        return self._frames[at, way]

    def _walk(self, x: int, y: int, way: Action) -> Pixel:
        """Move one pixel ahead, or aside if only one of the two probes hits a wall."""
        first, second = (self.ground.solid(x + dx, y + dy) for dx, dy in _PROBES[way])
        dx, dy = WAYS[way]
        if not first and not second:
            return x + dx, y + dy
        aside = 0 if first and second else 1 if first else -1
        return (x + aside, y) if dx == 0 else (x, y + aside)

    def _jump(self, at: Pixel, way: Action) -> Pixel | None:
        """Landing position of a jump off a cliff; None without a cliff or a landing place."""
        cliffs, (dx, dy) = self.ground.cliffs.get(way, frozenset()), WAYS[way]
        row, column = tile_of(*at)
        aside = at[0] - column * 16 - 8 if dx == 0 else at[1] - row * 16 - 8
        ahead = row + dy, column + dx
        if (
            ahead not in cliffs
            or abs(aside) > JUMPS_FROM
            or self.ground.collisions.get((row, column))
        ):
            return None
        while ahead in cliffs:
            ahead = ahead[0] + dy, ahead[1] + dx
        if self.ground.collisions.get(ahead, 0xFF) or ahead in self.ground.deadly:
            return None
        x, y = ahead[1] * 16 + 8, ahead[0] * 16 + 8
        return (x + aside, y) if dx == 0 else (x, y + aside)
