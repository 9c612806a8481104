"""What the game's memory decides without a judge, read off the evidence.

The rubric's anchors name facts; where the RAM holds those facts, a language model could only repeat
them or get them wrong. The levels here are used twice: as scores, for the kinds in `Computed`, and
as truth against which the judges' votes are held.
"""

from collections.abc import Container, Mapping
from typing import Any, Literal, get_args

from rlaif.judge.rubric.votes import NoVote

Computed = Literal["novelty", "efficiency", "milestones", "absence"]
"""What may be computed in place of being asked.

`novelty` and `efficiency` are whole criteria. `milestones` settles progress when something was
gained for good or the player died. `absence` settles dialog and puzzle when there was none.
"""

COMPUTED: tuple[Computed, ...] = get_args(Computed)

_MOSTLY = 0.6
"""Share of the steps from which on a segment counts as mostly spent on a thing."""

Facts = Mapping[str, Mapping[str, Any]]


def decide(facts: Facts, kinds: Container[str]) -> dict[str, int | NoVote]:
    """Criterion → its level, or `INSUFFICIENT`, for what needs no judge.

    Args:
        facts: The evidence of one segment.
        kinds: Which of `COMPUTED` to decide.

    Returns:
        Only criteria that are certain; what the memory does not show is left to the judges.
    """
    decided: dict[str, int | NoVote | None] = {}
    if "novelty" in kinds:
        decided["novelty"] = _novelty(facts)
    if "efficiency" in kinds:
        decided["efficiency"] = NoVote.INSUFFICIENT if _helpless(facts) else _efficiency(facts)
    if "milestones" in kinds:
        decided["progress"] = _milestone(facts)
    if "absence" in kinds:
        decided |= _absent(facts)
    return {name: level for name, level in decided.items() if level is not None}


def truth(facts: Facts) -> dict[str, int]:
    """Criterion → the level that follows from the anchors and the memory, where it does."""
    found = {
        "progress": _progress(facts),
        "dialog": _dialog(facts),
        "puzzle": _puzzle(facts),
        "novelty": _novelty(facts),
        "efficiency": _efficiency(facts),
    }
    return {name: level for name, level in found.items() if level is not None}


def _milestone(facts: Facts) -> int | None:
    """2 for something gained for good, 0 for a death; None when neither happened."""
    if _number(facts, "end", "hearts") == 0 or (_number(facts, "changes", "deaths") or 0) > 0:
        return 0
    gained = sum(_number(facts, "changes", name) or 0 for name in ("keys", "essences"))
    return 2 if gained > 0 or _value(facts, "changes", "items_gained") else None


def _progress(facts: Facts) -> int | None:
    settled = _milestone(facts)
    rooms = _number(facts, "rooms", "first_visits")
    if settled is not None or rooms is None:
        return settled
    if rooms >= 3:
        return 2
    small = (("changes", "rupees"), ("enemies", "defeated"), ("rooms", "changes"))
    return int(rooms > 0 or any((_number(facts, *path) or 0) > 0 for path in small))


def _novelty(facts: Facts) -> int | None:
    rooms = _number(facts, "rooms", "first_visits")
    return None if rooms is None else min(2, max(0, int(rooms)))


def _efficiency(facts: Facts) -> int | None:
    idle, pixels = _number(facts, "movement", "idle_share"), _number(facts, "movement", "pixels")
    steps = _number(facts, "segment", "steps")
    if idle is None or pixels is None or not steps or _helpless(facts):
        return None
    if idle > _MOSTLY or (_number(facts, "control", "menu_steps") or 0) > steps / 2:
        return 0
    straight = _straightness(_value(facts, "movement", "path"), pixels)
    purposeful = (_number(facts, "rooms", "changes") or 0) > 0 or straight > 0.35
    return 2 if idle < 0.3 and purposeful else 1


def _helpless(facts: Facts) -> bool:
    """Whether the player had no control nearly all the time."""
    steps, without = _number(facts, "segment", "steps"), _number(facts, "control", "steps_without")
    return bool(steps) and without is not None and without >= 0.9 * (steps or 0)


def _straightness(path: Any, pixels: float) -> float:
    """Distance between the ends of the path over the way walked, 0 to 1."""
    if not isinstance(path, list) or len(path) < 2 or pixels <= 0:
        return 0.0
    (x0, y0), (x1, y1) = path[0], path[-1]
    return float(abs(x1 - x0) + abs(y1 - y0)) / pixels


def _dialog(facts: Facts) -> int | None:
    """0 for a text that never closed, 2 for one that was read quickly; None in between."""
    steps, closed = _number(facts, "dialog", "steps"), _number(facts, "dialog", "closed")
    total = _number(facts, "segment", "steps")
    if not steps or not total or closed is None:
        return None
    still_open = _value(facts, "dialog", "open_at_end")
    if still_open and closed == 0 and steps > 0.9 * total:
        return 0
    return 2 if not still_open and 1 <= closed <= 3 and steps < 0.5 * total else None


def _puzzle(facts: Facts) -> int | None:
    """2 when something gave way, 1 or 0 by whether a part changed; None without a puzzle."""
    gave_way = (("puzzle", "events_done"), ("puzzle", "items_taken"), ("changes", "keys"))
    if any((_number(facts, *path) or 0) > 0 for path in gave_way):
        return 2
    parts = _value(facts, "puzzle", "parts")
    if not isinstance(parts, Mapping) or not parts:
        return None
    return int(any(max(trail[1:]) > trail[0] for trail in parts.values()))


def _absent(facts: Facts) -> dict[str, int | NoVote | None]:
    """`INSUFFICIENT` for what was not there at all; nothing where that is unknown."""
    found: dict[str, int | NoVote | None] = {}
    if _number(facts, "dialog", "steps") == 0:
        found["dialog"] = NoVote.INSUFFICIENT
    nothing_gave = all(
        _number(facts, "puzzle", name) == 0 for name in ("events_done", "items_taken")
    )
    if _value(facts, "puzzle", "parts") == {} and nothing_gave and _puzzle(facts) is None:
        found["puzzle"] = NoVote.INSUFFICIENT
    return found


def _value(facts: Facts, section: str, name: str) -> Any:
    return facts.get(section, {}).get(name)


def _number(facts: Facts, section: str, name: str) -> float | None:
    value = _value(facts, section, name)
    return None if isinstance(value, bool) or not isinstance(value, int | float) else value
