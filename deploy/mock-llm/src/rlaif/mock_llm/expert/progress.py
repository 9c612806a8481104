"""Positions on the quest as the expert sees them: the next objective and the distance to it."""

import math
from collections.abc import Mapping
from functools import lru_cache

from rlaif.contracts.judging.evidence import Evidence, Moment
from rlaif.contracts.judging.quest import FARTHEST, Standing
from rlaif.mock_llm.expert.distances import (
    RELEVANT,
    SEASONS,
    SPRING,
    Means,
    Node,
    Targets,
    distances,
    moves,
    pixels_from,
)
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
from rlaif.mock_llm.expert.rooms import PLANS, Spot, Tile

GAME = "seedling-vale"
"""The game that the expert knows, as the evidence names it."""

HALF_SCREEN = 80
"""Pixels."""

_MAX_MOVES = 100
"""Moves through one room."""
_COINS_IN_THE_SOIL, _TORCH_HALLS_KEY = 4, 15
_OPENED_FOR: Mapping[int, str] = {14: "north", 16: "vault", 17: "thorn", 18: "shutter"}
"""Objective → the door that is open, or can be opened, from then on."""


def standing(moment: Moment, known: Known = USUAL) -> Standing | None:
    """Next objective and distance in half screens, not rounded; None if either is unknown."""
    objective, room = next_objective(moment, known), moment.room
    if objective is None or room is None or moment.at is None:
        return None
    if room not in PLANS or moment.game not in (None, GAME):
        return None
    pixels = 0.0
    if not moment.essences:
        reached = _reached(objective, RELEVANT.intersection(moment.items or ()), known.lever)
        pixels = pixels_from(reached, room, moment.at, _season(moment))
    return Standing(objective=objective, distance=min(pixels / HALF_SCREEN, float(FARTHEST)))


def standings(evidence: Evidence) -> tuple[Standing | None, Standing | None]:
    """Positions at the start and the end; the lever, the boss and doors follow from other facts."""
    parts = evidence.puzzle.parts
    switches = (1, 1, 1) if parts is None else parts.get("switches_on", (0, 0, 0))
    opened = (evidence.changes.keys or 0) < 0 and evidence.end.room in (ENTRANCE, CROSS_HALL)
    beaten = evidence.enemies.left_at_end == 0
    start = Known(lever=switches[0] > 0, gnarl_beaten=beaten and not evidence.enemies.defeated)
    end = Known(lever=switches[-1] > 0, gnarl_beaten=beaten, door_opened=opened)
    return standing(evidence.start, start), standing(evidence.end, end)


def next_move(moment: Moment, tile: Tile) -> tuple[Node, Node] | None:
    """The current tile and season, and the next ones on the shortest path; None without a path.

    An unknown season counts as spring, in which the story starts.
    """
    objective = next_objective(moment)
    room, items = moment.room, RELEVANT.intersection(moment.items or ())
    if objective is None or room is None or room not in PLANS:
        return None
    reached = _reached(objective, items, USUAL.lever)
    season = _season(moment)
    here: Node = ((room, tile), SPRING if season is None else season)
    onward = [
        (cost + reached[there], there)
        for there, cost in moves(here, _means(objective, items, USUAL.lever))
        if there in reached
    ]
    return (here, min(onward)[1]) if onward else None


def next_room(moment: Moment, tile: Tile) -> str | None:
    """The next room on the shortest path; None if there is none."""
    here = moment.room
    for _ in range(_MAX_MOVES):
        move = next_move(moment, tile)
        if move is None:
            return None
        (there, tile), season = move[1]
        if there != here:
            return there
        moment = moment.model_copy(update={"season": SEASONS[season]})
    return None


def _season(moment: Moment) -> int | None:
    return SEASONS.index(moment.season) if moment.season in SEASONS else None


def _means(objective: int, items: frozenset[str], lever: bool) -> Means:
    doors = {door for number, door in _OPENED_FOR.items() if objective >= number}
    return items | doors | ({"lever"} if lever or objective > _TORCH_HALLS_KEY else set())


@lru_cache(maxsize=128)
def _reached(objective: int, items: frozenset[str], lever: bool) -> Mapping[Node, float]:
    means = _means(objective, items, lever)
    targets: Targets = tuple((spot, 0.0) for spot in OBJECTIVES[objective].spots)
    if objective == _COINS_IN_THE_SOIL and SHOVEL not in items:
        targets = _via(FARMER, targets, means | {SHOVEL})
    if objective == _TORCH_HALLS_KEY and not lever:
        targets = _via(LEVER, targets, means | {"lever"})
    return distances(targets, means)


def _via(spot: Spot, targets: Targets, means: Means) -> Targets:
    """A target at a spot that must be visited first, and after which there are `means`."""
    reached = distances(targets, means)
    return ((spot, min(reached.get((spot, season), math.inf) for season in range(4))),)
