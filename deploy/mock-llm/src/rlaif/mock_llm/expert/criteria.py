"""What anybody who knows such games thinks of a segment: one small rule a criterion.

Each rule gives (level, reason), or None as level when the evidence lacks what the criterion needs.
What counts as slow, idle or straight is this expert's own view.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from rlaif.contracts.judging.evidence import Evidence

Opinion = tuple[int | None, str]
"""A level 0 to 2 or None, and the reason in a few words."""

_IDLE, _BUSY = 0.6, 0.3
"""Shares of idle steps above which the time was wasted, and below which it was used."""
_MOST_IN_MENUS = 0.5
_HELPLESS = 0.9
"""Share of the steps without control from which on there is nothing to judge."""
_STRAIGHT = 0.35


def _progress(evidence: Evidence) -> Opinion:
    """Milestones, small steps, or nothing: for places that the expert does not know."""
    rooms, changes = evidence.rooms, evidence.changes
    if rooms.first_visits is None and changes.rupees is None and changes.items_gained is None:
        return None, "rooms and inventory are unknown"
    if evidence.died:
        return 0, "the player died"
    if changes.items_gained:
        return 2, f"gained {', '.join(changes.items_gained)}"
    if changes.treasures > 0:
        return 2, "gained a key or an essence"
    if (rooms.first_visits or 0) >= 3:
        return 2, f"{rooms.first_visits} rooms for the first time"
    small = (rooms.first_visits, changes.rupees, evidence.enemies.defeated, rooms.changes)
    if any((gain or 0) > 0 for gain in small):
        return 1, "a small step: a room, rupees or a defeated enemy"
    return 0, "nothing was gained"


def _efficiency(evidence: Evidence) -> Opinion:
    """Purposeful movement or waste."""
    idle, walked = evidence.movement.idle_share, evidence.movement.pixels
    if idle is None or walked is None or not evidence.segment.steps:
        return None, "positions are unknown"
    if (evidence.share(evidence.control.steps_without) or 0.0) >= _HELPLESS:
        return None, "the player had no control"
    if idle > _IDLE or (evidence.share(evidence.control.menu_steps) or 0.0) > _MOST_IN_MENUS:
        return 0, f"idle for {idle:.0%} of the steps"
    straight = evidence.movement.straightness
    purposeful = (evidence.rooms.changes or 0) > 0 or straight is None or straight > _STRAIGHT
    if idle < _BUSY and purposeful:
        return 2, f"idle for {idle:.0%} only, {walked} pixels walked"
    return 1, f"idle for {idle:.0%}, some of the way was repeated"


def _puzzle(evidence: Evidence) -> Opinion:
    """Whether a puzzle's parts changed, and whether something gave way."""
    puzzle = evidence.puzzle
    if puzzle.parts is None and puzzle.events_done is None and puzzle.items_taken is None:
        return None, "puzzles are unknown"
    gave_way = (puzzle.events_done, puzzle.items_taken, evidence.changes.keys)
    if any((times or 0) > 0 for times in gave_way):
        return 2, "a door, a chest or a key gave way"
    if not puzzle.parts:
        return None, "no part of a puzzle is in the evidence"
    for name, (first, highest, last) in puzzle.parts.items():
        if max(highest, last) > first:
            return 1, f"{name} changed"
    return 0, "a puzzle was there and nothing of it changed"


def _novelty(evidence: Evidence) -> Opinion:
    """Rooms that were never entered before."""
    rooms = evidence.rooms.first_visits
    if rooms is None:
        return None, "the rooms are unknown"
    if rooms >= 2:
        return 2, f"{rooms} new rooms"
    return (1, "one new room") if rooms > 0 else (0, "no room was new")


RULES: Mapping[str, Callable[[Evidence], Opinion]] = MappingProxyType(
    {
        "progress": _progress,
        "efficiency": _efficiency,
        "puzzle": _puzzle,
        "novelty": _novelty,
    }
)
