"""The ways between rooms, learned while a runner's games are played; for plans that cross them."""

from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import has_control
from rlaif.game.motion.grid import OPPOSITE
from rlaif.game.motion.room_graph import RoomGraph
from rlaif.game.motion.room_watcher import RoomWatcher
from rlaif.trainer.rewards.game.facts import GameFacts

_GROUP, _ROOM = address("wActiveGroup"), address("wActiveRoom")

MOST_WAYS = 4096
"""Crossings that a runner knows at most; Oracle of Seasons has some 1,500 rooms."""


class WayLearner:
    """Follows one environment, and adds what it crosses to a graph that all of a runner share.

    Where the player was is known at each step, for nothing; the RAM is looked at only when another
    scene comes. Whoever walks through a door or over an edge faces where he walks to.
    """

    def __init__(self, graph: RoomGraph) -> None:
        self._graph = graph
        self._watcher = RoomWatcher()
        self._here: tuple[int, int] | None = None

    def begin_episode(self) -> None:
        """He was put elsewhere: no way leads there."""
        self._watcher.forget()
        self._here = None

    def see(self, ram: RamBlocks, before: GameFacts, action: int) -> None:
        """The RAM of a new scene, after `action` was played at `before`."""
        room = (ram.u8(_GROUP), ram.u8(_ROOM))
        if room == self._here:
            return
        walked = Action(action)
        self._watcher.moved(before.x, before.y, walked if walked in OPPOSITE else None)
        crossing = self._watcher.see(ram)
        self._here = room if has_control(ram) else None
        if crossing is not None and len(self._graph) < MOST_WAYS:
            self._graph.add_crossing(crossing)
