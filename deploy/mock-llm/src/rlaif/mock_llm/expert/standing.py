"""Where the player stands on the quest, as the expert sees it: the objective, and the way to it."""

import math
from collections.abc import Mapping
from functools import lru_cache

from rlaif.contracts.judging.evidence import Evidence, Moment
from rlaif.contracts.judging.quest import FARTHEST, Standing
from rlaif.mock_llm.expert import way
from rlaif.mock_llm.expert.objectives import (
    CROSS_HALL,
    ENTRANCE,
    FARMER,
    LEVER,
    OBJECTIVES,
    SHOVEL,
    USUAL,
    Known,
    next_objective,
)
from rlaif.mock_llm.expert.room_plans import PLANS, Spot, Tile

GAME = "seedling-vale"
"""The game that the expert knows, as the evidence names it."""

HALF_SCREEN = 80
"""Pixels."""

_LONGEST_WAY = 100
"""Moves that a way through one room takes at most."""

_COINS_IN_THE_SOIL, _TORCH_HALLS_KEY = 4, 15

_OPENED_FOR: Mapping[int, str] = {14: "north", 16: "vault", 17: "thorn", 18: "shutter"}
"""Objective → the door that is open, or can be opened, from then on."""


def standing(moment: Moment, known: Known = USUAL) -> tuple[int, int] | None:
    """(objective, whole half screens to it); None where the evidence does not show it."""
    found = exact_standing(moment, known)
    return None if found is None else (found.objective, round(found.distance))


def position(moment: Moment, known: Known = USUAL) -> float | None:
    """The same on the scale of `Standing.position`, from the exact way."""
    found = exact_standing(moment, known)
    return None if found is None else found.position


def exact_standing(moment: Moment, known: Known = USUAL) -> Standing | None:
    """Objective and way in half screens, not rounded."""
    objective, pixels = next_objective(moment, known), way_pixels(moment, known)
    if objective is None or pixels is None:
        return None
    return Standing(objective=objective, distance=min(pixels / HALF_SCREEN, float(FARTHEST)))


def way_pixels(moment: Moment, known: Known = USUAL) -> float | None:
    """Pixels to walk to the next objective; infinity where no way is known, None if unknown."""
    objective = next_objective(moment, known)
    if objective is None or moment.room is None or moment.at is None:
        return None
    if moment.room not in PLANS or moment.game not in (None, GAME):
        return None
    if moment.essences:
        return 0.0
    season = way.SEASONS.index(moment.season) if moment.season in way.SEASONS else None
    reached = _reached(objective, way.NEEDED.intersection(moment.items or ()), known.lever)
    return way.pixels_from(reached, moment.room, moment.at, season)


def standings(evidence: Evidence) -> tuple[Standing | None, Standing | None]:
    """Where a segment starts and ends; its other facts tell of the lever, the boss and doors."""
    parts = evidence.puzzle.parts
    switches = (1, 1, 1) if parts is None else parts.get("switches_on", (0, 0, 0))
    opened = (evidence.changes.keys or 0) < 0 and evidence.end.room in (ENTRANCE, CROSS_HALL)
    beaten = evidence.enemies.left_at_end == 0
    start = Known(lever=switches[0] > 0, gnarl_beaten=beaten and not evidence.enemies.defeated)
    end = Known(lever=switches[-1] > 0, gnarl_beaten=beaten, door_opened=opened)
    return exact_standing(evidence.start, start), exact_standing(evidence.end, end)


def next_move(moment: Moment, tile: Tile, known: Known = USUAL) -> tuple[way.Node, way.Node] | None:
    """The tile and season of now, and the next ones of the shortest way; None without a way.

    An unknown season is taken for spring, in which the story starts.
    """
    objective = next_objective(moment, known)
    room, items = moment.room, way.NEEDED.intersection(moment.items or ())
    if objective is None or room is None or room not in PLANS:
        return None
    reached = _reached(objective, items, known.lever)
    season = way.SEASONS.index(moment.season) if moment.season in way.SEASONS else way.SPRING
    here: way.Node = ((room, tile), season)
    onward = [
        (cost + reached[there], there)
        for there, cost in way.moves(here, _means(objective, items, known.lever))
        if there in reached
    ]
    return (here, min(onward)[1]) if onward else None


def next_room(moment: Moment, tile: Tile, known: Known = USUAL) -> str | None:
    """The room that the shortest way leads into next; None where it leads into none."""
    here = moment.room
    for _ in range(_LONGEST_WAY):
        move = next_move(moment, tile, known)
        if move is None:
            return None
        (there, tile), season = move[1]
        if there != here:
            return there
        moment = moment.model_copy(update={"season": way.SEASONS[season]})
    return None


def _means(objective: int, items: frozenset[str], lever: bool) -> way.Means:
    doors = {door for number, door in _OPENED_FOR.items() if objective >= number}
    return items | doors | ({"lever"} if lever or objective > _TORCH_HALLS_KEY else set())


@lru_cache(maxsize=128)
def _reached(objective: int, items: frozenset[str], lever: bool) -> Mapping[way.Node, float]:
    means = _means(objective, items, lever)
    targets: way.Targets = tuple((spot, 0.0) for spot in OBJECTIVES[objective].spots)
    if objective == _COINS_IN_THE_SOIL and SHOVEL not in items:
        targets = _first_to(FARMER, targets, means | {SHOVEL})
    if objective == _TORCH_HALLS_KEY and not lever:
        targets = _first_to(LEVER, targets, means | {"lever"})
    return way.distances(targets, means)


def _first_to(spot: Spot, targets: way.Targets, means: way.Means) -> way.Targets:
    """The targets when something must be done at a spot before, after which there are `means`."""
    reached = way.distances(targets, means)
    return ((spot, min(reached.get((spot, season), math.inf) for season in range(4))),)
