"""What the stand-in thinks of a segment: one small rule a criterion, read off the evidence.

Each rule gives (level, reason), or None as level when the evidence lacks what the criterion needs.
They are an expert's opinions by the anchors of the judges' rubric, so that the loop learns
something true; what counts as slow, idle or straight is this expert's own view.
"""

from collections.abc import Callable

from rlaif.contracts.evidence import Evidence

Opinion = tuple[int | None, str]
"""A level 0 to 2 or None, and the reason in a few words."""

_LONG_TALK = 0.6
"""Share of the steps from which on a text held the player up."""
_MOST_TEXTS_READ = 3
_IDLE, _BUSY = 0.6, 0.3
"""Shares of idle steps above which the time was wasted, and below which it was used."""
_MOST_IN_MENUS = 0.5
_HELPLESS = 0.9
"""Share of the steps without control from which on there is nothing to judge."""
_STRAIGHT = 0.35


def judge_progress(evidence: Evidence) -> Opinion:
    """Milestones, small steps, or nothing."""
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


def judge_dialog(evidence: Evidence) -> Opinion:
    """Whether text was read to its end."""
    dialog, share = evidence.dialog, evidence.share(evidence.dialog.steps)
    if not dialog.steps or share is None:
        return None, "no dialog was open" if dialog.steps == 0 else "dialog is unknown"
    closed = dialog.closed or 0
    if dialog.open_at_end and closed == 0 and share > _LONG_TALK:
        return 0, f"the text stayed open for {share:.0%} of the time"
    if share > _LONG_TALK or not 1 <= closed <= _MOST_TEXTS_READ:
        return 1, f"the text took {share:.0%} of the time"
    return 2, "the text was opened, read and closed"


def judge_efficiency(evidence: Evidence) -> Opinion:
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


def judge_puzzle(evidence: Evidence) -> Opinion:
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


def judge_novelty(evidence: Evidence) -> Opinion:
    """Rooms that were never entered before."""
    rooms = evidence.rooms.first_visits
    if rooms is None:
        return None, "the rooms are unknown"
    if rooms >= 2:
        return 2, f"{rooms} new rooms"
    return (1, "one new room") if rooms > 0 else (0, "no room was new")


RULES: dict[str, Callable[[Evidence], Opinion]] = {
    "progress": judge_progress,
    "dialog": judge_dialog,
    "efficiency": judge_efficiency,
    "puzzle": judge_puzzle,
    "novelty": judge_novelty,
}


def levels_of(evidence: Evidence) -> dict[str, int | None]:
    """Criterion → the level of its rule; None where it abstains."""
    return {name: rule(evidence)[0] for name, rule in RULES.items()}
