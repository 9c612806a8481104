"""Learns the crossings between rooms from the scenes of an environment."""

from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import has_control
from rlaif.game.motion.grid import OPPOSITE
from rlaif.game.motion.room_graph import RoomGraph
from rlaif.game.motion.room_watcher import RoomWatcher
from rlaif.trainer.rewards.game.facts import GameFacts

_GROUP, _ROOM = address("wActiveGroup"), address("wActiveRoom")


class CrossingLearner:
    """Adds the room crossings of one environment to a graph that the runner's games share."""

    def __init__(self, graph: RoomGraph) -> None:
        self._graph = graph
        self._watcher = RoomWatcher()
        self._here: tuple[int, int] | None = None

    def see(self, ram: RamBlocks, before: GameFacts, action: int) -> None:
        """Process the RAM of a new scene after `action` was played at `before`."""
        room = (ram.u8(_GROUP), ram.u8(_ROOM))
        if room == self._here:
            return
        walked = Action(action)
        self._watcher.moved(before.x, before.y, walked if walked in OPPOSITE else None)
        crossing = self._watcher.see(ram)
        self._here = room if has_control(ram) else None
        if crossing is not None:
            self._graph.add_crossing(crossing)
