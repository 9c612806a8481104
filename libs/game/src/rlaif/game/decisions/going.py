"""Going to a thing and leaving the room: closed loop, one look at the ground a base step."""

from collections.abc import Generator
from typing import Literal

from rlaif.game.decisions.ground import DANGER_REACH, Goal, Ground, ground_of, tiles_of
from rlaif.game.decisions.kernels import ARRIVED
from rlaif.game.decisions.moment import listens, place_of
from rlaif.game.decisions.things import goal_at
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.entities import enemies, player_position
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import is_text_choice
from rlaif.game.navigation.grid import FEET, WALKS, TilePlace
from rlaif.game.navigation.room_graph import OPPOSITE, RoomGraph
from rlaif.game.navigation.room_watcher import FACING_ACTIONS, RoomWatcher
from rlaif.game.navigation.terrain import TILE, TILE_COLUMNS
from rlaif.game.options.attending import attend
from rlaif.game.options.option import Choice, done, failed
from rlaif.game.options.room_tiles import AHEAD
from rlaif.game.options.script import Script

End = Literal["arrived", "left", "blocked", "asked"]
Walked = Generator[Action, RamBlocks, tuple[End, RamBlocks]]

_FACING = address("w1Link.direction")
_ALIGNED = {"on": 4, "into": TILE, "at": 4, "before": 2, "over": 0, "away": 0}
"""Pixels off the middle of the tile at most."""

_ANYHOW = {"on": TILE, "into": TILE, "at": 8, "before": TILE, "over": 0, "away": 0}
"""The same where no way leads so near."""

_STILL_STEPS = 8
_LOOKS_EVERY = 6
_STEPS_AHEAD = 9
_NEAR = 48
"""Pixels to an enemy, within which ways lead past it at a distance."""

_FIRST = tuple(next((way for way in WALKS if bits >> way & 1), Action.NOP) for bits in range(16))


def leave(ram: RamBlocks, way: Action, graph: RoomGraph) -> Script:
    """Done in the room beyond the edge."""
    return (yield from _into_another(ram, Goal("over", ways=1 << way), graph))


def go_to(ram: RamBlocks, tile: TilePlace, graph: RoomGraph) -> Script:
    """Done before what stands there, on what lies there, or behind a door."""
    goal = goal_at(ram, tile)
    if goal.kind == "into":
        if _tile_under(ram) == goal.tile:
            ram = yield from _step_off(ram)
        return (yield from _into_another(ram, goal, graph))
    end, ram = yield from walk_to(ram, goal)
    return _told(end)


def walk_to(ram: RamBlocks, goal: Goal) -> Walked:
    """Walk until the goal is reached, another room is, or nothing moves any more."""
    return (yield from _Walk(ram, goal).steps(ram))


def _into_another(ram: RamBlocks, goal: Goal, graph: RoomGraph) -> Script:
    watcher, walk = RoomWatcher(), _Walk(ram, goal)
    watcher.see(ram)
    end, ram = yield from walk.steps(ram)
    if end == "left":
        if walk.last is not None:
            watcher.see(walk.last)
        crossing = watcher.see(ram)
        if crossing is not None:
            graph.add_crossing(crossing)
        return done("in another room")
    return _told(end)


def _told(end: End) -> Choice:
    if end == "arrived":
        return done("there")
    if end == "asked":
        return done("a question is open")
    if end == "left":
        return failed("left_room", "another room than was asked for")
    return failed("unreachable", "no way leads there")


class _Walk:
    """One way in one room."""

    def __init__(self, ram: RamBlocks, goal: Goal) -> None:
        self._goal, self._place = goal, place_of(ram)
        self._ground: Ground | None = None
        self._held, self._still, self._looked, self._insisted = Action.NOP, 0, 0, 0
        self._turning = False
        self._ways = self._tiles = b""
        self._before: tuple[int, int] | None = None
        self.last: RamBlocks | None = None  # the last moment in this room

    def steps(self, ram: RamBlocks) -> Walked:
        """The buttons of the way."""
        while True:
            if not listens(ram):
                ram = yield from attend(ram)
                if is_text_choice(ram):
                    return "asked", ram
                continue
            if place_of(ram) != self._place:
                return "left", ram
            self.last = ram
            x, y = player_position(ram)
            self._still = self._still + 1 if self._before == (x, y) else 0
            self._before = (x, y)
            step = self._step(ram, x, y)
            if isinstance(step, str):
                return step, ram
            self._held = step
            ram = yield step

    def _step(self, ram: RamBlocks, x: int, y: int) -> Action | End:
        if self._turning and self._faces(ram, x, y):
            return "arrived"
        self._turning = False
        if self._still > _STILL_STEPS:
            return "blocked"
        ground, tiles = self._ground, tiles_of(ram)
        if ground is None or ground.on_door or self._looked <= 0 or tiles != self._tiles:
            ground, self._tiles = ground_of(ram), tiles
            self._look(ram, ground, (x, y))
        first = self._ways[ground.index(x, y)]
        if not first and self._looked < _LOOKS_EVERY:  # pushed out of what was looked at
            self._look(ram, ground, (x, y))
            first = self._ways[ground.index(x, y)]
        self._looked -= 1
        if first & ARRIVED:
            return self._arrive(ram, x, y, Action(first & 0x0F))
        if not first:
            return "blocked"
        held = self._held
        return held if first >> held & 1 else _FIRST[first]

    def _look(self, ram: RamBlocks, ground: Ground, at: tuple[int, int]) -> None:
        """Choose the way: the plain one that is known, or one past the enemies that are near."""
        self._ground = ground
        index, aside = ground.index(*at), _ALIGNED[self._goal.kind]
        ways = ground.ways(self._goal, aside)
        if not ways[index]:
            aside = _ANYHOW[self._goal.kind]
            ways = ground.ways(self._goal, aside)
        self._looked = _LOOKS_EVERY
        dangers = [
            (foe.x, foe.y)
            for foe in enemies(ram)
            if foe.health and abs(foe.x - at[0]) <= _NEAR and abs(foe.y - at[1]) <= _NEAR
        ]
        if dangers and self._runs_into(ground, ways, at, dangers):
            ways = ground.ways_past(self._goal, aside, dangers, at)
        self._ways = ways

    @staticmethod
    def _runs_into(
        ground: Ground, ways: bytes, at: tuple[int, int], dangers: list[tuple[int, int]]
    ) -> bool:
        """Whether the next steps of a way lead near to a danger."""
        for _ in range(_STEPS_AHEAD):
            first = ways[ground.index(*at)]
            if not first or first & ARRIVED:
                return False
            at = ground.after(*at, _FIRST[first])
            if any(max(abs(x - at[0]), abs(y - at[1])) <= DANGER_REACH for x, y in dangers):
                return True
        return False

    def _arrive(self, ram: RamBlocks, x: int, y: int, way: Action) -> Action | End:
        """The last step: over the edge, into the door, or turned towards the tile."""
        kind = self._goal.kind
        if kind in ("on", "at", "away"):
            return "arrived"
        if kind == "before":
            self._turning = True
            return "arrived" if self._faces(ram, x, y) else way
        self._insisted += 1
        if self._insisted > _STILL_STEPS:
            return "blocked"
        return way if kind == "over" else self._held

    def _faces(self, ram: RamBlocks, x: int, y: int) -> bool:
        """Whether he is turned towards the tile, with nothing between."""
        facing = FACING_ACTIONS[ram.u8(_FACING) & 3]
        dy, dx = AHEAD[facing]
        ahead = (y + dy) // TILE * TILE_COLUMNS + (x + dx) // TILE
        if ahead != self._goal.tile or not self._goal.ways >> facing & 1:
            return False
        return not self._goal.brink or ground_of(ram).kills(x, y, facing)


def _tile_under(ram: RamBlocks) -> int:
    x, y = player_position(ram)
    return (y + FEET) // TILE * TILE_COLUMNS + x // TILE


def _step_off(ram: RamBlocks) -> Generator[Action, RamBlocks, RamBlocks]:
    """Off the door through which he came, so that it can be entered."""
    tile = _tile_under(ram)
    x, y = player_position(ram)
    ground = ground_of(ram)
    facing = FACING_ACTIONS[ram.u8(_FACING) & 3]
    ways = [facing, *(way for way in WALKS if way not in (facing, OPPOSITE[facing]))]
    for way in ways:
        if ground.stops(x, y, way) or ground.kills(x, y, way):
            continue
        for _ in range(TILE // 4 + 1):
            if _tile_under(ram) != tile:
                return ram
            ram = yield way
    return ram
