"""What the stand-in thinks of a segment: one small rule a criterion, read off the evidence.

Each rule gives (level, reason), or None as level when the evidence lacks what the criterion needs.
They follow the anchors of the judges' rubric, so that the loop learns something true.
"""

from collections.abc import Callable

from rlaif.mock_llm.reading import Evidence

Opinion = tuple[int | None, str]
"""A level 0 to 2 or None, and the reason in a few words."""

_MOSTLY = 0.6
"""Share of the steps from which on a segment counts as mostly spent on a thing."""


def judge_progress(evidence: Evidence) -> Opinion:
    """Milestones, small steps, or nothing."""
    rooms = evidence.number("rooms", "first_visits")
    rupees = evidence.number("changes", "rupees")
    items = evidence.value("changes", "items_gained")
    if rooms is None and rupees is None and items is None:
        return None, "rooms and inventory are unknown"
    if evidence.number("end", "hearts") == 0 or (evidence.number("changes", "deaths") or 0) > 0:
        return 0, "the player died"
    gained = sum(evidence.number("changes", name) or 0 for name in ("keys", "essences"))
    if items or gained > 0:
        return 2, f"gained {', '.join(map(str, items)) if items else 'a key or an essence'}"
    if (rooms or 0) >= 3:
        return 2, f"{rooms:.0f} rooms for the first time"
    fallen = evidence.number("enemies", "defeated") or 0
    changes = evidence.number("rooms", "changes") or 0
    if (rooms or 0) > 0 or (rupees or 0) > 0 or fallen > 0 or changes > 0:
        return 1, "a small step: a room, rupees or a defeated enemy"
    return 0, "nothing was gained"


def judge_dialog(evidence: Evidence) -> Opinion:
    """Whether text was read to its end."""
    steps = evidence.number("dialog", "steps")
    if not steps:
        return None, "no dialog was open" if steps == 0 else "dialog is unknown"
    share = steps / max(1.0, evidence.number("segment", "steps") or 1.0)
    closed = evidence.number("dialog", "closed") or 0
    if evidence.value("dialog", "open_at_end") and closed == 0 and share > _MOSTLY:
        return 0, f"the text stayed open for {share:.0%} of the time"
    if share > _MOSTLY or closed == 0 or closed > 3:
        return 1, f"the text took {share:.0%} of the time"
    return 2, "the text was opened, read and closed"


def judge_efficiency(evidence: Evidence) -> Opinion:
    """Purposeful movement or waste."""
    idle = evidence.number("movement", "idle_share")
    pixels = evidence.number("movement", "pixels")
    steps = evidence.number("segment", "steps") or 0
    if idle is None or pixels is None or not steps:
        return None, "positions are unknown"
    without = evidence.number("control", "steps_without") or 0
    if without >= 0.9 * steps:
        return None, "the player had no control"
    if idle > _MOSTLY or (evidence.number("control", "menu_steps") or 0) > steps / 2:
        return 0, f"idle for {idle:.0%} of the steps"
    rooms = evidence.number("rooms", "changes") or 0
    purpose = _straightness(evidence)
    if idle < 0.3 and (rooms > 0 or purpose is None or purpose > 0.35):
        return 2, f"idle for {idle:.0%} only, {pixels:.0f} pixels walked"
    return 1, f"idle for {idle:.0%}, some of the way was repeated"


def judge_puzzle(evidence: Evidence) -> Opinion:
    """Whether a puzzle's parts changed, and whether something gave way."""
    parts = evidence.value("puzzle", "parts")
    done = evidence.number("puzzle", "events_done")
    taken = evidence.number("puzzle", "items_taken")
    if parts is None and done is None and taken is None:
        return None, "puzzles are unknown"
    if (done or 0) > 0 or (taken or 0) > 0 or (evidence.number("changes", "keys") or 0) > 0:
        return 2, "a door, a chest or a key gave way"
    if not parts:
        return None, "no part of a puzzle is in the evidence"
    touched = [
        name for name, (first, highest, last) in parts.items() if highest > first or last > first
    ]
    if touched:
        return 1, f"{touched[0]} changed"
    return 0, "a puzzle was there and nothing of it changed"


def judge_novelty(evidence: Evidence) -> Opinion:
    """Rooms that were never entered before."""
    rooms = evidence.number("rooms", "first_visits")
    if rooms is None:
        return None, "the rooms are unknown"
    if rooms >= 2:
        return 2, f"{rooms:.0f} new rooms"
    return (1, "one new room") if rooms > 0 else (0, "no room was new")


def _straightness(evidence: Evidence) -> float | None:
    """Distance between the ends of the path over the way walked; None when unknown."""
    path = evidence.value("movement", "path")
    pixels = evidence.number("movement", "pixels")
    if not isinstance(path, list) or len(path) < 2 or not pixels:
        return None
    (x0, y0), (x1, y1) = path[0], path[-1]
    return float(abs(x1 - x0) + abs(y1 - y0)) / pixels


RULES: dict[str, Callable[[Evidence], Opinion]] = {
    "progress": judge_progress,
    "dialog": judge_dialog,
    "efficiency": judge_efficiency,
    "puzzle": judge_puzzle,
    "novelty": judge_novelty,
}
