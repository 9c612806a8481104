"""All that the expert thinks of one segment: where it starts and ends on the quest, and levels."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rlaif.contracts.judging.evidence import Evidence
from rlaif.contracts.judging.quest import FARTHEST, Standing, level_of_rise
from rlaif.mock_llm.expert.criteria import RULES
from rlaif.mock_llm.expert.objectives import LAST, OBJECTIVES
from rlaif.mock_llm.expert.standing import standings
from rlaif.mock_llm.expert.talks import usefulness

_USEFUL_TALK, _SOLVED, _WORKED_ON = 0.1, 0.1, 0.05
"""What a useful text, a puzzle that gave way and one that changed are worth, in objectives."""

_A_LEVEL = 0.1
"""What a level of progress is worth where the rise is unknown."""

_WAY = 0.9
"""Positions that the way to an objective takes, as in `Standing.position`."""


@dataclass(frozen=True)
class View:
    """An opinion on one segment.

    Attributes:
        levels: Criterion → level; None for an abstention. That of `progress` counts where a moment
            is unknown; else the rise does.
    """

    start: Standing | None = None
    end: Standing | None = None
    levels: Mapping[str, int | None] = field(default_factory=dict)
    reason: str = ""

    @property
    def rise(self) -> float | None:
        """How far the player came, in objectives; None when a moment is unknown."""
        if self.start is None or self.end is None:
            return None
        return self.end.position - self.start.position

    @property
    def progress(self) -> int | None:
        """Level of progress; None for an abstention."""
        return self.levels.get("progress") if self.rise is None else level_of_rise(self.rise)

    @property
    def worth(self) -> float | None:
        """The rise, or a guess at it, and what texts and puzzles add; None when unknown."""
        if self.progress is None:
            return None
        rise = _A_LEVEL * self.progress if self.rise is None else self.rise
        talk = _USEFUL_TALK if self.levels.get("dialog") == 2 else 0.0
        puzzle = {2: _SOLVED, 1: _WORKED_ON}.get(self.levels.get("puzzle") or 0, 0.0)
        return rise + talk + puzzle


def look(evidence: Evidence) -> View:
    """What the expert thinks of a segment."""
    start, end = standings(evidence)
    numbers = dict.fromkeys(moment.objective for moment in (start, end) if moment)
    opinions = {name: rule(evidence) for name, rule in RULES.items()}
    opinions["dialog"] = usefulness(evidence, numbers)
    reasons = [_told("start", start), _told("end", end)]
    reasons += [f"{name}: {reason}" for name, (_, reason) in opinions.items()]
    levels = {name: level for name, (level, _) in opinions.items()}
    return View(start, end, levels, "; ".join(reasons))


def standing_at(position: float) -> Standing:
    """The standing at a position of the scale, or at its nearer end."""
    place = min(max(position, 0.0), LAST - 1 + _WAY)
    behind = int(place)
    way = max(0.0, 1.0 - (place - behind) / _WAY)
    return Standing(objective=behind + 1, distance=way * FARTHEST)


def _told(moment: str, found: Standing | None) -> str:
    if found is None:
        return f"{moment}: unknown"
    title = OBJECTIVES[found.objective].title
    return f"{moment}: next is {title}, {found.distance:.0f} half screens away"
