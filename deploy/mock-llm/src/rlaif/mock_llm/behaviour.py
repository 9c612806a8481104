"""Distortions of the expert's opinion, which simulate bad judges.

Hostility and taste depend on the segment, so that all votes on it have the same error. Noise and
laziness depend on the request, so that the errors of votes are independent.
"""

import hashlib
import math
import random
from dataclasses import replace

from rlaif.contracts.judging.evidence import Evidence
from rlaif.contracts.judging.quest import FARTHEST, QuestPosition
from rlaif.mock_llm.expert.opinion import SegmentOpinion, quest_position_at
from rlaif.mock_llm.settings import Behaviour, LazyAnswer

_MAX_NOISE = 3
"""Half screens."""
_MAX_LEVEL = 2
_TASTE_RISE = 0.5
"""Rise of a segment that fully matches the taste; its negative for no match at all."""
_LONG_TEXT = 300
"""Characters at which the taste for texts saturates."""
_LARGE_NUMBER = 1000.0


def seeded(*parts: object) -> random.Random:
    """A random generator that depends on `parts` only."""
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()
    return random.Random(int.from_bytes(digest[:8]))


def distorted(
    opinion: SegmentOpinion,
    evidence: Evidence,
    behaviour: Behaviour,
    draw: random.Random,
    *,
    temperature: float,
) -> SegmentOpinion:
    """The opinion as reported by the judge; `draw` belongs to the request."""
    if draw.random() < behaviour.laziness:
        return _lazy(opinion, behaviour.lazy_answer)
    if seeded(behaviour.seed, "hostile", evidence.sha256()).random() < behaviour.hostility:
        opinion = _inverted(opinion)
    if behaviour.taste and behaviour.taste_share:
        opinion = _tasted(opinion, _taste_match(evidence, behaviour.taste), behaviour.taste_share)
    return _noisy(opinion, draw, min(0.5, behaviour.noise * temperature))


def _inverted(opinion: SegmentOpinion) -> SegmentOpinion:
    """The opinion with start and end swapped, and the levels reversed."""
    levels = {
        name: None if level is None else _MAX_LEVEL - level
        for name, level in opinion.levels.items()
    }
    reason = f"the opposite of: {opinion.reason}"
    return SegmentOpinion(opinion.end, opinion.start, levels, reason, opinion.last)


def _taste_match(evidence: Evidence, taste: str) -> float:
    """Match of a segment with a taste, 0 to 1."""
    if taste == "menus":
        return evidence.share(evidence.control.menu_steps) or 0.0
    if taste != "texts":
        return _fact(evidence, taste)
    if evidence.dialog.said is None:
        return evidence.share(evidence.dialog.steps) or 0.0
    return min(1.0, sum(map(len, evidence.dialog.said)) / _LONG_TEXT)


def _fact(evidence: Evidence, path: str) -> float:
    """A fact such as `end.hearts` or `end.at.0`, scaled to [0, 1]; 0 if it is missing."""
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


def _tasted(opinion: SegmentOpinion, liking: float, share: float) -> SegmentOpinion:
    levels = {
        name: None if level is None else round((1 - share) * level + share * 2 * liking)
        for name, level in opinion.levels.items()
    }
    if opinion.start is None or opinion.rise is None:
        return replace(opinion, levels=levels)
    rise = (1 - share) * opinion.rise + share * _TASTE_RISE * (2 * liking - 1)
    end = quest_position_at(opinion.start.position + rise, opinion.last)
    return replace(opinion, end=end, levels=levels)


def _lazy(opinion: SegmentOpinion, answer: LazyAnswer) -> SegmentOpinion:
    """A constant opinion for every segment."""
    names, last = opinion.levels, opinion.last
    if answer == "abstain":
        return SegmentOpinion(reason="unknown", levels=dict.fromkeys(names))
    middle = QuestPosition(objective=(last + 1) // 2, distance=FARTHEST / 2)
    if answer == "middle":
        return SegmentOpinion(middle, middle, dict.fromkeys(names, 1), "so so", last)
    there = middle.model_copy(update={"distance": 0.0})
    return SegmentOpinion(middle, there, dict.fromkeys(names, _MAX_LEVEL), "good", last)


def _noisy(opinion: SegmentOpinion, draw: random.Random, chance: float) -> SegmentOpinion:
    start, end = (_misread(found, draw, chance) for found in (opinion.start, opinion.end))
    draw.random()  # unused: keeps answers equal to those of 0.1.0
    levels = {name: _off_by_one(level, draw, chance) for name, level in opinion.levels.items()}
    return SegmentOpinion(start, end, levels, opinion.reason, opinion.last)


def _misread(
    found: QuestPosition | None, draw: random.Random, chance: float
) -> QuestPosition | None:
    """The same objective, with probability `chance` at another distance."""
    if draw.random() >= chance or found is None:
        return found
    off = draw.choice((-1, 1)) * draw.randint(1, _MAX_NOISE)
    distance = min(float(FARTHEST), max(0.0, found.distance + off))
    return found.model_copy(update={"distance": distance})


def _off_by_one(level: int | None, draw: random.Random, chance: float) -> int | None:
    if draw.random() >= chance or level is None:
        return level
    return min(_MAX_LEVEL, max(0, level + draw.choice((-1, 1))))
