"""Positions on the quest by the expert: the next objective and the distance to it.

Pure functions of a world and a moment, usable without a server.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from rlaif.contracts.judging.evidence import Evidence, Moment
from rlaif.contracts.judging.quest import FARTHEST, QuestPosition
from rlaif.mock_llm.expert.distances import (
    Means,
    Node,
    Targets,
    distances,
    moves,
    pixels_from,
)
from rlaif.mock_llm.expert.world import (
    COLUMNS,
    ROWS,
    SEASONS,
    Objective,
    Spot,
    Step,
    Tile,
    World,
    world_of,
)

HALF_SCREEN = 80
"""Pixels."""

_SPRING = 0
_PARTS = {"torches": "e", "triggers": "&"}
"""Element that reveals a chest or a key → its sign on the map."""


@dataclass(frozen=True)
class Known:
    """Facts that a single state does not contain, but the rest of the evidence may.

    Attributes:
        lever: The lever was hit.
        boss_beaten: The boss of this room is defeated.
        door_opened: A small key has just opened a door of this room.
        rooms: Visited rooms that are behind doors with small keys.
    """

    lever: bool = True
    boss_beaten: bool = False
    door_opened: bool = False
    rooms: frozenset[str] = frozenset()


USUAL = Known()
"""The assumption without evidence."""


class Position(NamedTuple):
    """The next objective and the walking distance in pixels; infinite if no path is known."""

    objective: int
    pixels: float


class Move(NamedTuple):
    """One step of a path: start, end and action."""

    here: Node
    there: Node
    how: str


def position(world: World, moment: Moment, known: Known = USUAL) -> Position | None:
    """The position of a state on the quest; None if the evidence does not determine it.

    Higher objectives are later; for the same objective, fewer pixels are closer.
    """
    number, room = next_objective(world, moment, known), moment.room
    if number is None or room is None or room not in world.by_name or moment.at is None:
        return None
    if moment.essences:
        return Position(number, 0.0)
    means = _means(world, number, moment, known)
    reached = _reached(world, number, means, _left(world, number, moment))
    return Position(number, pixels_from(reached, room, moment.at, _season(moment)))


def quest_position(moment: Moment, known: Known = USUAL) -> QuestPosition | None:
    """Next objective and distance in half screens, not rounded; None if either is unknown."""
    world = world_of(moment.game)
    found = world and position(world, moment, known)
    if not found:
        return None
    distance = min(found.pixels / HALF_SCREEN, float(FARTHEST))
    return QuestPosition(objective=found.objective, distance=distance)


def quest_positions(evidence: Evidence) -> tuple[QuestPosition | None, QuestPosition | None]:
    """Positions at the start and the end; states of lever, boss and doors are inferred."""
    parts = evidence.puzzle.parts
    switches = (1, 1, 1) if parts is None else parts.get("switches_on", (0, 0, 0))
    beaten = evidence.enemies.left_at_end == 0
    keys, rooms = evidence.changes.keys, frozenset(evidence.rooms.in_order or ())
    # If no key was spent, the doors that the player passed were open before.
    start = Known(
        lever=switches[0] > 0,
        boss_beaten=beaten and not evidence.enemies.defeated,
        rooms=frozenset() if keys is None or keys < 0 else rooms,
    )
    end = Known(
        lever=switches[-1] > 0,
        boss_beaten=beaten,
        door_opened=keys is not None and keys < 0,
        rooms=rooms,
    )
    return quest_position(evidence.start, start), quest_position(evidence.end, end)


# The next objective


def next_objective(world: World, moment: Moment, known: Known = USUAL) -> int | None:
    """Number of the first incomplete objective; None if the evidence does not determine it."""
    if moment.items is None:
        return None
    if moment.essences:
        return world.last
    for objective in world.objectives[:-1]:
        if objective.done.rupees is not None and moment.rupees is None:
            if objective.done.items.isdisjoint(moment.items):
                return None
        elif not _is_done(world, objective, moment, known):
            return objective.number
    return world.last


def _is_done(world: World, objective: Objective, moment: Moment, known: Known) -> bool:
    if _is_shown(objective, moment):
        return True
    done, room = objective.done, moment.room
    if done.rupees is not None:
        return (moment.rupees or 0) >= done.rupees
    opened = known.door_opened and any(spot[0] == room for spot in world.locked_doors)
    if done.keys is not None and (opened or (moment.keys or 0) >= done.keys):
        return True
    here = room == objective.room
    if (
        (objective.what == "door" and opened and here)
        or (objective.what == "lever" and known.lever)
        or (objective.what == "boss" and known.boss_beaten and here)
    ):
        return True
    been = known.rooms if objective.what not in ("boss", "lever") else frozenset()
    if not done.rooms.isdisjoint({room, *been}):
        return True
    # What lies beyond it is owned.
    return any(
        _is_shown(later, moment)
        for later in world.objectives[objective.number :]
        if later.lasts and later.room in done.rooms
    )


def _is_shown(objective: Objective, moment: Moment) -> bool:
    """Whether permanent possessions show that an objective is done."""
    done = objective.done
    return bool(
        not done.items.isdisjoint(moment.items or ())
        or (done.boss_key and moment.boss_key)
        or (done.essences and (moment.essences or 0) >= done.essences)
    )


# Paths to it


def way(world: World, moment: Moment, tile: Tile) -> Iterator[Move]:
    """Yield the moves of the shortest path from a tile to the next objective, if any."""
    number = next_objective(world, moment)
    if number is not None:
        means = _means(world, number, moment, USUAL)
        reached = _reached(world, number, means, _left(world, number, moment))
        yield from _downhill(world, moment, tile, reached, means)


def way_to(world: World, moment: Moment, tile: Tile, spots: Iterable[Spot]) -> Iterator[Move]:
    """Yield the moves of the shortest path to one of these tiles with the owned items."""
    means = _relevant(world).intersection(moment.items or ())
    reached = distances(world, tuple((spot, 0.0) for spot in spots), means)
    yield from _downhill(world, moment, tile, reached, means)


def _downhill(
    world: World, moment: Moment, tile: Tile, reached: Mapping[Node, float], means: Means
) -> Iterator[Move]:
    """Follow decreasing distances; an unknown season counts as spring, the initial one."""
    if moment.room not in world.by_name or not (tile[0] < ROWS and tile[1] < COLUMNS):
        return
    season = _season(moment)
    here: Node = ((moment.room or "", tile), _SPRING if season is None else season)
    while reached.get(here) != 0:
        onward = [
            (cost + reached[there], there, how)
            for there, cost, how, needs in moves(world, here)
            if there in reached and needs <= means
        ]
        if not onward:
            return
        _, there, how = min(onward)
        yield Move(here, there, how)
        here = there


def stands_for(world: World, number: int, moment: Moment) -> frozenset[Spot]:
    """The tiles at which an objective is completed."""
    return _targets(world, number, _left(world, number, moment))


def _left(world: World, number: int, moment: Moment) -> tuple[Step, ...]:
    """The places of an objective; for coins, those with coins left."""
    objective = world.objective(number)
    left = tuple(place for place in objective.places if place.rupees > (moment.rupees or 0))
    return left or objective.places or (objective,)


@lru_cache(maxsize=64)
def _targets(world: World, number: int, left: tuple[Step, ...]) -> frozenset[Spot]:
    """Tiles of the remaining steps, including those of their puzzles."""
    objective = world.objective(number)
    spots = {spot for step in left for spot in _stands(world, step)}
    room = world.by_name[objective.room]
    for thing in room.objects:
        sign = _PARTS.get(thing.hidden) if thing.tile == objective.tile else None
        for part in room.tiles(sign) if sign else ():
            spots |= {(room.room, part), *_around(world, (room.room, part))}
    return frozenset(spots)


def _stands(world: World, step: Step) -> Iterator[Spot]:
    for tile in step.stands or world.ground(step.room):
        yield step.room, tile


def _around(world: World, spot: Spot) -> Iterator[Spot]:
    for side in ("north", "south", "west", "east"):
        there = world.beside(spot, side)
        if there is not None and there[0] == spot[0]:
            yield there


def _season(moment: Moment) -> int | None:
    return SEASONS.index(moment.season) if moment.season in SEASONS else None


def _means(world: World, number: int, moment: Moment, known: Known) -> Means:
    done = world.objectives[: number - 1]
    means = {f"door {door}" for door in world.locked_doors.values() if door <= number}
    if known.lever or _lever_at(world) < number:
        means.add("lever")
    if moment.boss_key or any(it.done.boss_key for it in done):
        means.add("boss_key")
    if any(it.what == "boss" for it in done):
        means.add("shutter")
    return frozenset(means) | _relevant(world).intersection(moment.items or ())


def _lever_at(world: World) -> int:
    """Number of the last objective for which the lever is hit."""
    return max(
        (it.number for it in world.objectives for step in (*it.first, it) if step.what == "lever"),
        default=0,
    )


@lru_cache(maxsize=32)
def _relevant(world: World) -> frozenset[str]:
    """Items that open any tile, or save a step of an objective."""
    steps = (step.item for it in world.objectives for step in it.first)
    ways = (way for sign in world.signs.values() for way in sign.ways)
    return frozenset(steps).union(*(way.needs for way in ways)) - {"small_key", "boss_key", ""}


def _reached(
    world: World, number: int, means: Means, left: tuple[Step, ...]
) -> Mapping[Node, float]:
    targets: Targets = tuple((spot, 0.0) for spot in sorted(_targets(world, number, left)))
    for step in reversed(world.objective(number).first):
        if step.item and step.item not in means:
            targets = _via(world, step, targets, means | {step.item})
        elif step.what == "lever" and "lever" not in means:
            targets = _via(world, step, targets, means | {"lever"})
    return distances(world, targets, means)


def _via(world: World, step: Step, targets: Targets, means: Means) -> Targets:
    """Target tiles of a preceding step, after which `means` are available."""
    reached = distances(world, targets, means)
    return tuple(
        (spot, min(reached.get((spot, season), math.inf) for season in range(4)))
        for spot in _stands(world, step)
    )
