"""Walks within a room and between rooms, in closed loop: every step starts from RAM."""

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import Literal

from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.entities import enemies, player_position
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import has_control, is_text_choice
from rlaif.game.motion.grid import AHEAD, FEET, OPPOSITE, WALKS, TilePlace, tile_of
from rlaif.game.motion.ground import DANGER_REACH, FRAMES, Goal, Ground, ground_of, tiles_of
from rlaif.game.motion.kernels import ARRIVED
from rlaif.game.motion.room_graph import Crossing, RoomGraph, RoomId
from rlaif.game.motion.room_watcher import (
    FACING_ACTIONS,
    RoomWatcher,
    in_room,
    place_of,
    standing,
    tile_ahead,
    tile_under,
)
from rlaif.game.motion.terrain import TILE, TILE_COLUMNS, terrain_of
from rlaif.game.motion.things import goal_at
from rlaif.game.skills.attend import attend, take_control
from rlaif.game.skills.script import Choice, GiveUp, Part, Script, done, failed

End = Literal["arrived", "left", "blocked", "asked"]
Walked = Generator[Action, RamBlocks, tuple[End, RamBlocks]]

DETOURS = 6
"""Tiles that a planner's walk may find closed although they are free in RAM."""

_FACING = address("w1Link.direction")
_CENTERED = {"on": 4, "into": TILE, "at": 4, "before": 2, "over": 0, "away": 0}
"""Maximum distance from the center of the tile, in pixels."""

_ANYWHERE = {"on": TILE, "into": TILE, "at": 8, "before": TILE, "over": 0, "away": 0}
"""Maximum distance if no path leads that near."""

_STILL_STEPS = 8
_REPLAN_STEPS = 6
_STEPS_AHEAD = 9
_NEAR = 48
"""Pixels to an enemy within which paths keep a distance from it."""

_FIRST = tuple(next((way for way in WALKS if bits >> way & 1), Action.NOP) for bits in range(16))


@dataclass(slots=True)
class _Plan:
    """First steps to the goal, valid for `left` steps while the tiles stay the same."""

    ground: Ground
    tiles: bytes
    first_steps: bytes
    left: int = _REPLAN_STEPS


class Walk:
    """A walk to one goal in one room.

    Attributes:
        last: The last RAM in this room, None before the first step.
    """

    def __init__(
        self, ram: RamBlocks, goal: Goal, *, frames: int = FRAMES, detours: int = 0
    ) -> None:
        """Walk in steps of `frames` frames, around at most `detours` tiles found closed."""
        self._goal, self._place = goal, place_of(ram)
        self._frames, self._detours = frames, detours
        self._closed: set[TilePlace] = set()
        self._plan: _Plan | None = None
        self._held, self._still, self._insisted = Action.NOP, 0, 0
        self._turning = False
        self._before: tuple[int, int] | None = None
        self.last: RamBlocks | None = None

    def steps(self, ram: RamBlocks) -> Walked:
        """The buttons of the walk; returns its end and the last RAM."""
        while True:
            if not has_control(ram):
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
        if self._still > _STILL_STEPS and not self._close_ahead(ram):
            return "blocked"
        plan, tiles = self._plan, tiles_of(ram)
        if plan is None or plan.ground.on_door or plan.left <= 0 or tiles != plan.tiles:
            plan = self._planned(ram, self._ground_of(ram), tiles, (x, y))
        first = plan.first_steps[plan.ground.index(x, y)]
        if not first and plan.left < _REPLAN_STEPS:  # pushed off the planned pixels
            plan = self._planned(ram, plan.ground, tiles, (x, y))
            first = plan.first_steps[plan.ground.index(x, y)]
        plan.left -= 1
        if first & ARRIVED:
            return self._arrive(ram, x, y, Action(first & 0x0F))
        if not first:
            return "blocked"
        held = self._held
        return held if first >> held & 1 else _FIRST[first]

    def _ground_of(self, ram: RamBlocks) -> Ground:
        return ground_of(ram, frames=self._frames, closed=self._closed)

    def _close_ahead(self, ram: RamBlocks) -> bool:
        """Treat the tile ahead as closed and plan again; False if no more detours are allowed."""
        tile = tile_ahead(ram)
        if len(self._closed) >= self._detours or tile in self._closed or not in_room(ram, tile):
            return False
        self._closed.add(tile)
        self._still, self._plan = 0, None
        return True

    def _planned(self, ram: RamBlocks, ground: Ground, tiles: bytes, at: tuple[int, int]) -> _Plan:
        index, aside = ground.index(*at), _CENTERED[self._goal.kind]
        found = ground.first_steps(self._goal, aside)
        if not found[index]:
            aside = _ANYWHERE[self._goal.kind]
            found = ground.first_steps(self._goal, aside)
        dangers = [
            (foe.x, foe.y)
            for foe in enemies(ram)
            if foe.health and abs(foe.x - at[0]) <= _NEAR and abs(foe.y - at[1]) <= _NEAR
        ]
        if dangers and self._meets(ground, found, at, dangers):
            found = ground.first_steps_avoiding(self._goal, aside, dangers, at)
        self._plan = _Plan(ground, tiles, found)
        return self._plan

    @staticmethod
    def _meets(
        ground: Ground, steps: bytes, at: tuple[int, int], dangers: list[tuple[int, int]]
    ) -> bool:
        for _ in range(_STEPS_AHEAD):
            first = steps[ground.index(*at)]
            if not first or first & ARRIVED:
                return False
            at = ground.after(*at, _FIRST[first])
            if any(max(abs(x - at[0]), abs(y - at[1])) <= DANGER_REACH for x, y in dangers):
                return True
        return False

    def _arrive(self, ram: RamBlocks, x: int, y: int, way: Action) -> Action | End:
        """The last step: over the edge, into the door, or turning towards the tile."""
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
        """Whether the player faces the tile with nothing between."""
        facing = FACING_ACTIONS[ram.u8(_FACING) & 3]
        dy, dx = AHEAD[facing]
        ahead = (y + dy) // TILE * TILE_COLUMNS + (x + dx) // TILE
        if ahead != self._goal.tile or not self._goal.directions >> facing & 1:
            return False
        return not self._goal.brink or self._ground_of(ram).kills(x, y, facing)


def walk_to(ram: RamBlocks, goal: Goal) -> Walked:
    """Walk until the goal or another room is reached, or there is no more movement."""
    return (yield from Walk(ram, goal).steps(ram))


def cross(
    ram: RamBlocks, goal: Goal, graph: RoomGraph, *, frames: int = FRAMES, detours: int = 0
) -> Walked:
    """Leave the room by an edge or a door, and add the crossing to `graph`."""
    if goal.kind == "into":
        ram = yield from _step_off(ram, goal)
    watcher, walk = RoomWatcher(), Walk(ram, goal, frames=frames, detours=detours)
    watcher.see(ram)
    end, ram = yield from walk.steps(ram)
    if end == "left":
        if walk.last is not None:
            watcher.see(walk.last)
        if (crossing := watcher.see(ram)) is not None:
            graph.add_crossing(crossing)
    return end, ram


# --- decisions of a policy --------------------------------------------------


def leave(ram: RamBlocks, direction: Action, graph: RoomGraph) -> Script:
    """Leave the room over an edge."""
    end, _ = yield from cross(ram, Goal("over", directions=1 << direction), graph)
    return done("in another room") if end == "left" else _result(end)


def go_to(ram: RamBlocks, tile: TilePlace, graph: RoomGraph) -> Script:
    """Go to a tile: before a solid one, onto a free one, through a door."""
    goal = goal_at(ram, tile)
    if goal.kind == "into":
        end, _ = yield from cross(ram, goal, graph)
        return done("in another room") if end == "left" else _result(end)
    end, ram = yield from walk_to(ram, goal)
    return _result(end)


def _result(end: End) -> Choice:
    if end == "arrived":
        return done("arrived")
    if end == "asked":
        return done("a question is open")
    if end == "left":
        return failed("left_room", "entered a room that was not the target")
    return failed("unreachable", "no path leads there")


def _step_off(ram: RamBlocks, door: Goal) -> Part:
    """Step off a door on which the player stands after arriving by it, so that it can be used."""
    tile = tile_under(ram)
    if _number(tile) != door.tile:
        return ram
    x, y = player_position(ram)
    ground = ground_of(ram)
    facing = FACING_ACTIONS[ram.u8(_FACING) & 3]
    for way in [facing, *(way for way in WALKS if way not in (facing, OPPOSITE[facing]))]:
        if ground.stops(x, y, way) or ground.kills(x, y, way):
            continue
        for _ in range(TILE // 4 + 1):
            if tile_under(ram) != tile:
                return ram
            ram = yield way
    return ram


# --- parts of other skills --------------------------------------------------


def stand_before(ram: RamBlocks, tile: TilePlace, directions: Iterable[Action] = WALKS) -> Part:
    """Walk to the nearest pixel from which the tile is faced in one of these directions.

    Raises:
        GiveUp: The tile is not in this room, or no path leads before it.
    """
    if not in_room(ram, tile):
        raise GiveUp("impossible", f"tile {tile.column},{tile.row} is not in this room")
    bits = sum(1 << direction for direction in directions)
    where = f"before tile {tile.column},{tile.row}"
    return (yield from _arrive(ram, Goal("before", _number(tile), bits), where))


def stand_on(ram: RamBlocks, tile: TilePlace, *, frames: int = FRAMES) -> Part:
    """Walk onto a tile, near its center if possible.

    Raises:
        GiveUp: No path leads onto the tile.
    """
    where = f"onto tile {tile.column},{tile.row}"
    return (yield from _arrive(ram, Goal("on", _number(tile)), where, frames=frames))


def touch(ram: RamBlocks, x: int, y: int) -> Part:
    """Walk to a pixel; GiveUp if no path leads there."""
    return (yield from _arrive(ram, Goal("at", y << 8 | x), f"to pixel {x},{y}"))


def flee_from(x: int, y: int) -> Goal:
    """The goal of leaving the reach of a bomb at a pixel."""
    return Goal("away", _number(tile_of(x, y)))


def is_reachable(ram: RamBlocks, goal: Goal) -> bool:
    """Whether a path leads to a goal."""
    ground = ground_of(ram)
    at = ground.index(*player_position(ram))
    return bool(ground.first_steps(goal, _ANYWHERE[goal.kind])[at])


def _arrive(ram: RamBlocks, goal: Goal, where: str, *, frames: int = FRAMES) -> Part:
    end, ram = yield from Walk(ram, goal, frames=frames, detours=DETOURS).steps(ram)
    if end == "arrived":
        return ram
    if end == "asked":
        raise GiveUp("no_control", "a question is open and needs an ANSWER")
    if end == "left":
        raise GiveUp("left_room", f"left the room on the way {where}")
    raise GiveUp("unreachable", f"no path {where}")


def _number(tile: TilePlace) -> int:
    return tile.row * TILE_COLUMNS + tile.column


_OUTDOORS, _DUNGEONS = (0, 1), (4, 5)
"""Groups whose rooms lie on one map: overworld and Subrosia; dungeons, by floor."""

_OUTDOOR_COLUMNS, _FLOOR_COLUMNS, _FLOOR_ROOMS = 16, 8, 64


def move_to(
    ram: RamBlocks, room: RoomId | None, tile: TilePlace | None, graph: RoomGraph, frames: int
) -> Script:
    """Walk to a tile, into a room, or to a tile of another room; learns crossings into `graph`."""
    before = place_of(ram)
    ram = yield from take_control(ram)
    if room is not None:
        ram = yield from _travel(ram, room, graph, frames)
    elif place_of(ram) != before:
        raise GiveUp("left_room", "a scene led to another room than that of the tile")
    if tile is None:
        return done("in the room")
    if not in_room(ram, tile):
        raise GiveUp("unreachable", f"tile {tile.column},{tile.row} is not in this room")
    if not terrain_of(ram).warps()[tile]:
        yield from stand_on(ram, tile, frames=frames)
        return done("on the tile")
    end, _ = yield from cross(ram, _into(tile), graph, frames=frames, detours=DETOURS)
    if end != "left":
        raise GiveUp("unreachable", f"no path into the door on tile {tile.column},{tile.row}")
    return done("through the door")


def _travel(ram: RamBlocks, target: RoomId, graph: RoomGraph, frames: int) -> Part:
    closed: list[Crossing] = []
    tried: set[tuple[RoomId, Action]] = set()
    while (here := standing(ram)).room != target:
        route = graph.route(here.room, target, x=here.x, y=here.y, without=closed)
        if route:
            goal = _over(route[0])
        else:
            nearer = _towards(ram, here.room, target)
            untried = [way for way in nearer if (here.room, way) not in tried]
            if not untried:
                raise GiveUp("unreachable", f"no known path to room {target.group}/{target.room}")
            tried.add((here.room, untried[0]))
            goal = Goal("over", directions=1 << untried[0])
        end, ram = yield from cross(ram, goal, graph, frames=frames, detours=DETOURS)
        if end != "left" and route:
            closed.append(route[0])
        ram = yield from take_control(ram)
    return ram


def _into(tile: TilePlace) -> Goal:
    return Goal("into", tile.row * TILE_COLUMNS + tile.column)


def _over(crossing: Crossing) -> Goal:
    if crossing.kind == "warp":
        return _into(tile_of(crossing.x, crossing.y + FEET))
    return Goal("over", crossing.y << 8 | crossing.x, 1 << crossing.direction)


def _towards(ram: RamBlocks, start: RoomId, end: RoomId) -> list[Action]:
    """Directions towards `end` on the map, the longer distance first; [] if no map has both."""
    places = _on_map(ram, start, end)
    if places is None:
        return []
    (row, column), (end_row, end_column) = places
    down, right = end_row - row, end_column - column
    found = [(abs(down), Action.DOWN if down > 0 else Action.UP)] if down else []
    found += [(abs(right), Action.RIGHT if right > 0 else Action.LEFT)] if right else []
    return [direction for _, direction in sorted(found, key=lambda each: -each[0])]


def _on_map(
    ram: RamBlocks, start: RoomId, end: RoomId
) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """(row, column) of two rooms of one map; that of the current dungeon is read from RAM."""
    if start.group != end.group:
        return None
    if start.group in _OUTDOORS:
        return divmod(start.room, _OUTDOOR_COLUMNS), divmod(end.room, _OUTDOOR_COLUMNS)
    if start.group not in _DUNGEONS:
        return None
    layout = ram.dungeon_layout
    for floor in range(0, len(layout), _FLOOR_ROOMS):
        rooms = layout[floor : floor + _FLOOR_ROOMS]
        if start.room in rooms and end.room in rooms:
            at, to = rooms.index(start.room), rooms.index(end.room)
            return divmod(at, _FLOOR_COLUMNS), divmod(to, _FLOOR_COLUMNS)
    return None
