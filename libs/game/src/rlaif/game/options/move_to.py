"""MOVE_TO: walk to a tile, into a room, or to a tile of another room."""

from rlaif.contracts.plans import MoveTo
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.navigation.goals import Enter, Place, Reach, Target
from rlaif.game.navigation.grid import TilePlace
from rlaif.game.navigation.navigator import Navigator, TripSettings
from rlaif.game.navigation.room_graph import RoomGraph, RoomId
from rlaif.game.navigation.room_watcher import standing
from rlaif.game.navigation.terrain import TILE, terrain_of
from rlaif.game.navigation.walker import WalkSettings
from rlaif.game.options.option import Choice, OptionLimits, done, failed

_WALK = WalkSettings(place_tolerance=2)
"""Three pixels off its middle the feet may be on the next tile, and no button goes down."""


class MoveToOption:
    """A trip; it learns the crossings that it makes into `graph`."""

    def __init__(self, macro: MoveTo, *, graph: RoomGraph, limits: OptionLimits) -> None:
        settings = TripSettings(
            walk=_WALK, most_steps=limits.most_steps, most_waiting=limits.most_waiting
        )
        self._macro, self._navigator = macro, Navigator(graph, settings)
        self._started = False

    def next(self, ram: RamBlocks) -> Choice:
        """The next button of the trip, or its end."""
        if not self._started:
            self._navigator.go(_target(self._macro, ram))
            self._started = True
        decision = self._navigator.next(ram)
        if decision.status == "arrived":
            return done(decision.reason)
        if decision.status == "blocked":
            return failed("unreachable", decision.reason)
        if decision.status == "lost":
            return failed("timeout", decision.reason)
        return Choice("running", decision.action)


def _target(macro: MoveTo, ram: RamBlocks) -> Target:
    here = standing(ram).room
    room = here if macro.room is None else RoomId(*(int(part) for part in macro.room.split("/")))
    if macro.column is None or macro.row is None:
        return Reach(room)
    tile = TilePlace(macro.row, macro.column)
    if room == here and terrain_of(ram).warps()[tile]:
        return Enter(room, tile)
    return Place(room, tile.column * TILE + TILE // 2, tile.row * TILE + TILE // 2)
