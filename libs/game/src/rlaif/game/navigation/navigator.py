"""Goes to a target, also in another room: the RAM of each step in, the next action out.

    navigator = Navigator(graph)
    navigator.go(Place(RoomId(0, 0x55), 72, 40))
    while not (decision := navigator.next(read_blocks(emulator))).done:
        emulator.step(decision.action, 4)

On the way it learns the crossings between rooms; keep the graph to go farther next time.
"""

from dataclasses import dataclass, field

from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.predicates import has_control, is_running, is_text
from rlaif.game.navigation.goals import Enter, Goal, Leave, Reach, Target
from rlaif.game.navigation.grid import tile_under
from rlaif.game.navigation.room_graph import Crossing, RoomGraph
from rlaif.game.navigation.room_watcher import RoomWatcher, Standing, standing
from rlaif.game.navigation.walker import Decision, Walker, WalkSettings


@dataclass(frozen=True)
class TripSettings:
    """How patiently to travel."""

    walk: WalkSettings = field(default_factory=WalkSettings)
    most_steps: int = 3000  # decision steps of the whole trip
    most_waiting: int = 400  # decision steps in a row without control
    closes_text: bool = True  # press A to close a text on the way
    assume_return: bool = True  # trust that edges can be crossed the other way, too


class Navigator:
    """One trip at a time."""

    def __init__(
        self, graph: RoomGraph | None = None, settings: TripSettings | None = None
    ) -> None:
        self.graph = RoomGraph() if graph is None else graph
        self._settings = settings or TripSettings()
        self._watcher = RoomWatcher()
        self._target: Target | None = None

    def go(self, target: Target) -> None:
        """Start a trip; the one before ends."""
        self._target = target
        self._steps = self._waited = 0
        self._was_there = False
        self._closed: list[Crossing] = []
        self._walker: tuple[Goal, Walker] | None = None

    def watch(self, ram: RamBlocks) -> None:
        """Learn from a step that something else decided."""
        crossing = self._watcher.see(ram)
        if crossing is not None:
            self.graph.add_crossing(crossing)

    def next(self, ram: RamBlocks) -> Decision:
        """The next action of the trip; ValueError when there is none: call `go` first."""
        if self._target is None:
            raise ValueError("no target: call go(target) first")
        self.watch(ram)
        self._steps += 1
        if self._steps > self._settings.most_steps:
            return Decision("lost", reason=f"not there after {self._settings.most_steps} steps")
        if not has_control(ram):
            return self._wait(ram)
        self._waited = 0
        here = standing(ram)
        if self._is_there(self._target, here):
            return Decision("arrived", reason=f"in room {here.room.group}:{here.room.room:02X}")
        return self._walk(ram, here, self._target)

    def _wait(self, ram: RamBlocks) -> Decision:
        self._waited += 1
        if not is_running(ram):
            return Decision("lost", reason="no game is being played")
        if self._waited > self._settings.most_waiting:
            return Decision("lost", reason=f"no control for {self._waited - 1} steps")
        if is_text(ram):
            press = self._settings.closes_text and self._waited % 2 == 0
            return Decision("waiting", Action.A if press else Action.NOP, "a text is open")
        return Decision("waiting", reason="the game does not listen")

    def _is_there(self, target: Target, here: Standing) -> bool:
        if isinstance(target, Reach):
            return here.room == target.room
        if isinstance(target, (Leave, Enter)):
            left = self._was_there and here.room != target.room
            self._was_there = here.room == target.room
            return left
        return False

    def _walk(self, ram: RamBlocks, here: Standing, target: Target) -> Decision:
        while True:
            crossing = None
            if isinstance(target, Reach) or here.room != target.room:
                crossing = self._crossing_ahead(here, target)
                if crossing is None:
                    return Decision("blocked", reason=self._no_way(here, target))
                goal = _goal_of(crossing)
            else:
                goal = target
            if self._walker is None or self._walker[0] != goal:
                self._walker = (goal, Walker(goal, self._settings.walk))
            decision = self._walker[1].next(ram)
            if decision.status != "blocked" or crossing is None:
                return decision
            self._closed.append(crossing)  # look for another way round
            self._walker = None

    def _crossing_ahead(self, here: Standing, target: Target) -> Crossing | None:
        """The crossing on the way, the same one until it was crossed or given up."""
        if self._walker is not None and self._walker[0].room == here.room:
            for crossing in self.graph.leaving(here.room):
                if _goal_of(crossing) == self._walker[0] and crossing not in self._closed:
                    return crossing
        route = self.graph.route(
            here.room,
            target.room,
            x=here.x,
            y=here.y,
            without=self._closed,
            assume_return=self._settings.assume_return,
        )
        return route[0] if route else None

    def _no_way(self, here: Standing, target: Target) -> str:
        start, end = here.room, target.room
        known = f"{len(self.graph)} crossings are known"
        closed = f", {len(self._closed)} of them did not work" if self._closed else ""
        return (
            f"no known way from room {start.group}:{start.room:02X} "
            f"to room {end.group}:{end.room:02X}; {known}{closed}"
        )


def _goal_of(crossing: Crossing) -> Goal:
    if crossing.kind == "edge":
        return Leave(crossing.start, crossing.direction, crossing.x, crossing.y)
    return Enter(crossing.start, tile_under(crossing.x, crossing.y))
