"""The faults of the stand-in: how what it says differs from what the expert thinks.

Hostility and taste follow the segment: every vote on it errs alike, as a model's leanings do. Noise
and laziness follow the request: each vote errs for itself.
"""

import hashlib
import math
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from rlaif.contracts.judging.evidence import Evidence
from rlaif.contracts.judging.quest import FARTHEST, Standing
from rlaif.mock_llm.expert.objectives import LAST
from rlaif.mock_llm.expert.view import View, standing_at
from rlaif.mock_llm.settings import LazyAnswer, MannerSettings

_MOST_OFF = 3
"""Half screens by which noise moves a distance at most."""

_HIGHEST_LEVEL = 2
_MIDDLE = Standing(objective=(LAST + 1) // 2, distance=FARTHEST / 2)
_TASTE_REACH = 0.5
"""Rise of a segment that is all to one's taste; one that is nothing of it falls as far."""

_LONG_TEXT = 300
"""Letters from which on a text is as long as can be wished for."""
_LARGE_NUMBER = 1000.0


def seeded(*parts: object) -> random.Random:
    """A generator that depends on `parts` and nothing else."""
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()
    return random.Random(int.from_bytes(digest[:8]))


def mannered(
    view: View,
    evidence: Evidence,
    manner: MannerSettings,
    draw: random.Random,
    *,
    temperature: float,
) -> View:
    """What the stand-in says of a segment; `draw` is the request's own."""
    if draw.random() < manner.laziness:
        return _lazy(view, manner.lazy_answer)
    if seeded(manner.seed, "hostile", evidence.sha256()).random() < manner.hostility:
        view = inverted(view)
    if manner.taste and manner.taste_share:
        view = _tasted(view, to_taste(evidence, manner.taste), manner.taste_share)
    return _blurred(view, manner, draw, temperature)


def inverted(view: View) -> View:
    """The opposite: start and end change places, and the best level with the worst."""
    levels = {
        name: None if level is None else _HIGHEST_LEVEL - level
        for name, level in view.levels.items()
    }
    return View(view.end, view.start, levels, f"the opposite of: {view.reason}")


def to_taste(evidence: Evidence, taste: str) -> float:
    """How much a segment is to a taste, 0 to 1: `menus`, `texts`, or the path of a fact."""
    return _TASTES[taste](evidence) if taste in _TASTES else _fact(evidence, taste)


def _menus(evidence: Evidence) -> float:
    return evidence.share(evidence.control.menu_steps) or 0.0


def _texts(evidence: Evidence) -> float:
    if evidence.dialog.said is None:
        return evidence.share(evidence.dialog.steps) or 0.0
    return min(1.0, sum(map(len, evidence.dialog.said)) / _LONG_TEXT)


_TASTES: Mapping[str, Callable[[Evidence], float]] = MappingProxyType(
    {"menus": _menus, "texts": _texts}
)


def _fact(evidence: Evidence, path: str) -> float:
    """A fact such as `end.hearts` or `end.at.0` between 0 and 1; 0 where there is none."""
    value: object = evidence.model_dump()
    for name in path.split("."):
        if isinstance(value, dict):
            value = value.get(name)
        elif isinstance(value, list | tuple) and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            return 0.0
    if isinstance(value, list | tuple | dict | str):
        value = len(value)
    if not isinstance(value, int | float):
        return 0.0
    return min(1.0, math.log1p(max(0.0, value)) / math.log1p(_LARGE_NUMBER))


def _tasted(view: View, liking: float, share: float) -> View:
    levels = {
        name: None if level is None else round((1 - share) * level + share * 2 * liking)
        for name, level in view.levels.items()
    }
    if view.start is None or view.rise is None:
        return replace(view, levels=levels)
    rise = (1 - share) * view.rise + share * _TASTE_REACH * (2 * liking - 1)
    return replace(view, end=standing_at(view.start.position + rise), levels=levels)


def _lazy(view: View, way: LazyAnswer) -> View:
    """The same for every segment."""
    if way == "abstain":
        return View(reason="cannot tell", levels=dict.fromkeys(view.levels))
    if way == "middle":
        return View(_MIDDLE, _MIDDLE, dict.fromkeys(view.levels, 1), "so so")
    there = _MIDDLE.model_copy(update={"distance": 0.0})
    return View(_MIDDLE, there, dict.fromkeys(view.levels, _HIGHEST_LEVEL), "good")


def _blurred(view: View, manner: MannerSettings, draw: random.Random, temperature: float) -> View:
    chance = min(0.5, manner.noise * temperature)
    moments = [_misread(found, draw, chance) for found in (view.start, view.end)]
    if draw.random() < manner.lost * min(1.0, temperature):
        astray = draw.randrange(2)
        moments[astray] = _lost(moments[astray], draw)
    levels = {name: _off_by_one(level, draw, chance) for name, level in view.levels.items()}
    return View(moments[0], moments[1], levels, view.reason)


def _misread(found: Standing | None, draw: random.Random, chance: float) -> Standing | None:
    """The same objective, with `chance` at another distance."""
    if draw.random() >= chance or found is None:
        return found
    off = draw.choice((-1, 1)) * draw.randint(1, _MOST_OFF)
    distance = min(float(FARTHEST), max(0.0, found.distance + off))
    return found.model_copy(update={"distance": distance})


def _lost(found: Standing | None, draw: random.Random) -> Standing | None:
    """A neighbouring objective, wherever that may be."""
    if found is None:
        return None
    objective = min(LAST, max(1, found.objective + draw.choice((-1, 1))))
    return Standing(objective=objective, distance=draw.randint(0, FARTHEST))


def _off_by_one(level: int | None, draw: random.Random, chance: float) -> int | None:
    """The level, or with `chance` a neighbour of it."""
    if draw.random() >= chance or level is None:
        return level
    return min(_HIGHEST_LEVEL, max(0, level + draw.choice((-1, 1))))
