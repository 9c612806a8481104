"""The graph of rooms, learned from crossings in play, and routes in it.

Crossings are directed. The reverse of an edge may be assumed, at a higher cost.
"""

import heapq
import json
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import count
from typing import Literal, NamedTuple

from rlaif.game.machine.actions import Action
from rlaif.game.motion.grid import OPPOSITE, WALKS
from rlaif.game.motion.terrain import TILE

VERSION = 1

ASSUMED_COST = 200.0
"""Additional cost of an assumed crossing, in pixels, so that known ones are preferred."""

CROSSING_COST = 24.0
"""Cost of a crossing, in pixels of walking; a scroll lasts about that many frames."""

MAX_CROSSINGS = 4096
"""More than a game has; the least recently used one is dropped."""


class RoomGraphError(ValueError):
    """A stored graph cannot be read."""


class RoomId(NamedTuple):
    """A room: its map group and its number in the group."""

    group: int
    room: int


@dataclass(frozen=True)
class Crossing:
    """A transition from one room to another; positions are in pixels."""

    start: RoomId
    end: RoomId
    kind: Literal["edge", "warp"]  # the screen scrolls; or a door, stairs, a cave mouth or a hole
    direction: Action  # of the edge, or the direction that the player faced
    x: int  # last position in the first room
    y: int
    arrival_x: int  # first position with control in the other room
    arrival_y: int
    assumed: bool = False  # not walked yet: the reverse of an edge that was

    @property
    def key(self) -> "_Key":
        place = (self.y // TILE, self.x // TILE)
        return (self.start, self.end, self.kind, self.direction, *place)

    def back(self) -> "Crossing":
        return replace(
            self,
            start=self.end,
            end=self.start,
            direction=OPPOSITE[self.direction],
            x=self.arrival_x,
            y=self.arrival_y,
            arrival_x=self.x,
            arrival_y=self.y,
            assumed=True,
        )


_Key = tuple[RoomId, RoomId, str, Action, int, int]


class RoomGraph:
    """The known crossings, at most `limit` of them."""

    def __init__(self, crossings: Collection[Crossing] = (), *, limit: int = MAX_CROSSINGS) -> None:
        self._limit = limit
        self._known: dict[_Key, Crossing] = {}
        # By room, so that a route search visits only the crossings of a room.
        self._out_of: defaultdict[RoomId, dict[_Key, Crossing]] = defaultdict(dict)
        self._into: defaultdict[RoomId, dict[_Key, Crossing]] = defaultdict(dict)
        for crossing in crossings:
            self.add_crossing(crossing)

    def __len__(self) -> int:
        return len(self._known)

    def __iter__(self) -> Iterator[Crossing]:
        return iter(self._known.values())

    @property
    def rooms(self) -> set[RoomId]:
        return {room for c in self for room in (c.start, c.end)}

    def add_crossing(self, crossing: Crossing) -> bool:
        """Add a crossing or update its positions; returns whether it is new."""
        new = not self._forget(crossing.key)
        for known in (self._known, self._out_of[crossing.start], self._into[crossing.end]):
            known[crossing.key] = crossing
        if len(self._known) > self._limit:
            self._forget(next(iter(self._known)))
        return new

    def _forget(self, key: _Key) -> bool:
        crossing = self._known.pop(key, None)
        if crossing is None:
            return False
        del self._out_of[crossing.start][key], self._into[crossing.end][key]
        return True

    def leaving(self, room: RoomId) -> list[Crossing]:
        """Crossings out of a room, edges crossed from the other side included."""
        known = list(self._out_of.get(room, {}).values())
        walked = {(c.end, c.direction) for c in known if c.kind == "edge"}
        backs = [c.back() for c in self._into.get(room, {}).values() if c.kind == "edge"]
        return known + [c for c in backs if (c.end, c.direction) not in walked]

    def route(
        self,
        start: RoomId,
        end: RoomId,
        *,
        x: int = 80,
        y: int = 64,
        without: Collection[Crossing] = (),
    ) -> list[Crossing] | None:
        """The shortest known route from pixel (x, y) of one room to another room.

        Returns:
            The crossings in order, [] if the rooms are the same, None if there is no route.
        """
        closed = {crossing.key for crossing in without}
        order = count()
        queue = [(0.0, next(order), start, (x, y), list[Crossing]())]
        settled: set[tuple[RoomId, int, int]] = set()
        while queue:
            cost, _, room, (px, py), way = heapq.heappop(queue)
            if room == end:
                return way
            if (room, px // TILE, py // TILE) in settled:
                continue
            settled.add((room, px // TILE, py // TILE))
            for crossing in self.leaving(room):
                if crossing.key not in closed:
                    walk = abs(crossing.x - px) + abs(crossing.y - py) + CROSSING_COST
                    total = cost + walk + (ASSUMED_COST if crossing.assumed else 0.0)
                    arrival = (crossing.arrival_x, crossing.arrival_y)
                    entry = (total, next(order), crossing.end, arrival, [*way, crossing])
                    heapq.heappush(queue, entry)
        return None

    def to_json(self) -> str:
        """All crossings as JSON, in a canonical order."""
        crossings = [asdict(c) | {"direction": c.direction.name.lower()} for c in self]
        crossings.sort(key=lambda c: json.dumps(c, sort_keys=True))
        return json.dumps({"version": VERSION, "crossings": crossings}, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "RoomGraph":
        """Parse the output of `to_json`; RoomGraphError for anything else."""
        try:
            stored = json.loads(text)
            if stored["version"] != VERSION:
                raise RoomGraphError(f"room graph version {stored['version']}, expected {VERSION}")
            return cls([_crossing(fields) for fields in stored["crossings"]])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise RoomGraphError(f"not a stored room graph: {error!r}") from error


def _crossing(fields: dict[str, object]) -> Crossing:
    kind = fields["kind"]
    if kind not in ("edge", "warp"):
        raise RoomGraphError(f"unknown kind of crossing {kind!r}")
    direction = Action[str(fields["direction"]).upper()]
    if direction not in WALKS:
        raise RoomGraphError(f"{direction.name} is not a direction")
    places = {name: int(str(fields[name])) for name in ("x", "y", "arrival_x", "arrival_y")}
    return Crossing(
        start=_room(fields["start"]),
        end=_room(fields["end"]),
        kind="edge" if kind == "edge" else "warp",
        direction=direction,
        assumed=bool(fields["assumed"]),
        **places,
    )


def _room(stored: object) -> RoomId:
    if not isinstance(stored, list) or len(stored) != 2:
        raise RoomGraphError(f"{stored!r} is not a room: expected [group, room]")
    return RoomId(int(stored[0]), int(stored[1]))
