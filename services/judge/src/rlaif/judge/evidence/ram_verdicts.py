"""Levels that follow from RAM without a judge, computed from the evidence.

The anchors of the rubric name facts; if these are in RAM, a language model can only repeat them or
get them wrong. The levels are used as scores, for `rlaif.judge.rubric.votes.COMPUTED`, and as known
levels to measure the judges' accuracy.
"""

from collections.abc import Container

from rlaif.contracts.judging.evidence import Evidence
from rlaif.judge.rubric.votes import NoVote

_MOSTLY = 0.6
"""Share of steps above which an activity dominates the segment."""

_STUCK = 0.9
"""Share of steps with an open text above which the player counts as stuck in it."""


def ram_verdicts(evidence: Evidence, kinds: Container[str]) -> dict[str, int | NoVote]:
    """Criterion → level, or `INSUFFICIENT`, for criteria that need no judge.

    `kinds` are from `COMPUTED`; criteria that RAM does not determine are left to the judges.
    """
    decided: dict[str, int | NoVote | None] = {}
    if "novelty" in kinds:
        decided["novelty"] = _novelty(evidence)
    if "efficiency" in kinds:
        helpless = _helpless(evidence)
        decided["efficiency"] = NoVote.INSUFFICIENT if helpless else _efficiency(evidence)
    if "absence" in kinds:
        decided |= _absent(evidence)
    return {name: level for name, level in decided.items() if level is not None}


def ram_levels(evidence: Evidence) -> dict[str, int]:
    """Criterion → level, for criteria whose level follows from the anchors and RAM."""
    found = {
        "progress": _progress(evidence),
        "dialog": _dialog(evidence),
        "puzzle": _puzzle(evidence),
        "novelty": _novelty(evidence),
        "efficiency": _efficiency(evidence),
    }
    return {name: level for name, level in found.items() if level is not None}


def known_rise(evidence: Evidence) -> int | None:
    """Level of the rise on the quest, if it is known without a guide: None for most segments.

    1 if start and end are equal. After gains it is unknown, as a map or a tool may be optional and
    an essence changes the objective; also after a death, as the respawn point may be closer.
    """
    start, end = evidence.start, evidence.end
    placed = start.room is not None and start.at is not None
    return 1 if placed and start == end and not evidence.died else None


def _milestone(evidence: Evidence) -> int | None:
    """2 for a permanent gain, 0 for a death; None if neither happened."""
    if evidence.died:
        return 0
    return 2 if evidence.changes.treasures > 0 or evidence.changes.items_gained else None


def _progress(evidence: Evidence) -> int | None:
    settled, rooms = _milestone(evidence), evidence.rooms.first_visits
    if settled is not None or rooms is None:
        return settled
    if rooms >= 3:
        return 2
    small = (rooms, evidence.changes.rupees, evidence.enemies.defeated, evidence.rooms.changes)
    return int(_any_gain(*small))


def _novelty(evidence: Evidence) -> int | None:
    rooms = evidence.rooms.first_visits
    return None if rooms is None else min(2, max(0, rooms))


def _efficiency(evidence: Evidence) -> int | None:
    idle, walked = evidence.movement.idle_share, evidence.movement.pixels
    if idle is None or walked is None or not evidence.segment.steps or _helpless(evidence):
        return None
    if idle > _MOSTLY or (evidence.share(evidence.control.menu_steps) or 0.0) > 0.5:
        return 0
    straight = evidence.movement.straightness or 0.0
    return 2 if idle < 0.3 and (_any_gain(evidence.rooms.changes) or straight > 0.35) else 1


def _helpless(evidence: Evidence) -> bool:
    return (evidence.share(evidence.control.steps_without) or 0.0) >= 0.9


def _dialog(evidence: Evidence) -> int | None:
    """0 for a text that never closed; judges decide whether another one was useful."""
    share, closed = evidence.share(evidence.dialog.steps), evidence.dialog.closed
    stuck = bool(evidence.dialog.open_at_end) and closed == 0 and (share or 0.0) > _STUCK
    return 0 if stuck else None


def _puzzle(evidence: Evidence) -> int | None:
    """2 if something opened, 1 if a part changed, else 0; None without a puzzle."""
    puzzle = evidence.puzzle
    if _any_gain(puzzle.events_done, puzzle.items_taken, evidence.changes.keys):
        return 2
    if not puzzle.parts:
        return None
    return int(any(max(highest, last) > first for first, highest, last in puzzle.parts.values()))


def _absent(evidence: Evidence) -> dict[str, int | NoVote | None]:
    """`INSUFFICIENT` for each criterion that certainly does not apply."""
    found: dict[str, int | NoVote | None] = {}
    if evidence.dialog.steps == 0:
        found["dialog"] = NoVote.INSUFFICIENT
    unchanged = evidence.puzzle.events_done == 0 and evidence.puzzle.items_taken == 0
    if evidence.puzzle.parts == {} and unchanged and _puzzle(evidence) is None:
        found["puzzle"] = NoVote.INSUFFICIENT
    return found


def _any_gain(*counts: int | None) -> bool:
    return any((count or 0) > 0 for count in counts)
