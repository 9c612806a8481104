"""MOVE_TO: walk to a tile, into a room, or to a tile of another room.

What cannot be reached is said at once, by the room's walls, before a step is taken. Between rooms
it takes the ways that are known; where none is known it walks over the edge that leads nearer, if
the rooms lie on a map.
"""

from rlaif.contracts.plans import MoveTo
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.predicates import has_control
from rlaif.game.navigation.goals import Enter, Leave, OnTile, Reach, Target
from rlaif.game.navigation.grid import TilePlace
from rlaif.game.navigation.navigator import Navigator, TripSettings
from rlaif.game.navigation.room_graph import RoomGraph, RoomId
from rlaif.game.navigation.room_map import edges_towards
from rlaif.game.navigation.room_watcher import Standing, standing
from rlaif.game.navigation.terrain import TILE, terrain_of
from rlaif.game.navigation.walker import Decision, WalkSettings
from rlaif.game.options.option import Choice, OptionLimits, done, failed


class MoveToOption:
    """A trip; it learns the crossings that it makes into `graph`."""

    def __init__(
        self, macro: MoveTo, *, graph: RoomGraph, limits: OptionLimits, frames: int = 4
    ) -> None:
        settings = TripSettings(
            walk=WalkSettings(frames=frames, approaches=False),
            most_steps=limits.most_steps,
            most_waiting=limits.most_waiting,
        )
        self._macro, self._navigator = macro, Navigator(graph, settings)
        self._target: Target | None = None
        self._trodden: set[tuple[RoomId, Action]] = set()
        self._end: Choice | None = None

    def next(self, ram: RamBlocks) -> Choice:
        """The next button of the trip, or its end."""
        if self._end is None:
            choice = self._choose(ram)
            if not choice.over:
                return choice
            self._end = choice
        return self._end

    def _choose(self, ram: RamBlocks) -> Choice:
        here = standing(ram)
        if self._target is None:
            self._room, self._start = _room(self._macro, here), here.room
            self._go(Reach(self._room) if here.room != self._room else self._in_room(ram, here))
        if here.room != self._room == self._start and not isinstance(self._target, Enter):
            return failed("left_room", f"in room {here.room.group}/{here.room.room}")
        decision = self._navigator.next(ram)
        while decision.done:
            following = self._after(decision, ram, here)
            if isinstance(following, Choice):
                return following
            self._go(following)
            decision = self._navigator.next(ram)
        return Choice("running", decision.action)

    def _go(self, target: Target) -> None:
        self._target = target
        self._navigator.go(target)

    def _after(self, decision: Decision, ram: RamBlocks, here: Standing) -> Target | Choice:
        """Where to go on to when a part of the trip is over, or how the trip ended."""
        if decision.status == "lost":
            return failed("timeout" if has_control(ram) else "no_control", decision.reason)
        if decision.status == "arrived":
            if here.room != self._room and isinstance(self._target, Leave):
                return Reach(self._room)
            if isinstance(self._target, (OnTile, Enter)) or self._macro.column is None:
                return done(decision.reason)
            return self._in_room(ram, here)
        if here.room != self._room:
            edge = self._edge_towards(ram, here)
            if edge is not None:
                return edge
        return failed("unreachable", decision.reason)

    def _edge_towards(self, ram: RamBlocks, here: Standing) -> Leave | None:
        """An edge that leads nearer on the map and was not tried yet."""
        for direction in edges_towards(ram, here.room, self._room):
            if (here.room, direction) not in self._trodden:
                self._trodden.add((here.room, direction))
                return Leave(here.room, direction)
        return None

    def _in_room(self, ram: RamBlocks, here: Standing) -> Target:
        if self._macro.column is None or self._macro.row is None:
            return Reach(here.room)
        tile = TilePlace(self._macro.row, self._macro.column)
        height, width = here.size
        is_inside = tile.row * TILE < height and tile.column * TILE < width
        if is_inside and terrain_of(ram).warps()[tile]:
            return Enter(here.room, tile)
        return OnTile(here.room, tile)


def _room(macro: MoveTo, here: Standing) -> RoomId:
    if macro.room is None:
        return here.room
    group, room = macro.room.split("/")
    return RoomId(int(group), int(room))
