"""The expert's opinion on one segment: positions at its start and end, and levels."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rlaif.contracts.judging.evidence import Evidence
from rlaif.contracts.judging.quest import FARTHEST, QuestPosition, level_of_rise
from rlaif.mock_llm.expert.criteria import RULES, usefulness
from rlaif.mock_llm.expert.progress import quest_positions
from rlaif.mock_llm.expert.world import World, world_of

_DIALOG_VALUE = 0.1
_PUZZLE_VALUES = {2: 0.1, 1: 0.05}
"""Level → value of a puzzle in objectives, like that of a useful dialog."""
_LEVEL_VALUE = 0.1
"""Value of a level of progress if the rise is unknown."""
_DISTANCE_SHARE = 0.9
"""Part of an objective for the distance to it, as in `QuestPosition.position`."""


@dataclass(frozen=True)
class SegmentOpinion:
    """An opinion on one segment.

    Attributes:
        last: Number of the last objective.
        levels: Criterion → level; None for an abstention. That of `progress` is used only if the
            start or the end is unknown, instead of the rise.
    """

    start: QuestPosition | None = None
    end: QuestPosition | None = None
    levels: Mapping[str, int | None] = field(default_factory=dict)
    reason: str = ""
    last: int = 1

    @property
    def rise(self) -> float | None:
        """Progress in objectives; None if the start or the end is unknown."""
        if self.start is None or self.end is None:
            return None
        return self.end.position - self.start.position

    @property
    def progress(self) -> int | None:
        """Level of progress; None for an abstention."""
        return self.levels.get("progress") if self.rise is None else level_of_rise(self.rise)

    @property
    def value(self) -> float | None:
        """The rise, or an estimate of it, plus the values of dialog and puzzle; None if unknown."""
        if self.progress is None:
            return None
        rise = _LEVEL_VALUE * self.progress if self.rise is None else self.rise
        dialog = _DIALOG_VALUE if self.levels.get("dialog") == 2 else 0.0
        return rise + dialog + _PUZZLE_VALUES.get(self.levels.get("puzzle") or 0, 0.0)


def assess(evidence: Evidence) -> SegmentOpinion:
    """The opinion on a segment."""
    start, end = quest_positions(evidence)
    world = world_of(evidence.end.game)
    numbers = dict.fromkeys(moment.objective for moment in (start, end) if moment)
    opinions = {name: rule(evidence) for name, rule in RULES.items()}
    opinions["dialog"] = usefulness(evidence, world, numbers)
    reasons = [_described("start", start, world), _described("end", end, world)]
    reasons += [f"{name}: {reason}" for name, (_, reason) in opinions.items()]
    levels = {name: level for name, (level, _) in opinions.items()}
    return SegmentOpinion(start, end, levels, "; ".join(reasons), world.last if world else 1)


def quest_position_at(position: float, last: int) -> QuestPosition:
    """The quest position of a number on its scale, clipped to the scale."""
    position = min(max(position, 0.0), last - 1 + _DISTANCE_SHARE)
    done = int(position)
    share = max(0.0, 1.0 - (position - done) / _DISTANCE_SHARE)
    return QuestPosition(objective=done + 1, distance=share * FARTHEST)


def _described(moment: str, found: QuestPosition | None, world: World | None) -> str:
    if found is None or world is None:
        return f"{moment}: unknown"
    title = world.objective(found.objective).title
    return f"{moment}: next is {title}, {found.distance:.0f} half screens away"
