"""A world as its world.json describes it (libs/game/README.md): rooms, doors, ordered objectives.

Rooms are `group/number`, both decimal, as in the evidence. Tiles are (row, column) of 16 pixels.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from types import MappingProxyType

from pydantic import BaseModel

from rlaif.guides.guides import world_json

Tile = tuple[int, int]
"""(row, column)."""
Spot = tuple[str, Tile]
"""A tile of a room."""

GAME = "seedling-vale"
"""The default world for evidence without a game."""

ROWS, COLUMNS = 8, 10
TILE = 16
"""Pixels."""
AROUND: Mapping[str, Tile] = MappingProxyType(
    {"north": (-1, 0), "south": (1, 0), "west": (0, -1), "east": (0, 1)}
)
"""Side → (rows, columns) to the neighbour of a tile."""
SEASONS = ("spring", "summer", "autumn", "winter")


class _Fact(BaseModel, frozen=True):
    """Base class; fields that the expert does not use are ignored."""


class Way(_Fact):
    """A way to pass a tile: action, required items, and season if limited to one."""

    how: str
    needs: frozenset[str]
    season: str | None


class Sign(_Fact):
    """Meaning of a character of the maps."""

    name: str
    ways: tuple[Way, ...]


class Door(_Fact):
    """A tile that leads to another room."""

    tile: Tile
    to: str
    arrive: Tile


class Thing(_Fact):
    """An object of a room; `hidden` is the element that reveals a chest or key."""

    kind: str
    tile: Tile
    item: str = ""
    price: int = 0
    text: str = ""
    hidden: str = ""


class Room(_Fact):
    """One room; `ways` leads from a side to the room beyond."""

    room: str
    name: str
    map: tuple[str, ...]
    ways: dict[str, str]
    doors: tuple[Door, ...]
    solid: frozenset[Tile]
    objects: tuple[Thing, ...]

    def tiles(self, *signs: str) -> Iterator[Tile]:
        """Tiles with one of these signs."""
        for row, line in enumerate(self.map):
            for column, sign in enumerate(line):
                if sign in signs:
                    yield row, column


class Step(_Fact):
    """A step at one of the tiles `stands`, or anywhere in the room if there are none.

    `rupees` are those owned in the solution once the coins of this place are taken.
    """

    what: str = ""
    room: str
    tile: Tile | None = None
    stands: tuple[Tile, ...]
    item: str = ""
    price: int = 0
    rupees: int = 0


class Done(_Fact):
    """Conditions that show that an objective is done; any one suffices."""

    items: frozenset[str] = frozenset()
    rooms: frozenset[str] = frozenset()
    rupees: int | None = None
    keys: int | None = None
    boss_key: bool = False
    essences: int | None = None


class Change(_Fact):
    """A tile that is opened on the path, or a stump with the selected season."""

    room: str
    tile: Tile
    how: str


class Route(_Fact):
    """The path of the solution from the previous objective."""

    changes: tuple[Change, ...]


class Objective(Step, frozen=True):
    """One objective; `first` is done before it, and coins lie in `places`."""

    number: int
    title: str
    done: Done
    route: Route
    first: tuple[Step, ...] = ()
    places: tuple[Step, ...] = ()

    @property
    def lasts(self) -> bool:
        """Whether possessions show permanently that it is done."""
        return bool(self.done.items or self.done.boss_key or self.done.essences)


class World(_Fact):
    """The expert's knowledge of a world; compared by identity."""

    game: str
    signs: dict[str, Sign]
    rooms: tuple[Room, ...]
    objectives: tuple[Objective, ...]

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    @cached_property
    def by_name(self) -> Mapping[str, Room]:
        """Rooms by name."""
        return {room.room: room for room in self.rooms}

    @cached_property
    def passages(self) -> Mapping[Spot, Spot]:
        """Tile of a door or an exit → the tile to which it leads."""
        return {
            (room.room, door.tile): (door.to, door.arrive)
            for room in self.rooms
            for door in room.doors
        }

    @cached_property
    def locked_doors(self) -> Mapping[Spot, int]:
        """Door that takes a small key → number of the objective for which it is opened."""
        return {
            (step.room, step.tile): objective.number
            for objective in self.objectives
            for step in (*objective.first, objective)
            if step.what == "door" and step.tile is not None
        }

    @property
    def last(self) -> int:
        """Number of the last objective."""
        return len(self.objectives)

    def objective(self, number: int) -> Objective:
        return self.objectives[number - 1]

    def sign_at(self, spot: Spot) -> str:
        room, (row, column) = spot
        return self.by_name[room].map[row][column]

    def ways(self, spot: Spot) -> tuple[Way, ...]:
        """The ways to pass a tile; empty if it is solid."""
        solid = spot[1] in self.by_name[spot[0]].solid
        return () if solid else self.signs[self.sign_at(spot)].ways

    def beside(self, spot: Spot, side: str) -> Spot | None:
        """The neighbouring tile, also across the edge of the room; None if there is none."""
        room, (row, column) = spot
        row, column = row + AROUND[side][0], column + AROUND[side][1]
        if 0 <= row < ROWS and 0 <= column < COLUMNS:
            return room, (row, column)
        there = self.by_name[room].ways.get(side)
        return (there, (row % ROWS, column % COLUMNS)) if there else None

    def stump_beside(self, spot: Spot) -> Tile:
        """The tile of the stump that can be used from a tile."""
        around = filter(None, (self.beside(spot, side) for side in AROUND))
        return next(it[1] for it in around if "turn" in {way.how for way in self.ways(it)})

    def ground(self, room: str) -> tuple[Tile, ...]:
        """Walkable tiles of a room in any season, without exits."""
        return tuple(
            (row, column)
            for row in range(ROWS)
            for column in range(COLUMNS)
            if (room, (row, column)) not in self.passages
            and any(way.how == "walk" for way in self.ways((room, (row, column))))
        )


def world_of(game: str | None) -> World | None:
    """The world of a game, by default Seedling Vale; None for an unknown game."""
    text = world_json(game or GAME)
    return None if text is None else _read(text)


@lru_cache(maxsize=32)
def _read(text: str) -> World:
    return World.model_validate_json(text)
