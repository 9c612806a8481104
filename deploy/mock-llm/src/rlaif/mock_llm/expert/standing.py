"""Where the player stands on the quest, as the expert sees it: the objective, and the way to it."""

import math
from functools import lru_cache

from rlaif.contracts.evidence import Evidence, Moment
from rlaif.contracts.quest import FARTHEST, Standing
from rlaif.mock_llm.expert import way
from rlaif.mock_llm.expert.objectives import (
    FARMER,
    LAST,
    LEVER,
    OBJECTIVES,
    SHOVEL,
    next_objective,
)
from rlaif.mock_llm.expert.room_plans import PLANS

HALF_SCREEN = 80
"""Pixels."""

_OPENED_FOR = {14: "north", 16: "vault", 17: "thorn", 18: "shutter"}
"""Objective → the door that is open, or can be opened, from then on."""


def standing(
    moment: Moment, *, lever: bool = True, gnarl_beaten: bool = False
) -> tuple[int, int] | None:
    """(objective, whole half screens to it); None where the evidence does not show it.

    `lever` says whether the lever of Hop Hall was hit, `gnarl_beaten` whether Gnarl is gone; a
    moment alone shows neither.
    """
    found = exact_standing(moment, lever=lever, gnarl_beaten=gnarl_beaten)
    return None if found is None else (found.objective, round(found.distance))


def position(moment: Moment, *, lever: bool = True, gnarl_beaten: bool = False) -> float | None:
    """The same on the scale of `Standing.position`, from the exact way."""
    found = exact_standing(moment, lever=lever, gnarl_beaten=gnarl_beaten)
    return None if found is None else found.position


def exact_standing(
    moment: Moment, *, lever: bool = True, gnarl_beaten: bool = False
) -> Standing | None:
    """Objective and way in half screens, not rounded."""
    objective = next_objective(moment, gnarl_beaten=gnarl_beaten)
    pixels = way_pixels(moment, lever=lever, gnarl_beaten=gnarl_beaten)
    if objective is None or pixels is None:
        return None
    return Standing(objective=objective, distance=min(pixels / HALF_SCREEN, float(FARTHEST)))


def way_pixels(moment: Moment, *, lever: bool = True, gnarl_beaten: bool = False) -> float | None:
    """Pixels to walk to the next objective; infinity where no way is known, None if unknown."""
    objective = next_objective(moment, gnarl_beaten=gnarl_beaten)
    if objective is None or moment.room not in PLANS or moment.at is None:
        return None
    if moment.essences:
        return 0.0
    items = frozenset(moment.items or ())
    season = way.SEASONS.index(moment.season) if moment.season in way.SEASONS else None
    reached = _reached(objective, items, lever)
    return way.pixels_from(reached, moment.room, moment.at, season)


@lru_cache(maxsize=128)
def _reached(objective: int, items: frozenset[str], lever: bool) -> dict[way.Node, float]:
    means = items | {door for number, door in _OPENED_FOR.items() if objective >= number}
    pulled = frozenset(means | {"lever"})
    targets: way.Targets = tuple((spot, 0.0) for spot in OBJECTIVES[objective].spots)
    if objective == 4 and SHOVEL not in items:
        targets = _by_way_of(FARMER, targets, frozenset(means | {SHOVEL}))
    if objective != 15:
        return dict(way.distances(targets, pulled if objective > 15 else means))
    if lever:
        return dict(way.distances(targets, pulled))
    return dict(way.distances(_by_way_of(LEVER, targets, pulled), means))


def _by_way_of(spot: way.Spot, targets: way.Targets, means: way.Means) -> way.Targets:
    """The targets, when something has to be done elsewhere first, after which there are `means`."""
    reached = way.distances(targets, means)
    rest = min((reached.get((spot, season), math.inf) for season in range(4)), default=math.inf)
    return ((spot, rest),)


def standings(evidence: Evidence) -> tuple[Standing | None, Standing | None]:
    """Where a segment starts and ends; the rest of its evidence tells of lever and boss."""
    parts = evidence.puzzle.parts
    switches = (1, 1, 1) if parts is None else parts.get("switches_on", (0, 0, 0))
    beaten = evidence.enemies.left_at_end == 0
    return (
        exact_standing(evidence.start, lever=switches[0] > 0),
        exact_standing(evidence.end, lever=switches[-1] > 0, gnarl_beaten=beaten),
    )
