"""How rooms hang together, learned from play: crossings in, a route from room to room out.

Every crossing is directed: that a way leads back is known once it was walked. What scrolls over an
edge may be assumed to lead back, at a price.
"""

import heapq
import json
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import count
from pathlib import Path
from typing import Literal, NamedTuple

from rlaif.files.whole import write_whole
from rlaif.game.machine.actions import Action
from rlaif.game.navigation.grid import WALKS
from rlaif.game.navigation.terrain import TILE

VERSION = 1

ASSUMED_COST = 200.0
"""Pixels that an assumed way back costs more: known ways are preferred to it."""

CROSSING_COST = 24.0
"""Pixels of walking that a crossing takes as long as; a scroll lasts about that many frames."""

OPPOSITE = {
    Action.UP: Action.DOWN,
    Action.DOWN: Action.UP,
    Action.LEFT: Action.RIGHT,
    Action.RIGHT: Action.LEFT,
}
"""The d-pad direction that leads back."""


MOST_CROSSINGS = 4096
"""More than a game has ways from tile to tile; what was not walked for longest is forgotten."""


class RoomGraphError(ValueError):
    """A stored graph cannot be read."""


class RoomId(NamedTuple):
    """A room: its map group and its number in it."""

    group: int
    room: int


@dataclass(frozen=True)
class Crossing:
    """A way from one room into another; places are in pixels."""

    start: RoomId
    end: RoomId
    kind: Literal["edge", "warp"]  # the screen scrolls; or a door, stairs, a cave mouth or a hole
    direction: Action  # over which edge, or where the player was facing
    x: int  # where the player last stood in the room that is left
    y: int
    arrival_x: int  # where he stood first with control in the other room
    arrival_y: int
    assumed: bool = False  # not walked yet, but the way back of an edge that was

    @property
    def key(self) -> "_Key":
        """What tells crossings apart: rooms, kind, direction and tile."""
        place = (self.y // TILE, self.x // TILE)
        return (self.start, self.end, self.kind, self.direction, *place)

    def back(self) -> "Crossing":
        """The way back over the same edge, assumed."""
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
    """The crossings seen so far, at most `most` of them."""

    def __init__(self, crossings: Collection[Crossing] = (), *, most: int = MOST_CROSSINGS) -> None:
        self._most = most
        self._known: dict[_Key, Crossing] = {}
        # By room, so that a route does not look at all of them in every room.
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
        """The rooms seen."""
        return {room for c in self for room in (c.start, c.end)}

    def add_crossing(self, crossing: Crossing) -> bool:
        """Learn a crossing; whether it is new. The latest places are kept."""
        new = not self._forget(crossing.key)
        for known in (self._known, self._out_of[crossing.start], self._into[crossing.end]):
            known[crossing.key] = crossing
        if len(self._known) > self._most:
            self._forget(next(iter(self._known)))
        return new

    def _forget(self, key: _Key) -> bool:
        """Whether it was known."""
        crossing = self._known.pop(key, None)
        if crossing is None:
            return False
        del self._out_of[crossing.start][key], self._into[crossing.end][key]
        return True

    def leaving(self, room: RoomId, *, assume_return: bool = True) -> list[Crossing]:
        """The ways out of a room; with `assume_return` also edges seen from the other side."""
        known = list(self._out_of.get(room, {}).values())
        if not assume_return:
            return known
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
        assume_return: bool = True,
    ) -> list[Crossing] | None:
        """The shortest known way from a pixel of one room to another, as crossings in order.

        [] when already there, None when there is none. Those in `without` do not work at present;
        `assume_return` trusts that edges can be crossed the other way, too.
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
            for crossing in self.leaving(room, assume_return=assume_return):
                if crossing.key not in closed:
                    walk = abs(crossing.x - px) + abs(crossing.y - py) + CROSSING_COST
                    total = cost + walk + (ASSUMED_COST if crossing.assumed else 0.0)
                    arrival = (crossing.arrival_x, crossing.arrival_y)
                    entry = (total, next(order), crossing.end, arrival, [*way, crossing])
                    heapq.heappush(queue, entry)
        return None

    def to_json(self) -> str:
        """All crossings as JSON, in a fixed order."""
        crossings = [asdict(c) | {"direction": c.direction.name.lower()} for c in self]
        crossings.sort(key=lambda c: json.dumps(c, sort_keys=True))
        return json.dumps({"version": VERSION, "crossings": crossings}, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "RoomGraph":
        """What `to_json` wrote; RoomGraphError when it is something else."""
        try:
            stored = json.loads(text)
            if stored["version"] != VERSION:
                raise RoomGraphError(f"room graph version {stored['version']}, expected {VERSION}")
            return cls([_crossing(fields) for fields in stored["crossings"]])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise RoomGraphError(f"not a stored room graph: {error!r}") from error

    def save(self, path: Path) -> None:
        """Write it to a file, whole or not at all."""
        write_whole(path, self.to_json().encode())


def _crossing(fields: dict[str, object]) -> Crossing:
    kind = fields["kind"]
    if kind not in ("edge", "warp"):
        raise RoomGraphError(f"unknown kind of crossing {kind!r}")
    direction = Action[str(fields["direction"]).upper()]
    if direction not in WALKS:
        raise RoomGraphError(f"{direction.name} is no direction")
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
        raise RoomGraphError(f"{stored!r} is no room: expected [group, room]")
    return RoomId(int(stored[0]), int(stored[1]))
