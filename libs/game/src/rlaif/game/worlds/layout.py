"""Layout of rooms: regions grow on a grid and are joined by passages."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

from rlaif.game.worlds.graph import Lock, Region
from rlaif.game.worlds.tables import DOWN, LEFT, RIGHT, STEPS, UP, Spot

ATTEMPTS = 40
OPPOSITE = (DOWN, LEFT, UP, RIGHT)
_JOINED = 0.4
"""Share of neighbours that an additional passage joins, so that not all regions are trees."""


class CrampedError(Exception):
    """Something did not fit; another draw may succeed."""


@dataclass(frozen=True)
class Passage:
    """A passage between two neighbouring rooms; its lock, if any, is in the first."""

    cell: Spot
    direction: int
    lock: Lock | None
    place: int  # the first of its two tiles along the edge


@dataclass
class Layout:
    """Rooms on a grid; those of a dungeon have their passages in the middle of the sides."""

    rng: Random
    rows: int
    columns: int
    middle: bool = False
    region_of: dict[Spot, int] = field(default_factory=dict)
    passages: list[Passage] = field(default_factory=list)
    entries: list[Spot] = field(default_factory=list)  # the first room of each region

    def cells(self, region: int) -> list[Spot]:
        return [cell for cell, index in self.region_of.items() if index == region]

    def exits(self, cell: Spot) -> dict[int, tuple[Passage, bool]]:
        """The passages of a room by direction, each with whether it starts in this room."""
        found = {}
        for passage in self.passages:
            if passage.cell == cell:
                found[passage.direction] = passage, True
            elif beyond(passage.cell, passage.direction) == cell:
                found[OPPOSITE[passage.direction]] = passage, False
        return found

    def free(self, cell: Spot) -> bool:
        inside = 0 <= cell[0] < self.rows and 0 <= cell[1] < self.columns
        return inside and cell not in self.region_of

    def join(self, cell: Spot, direction: int, lock: Lock | None) -> None:
        sideways = direction in (RIGHT, LEFT)
        middle = 3 if sideways else 4
        place = middle if self.middle else self.rng.randint(2, 4 if sideways else 6)
        self.passages.append(Passage(cell, direction, lock, place))

    def draw(self, regions: list[Region], first: Spot) -> None:
        """Place all regions.

        Raises:
            CrampedError: One did not fit.
        """
        for region in regions:
            cell = first if region.parent is None else self._attach(region.parent, region.lock)
            self.entries.append(cell)
            self.region_of[cell] = region.index
            while len(self.cells(region.index)) < region.rooms:
                cell, way = self.rng.choice(self._edges(region.index))
                self.region_of[beyond(cell, way)] = region.index
                self.join(cell, way, None)
            for cell in self.cells(region.index):
                for way in (RIGHT, DOWN):
                    same = self.region_of.get(beyond(cell, way)) == region.index
                    if same and way not in self.exits(cell) and self.rng.random() < _JOINED:
                        self.join(cell, way, None)

    def _edges(self, region: int) -> list[tuple[Spot, int]]:
        """Edges from a region to free cells."""
        found = [
            (cell, way)
            for cell in self.cells(region)
            for way in range(4)
            if self.free(beyond(cell, way))
        ]
        if not found:
            raise CrampedError(f"no place beside region {region}")
        return found

    def _attach(self, parent: int, lock: Lock | None) -> Spot:
        """Join a free cell with much space around it to the parent region, by the lock."""
        upwards = lock is not None and "V" in lock.signs  # vines hang in the north
        found = [(cell, way) for cell, way in self._edges(parent) if way == UP or not upwards]
        if not found:
            raise CrampedError(f"no place north of region {parent}")
        self.rng.shuffle(found)
        cell, way = max(
            found, key=lambda it: sum(self.free(beyond(beyond(*it), way)) for way in range(4))
        )
        self.join(cell, way, lock)
        return beyond(cell, way)


def lay_out(
    rng: Random,
    size: Spot,
    regions: list[Region],
    first: Spot,
    fits: Callable[[Layout], object],
    *,
    middle: bool = False,
) -> Layout:
    """Draw layouts of `size` (rows, columns) until one fits.

    Raises:
        CrampedError: None of `ATTEMPTS` does.
    """
    for _ in range(ATTEMPTS):
        layout = Layout(rng, *size, middle)
        with suppress(CrampedError):
            layout.draw(regions, first)
            if fits(layout):
                return layout
    raise CrampedError("no layout of the regions fits")


def beyond(cell: Spot, direction: int) -> Spot:
    """The neighbouring cell."""
    row, column = STEPS[direction]
    return cell[0] + row, cell[1] + column
