"""Random rooms from a seed: tiles of all kinds on open ground."""

import random
from dataclasses import dataclass

from rlaif.game.machine.actions import Action
from rlaif.game.memory.memory_map import address
from rlaif.testing.data.motion.reach import Tile, all_tiles
from rlaif.testing.data.motion.walking_rule import Ground

FREE, WALL, HAZARD, BORDER = 0x00, 0x0F, 0x10, 0xFF
GRASS, HOLE, WATER, UNKNOWN, DOOR, LAVA = 0x02, 0xF3, 0xFD, 0x77, 0xE6, 0x7B
CLIFFS = {Action.DOWN: 0x54, Action.LEFT: 0x25, Action.RIGHT: 0x26, Action.UP: 0x2A}
FLIPPERS = 0x2E

QUARTERS = [(byte, 0x80) for byte in range(0x01, 0x0F)]
BRIDGES = [(byte, 0x80) for byte in (0x11, 0x12, 0x13, 0x19, 0x1A, 0x1B, 0x1D, 0x1E)]
HAZARDS = [(HAZARD, index) for index in (HOLE, WATER, UNKNOWN, LAVA)]
LEDGES = [(WALL, index) for index in CLIFFS.values()]
TILES = [*QUARTERS, *BRIDGES, *HAZARDS, *LEDGES, *[(WALL, 0x80)] * 4, (FREE, DOOR), (FREE, DOOR)]
"""Collision byte and tile index of everything but open ground."""


@dataclass(frozen=True)
class Room:
    """A room as collision byte and index of each tile."""

    tiles: dict[Tile, tuple[int, int]]
    large: bool
    swims: bool

    @property
    def ground(self) -> Ground:
        """The room as input of the walking rule."""
        water = self._are(WATER)
        deadly = self._are(HOLE) | self._are(UNKNOWN) | self._are(LAVA)
        return Ground(
            collisions={tile: byte for tile, (byte, _) in self.tiles.items()},
            deadly=deadly if self.swims else deadly | water,
            water=water if self.swims else frozenset(),
            doors=self._are(DOOR),
            cliffs={way: self._are(index) for way, index in CLIFFS.items()},
            size=(176, 240) if self.large else (128, 160),
        )

    def _are(self, index: int) -> frozenset[Tile]:
        return frozenset(tile for tile, (_, found) in self.tiles.items() if found == index)

    def writes(self) -> list[tuple[str | int, int | bytes]]:
        """The room as stored in RAM."""
        collisions, layout = bytearray([BORDER]) * 192, bytearray(192)
        for (row, column), (byte, index) in self.tiles.items():
            collisions[row * 16 + column], layout[row * 16 + column] = byte, index
        owned = address("wObtainedTreasureFlags") + FLIPPERS // 8
        return [
            ("wRoomCollisions", bytes(collisions)),
            ("wRoomLayout", bytes(layout)),
            ("wRoomIsLarge", int(self.large)),
            (owned, (1 << FLIPPERS % 8) * self.swims),
        ]


def made_room(seed: int, density: float, *, large: bool) -> Room:
    """Generate a room with the given share of tiles of all kinds on open ground."""
    rng = random.Random(seed)
    places = all_tiles(large=large)
    made = {at: rng.choice(TILES) if rng.random() < density else (FREE, GRASS) for at in places}
    return Room(made, large, rng.random() < 0.5)
