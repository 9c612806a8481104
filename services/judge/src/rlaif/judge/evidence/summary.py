"""What a judge may know of a segment: its states, boiled down to about 400 tokens of JSON.

In go the lines of states.jsonl, out come named facts in a fixed order; equal states give equal
bytes. No reward, id, step number of the run or fact of the policy is in it: a judge that sees them
echoes them. Only the fields named here pass, so a new field of the description cannot leak in.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from rlaif.contracts.segments import StateRecord
from rlaif.judge.evidence import reading

EVIDENCE_VERSION = "evidence-2"
"""Part of the judge configuration: change it when the facts change."""

GAME_FRAMES_PER_SECOND = 60

_PATH_POINTS = 8
_LISTED_ROOMS = 10
_LISTED_NAMES = 6
_PUZZLE_PARTS = ("buttons_pressed", "switches_on", "toggles_on", "torches_lit")

Facts = dict[str, dict[str, Any]]
"""Section → fact → value; null where the states do not say."""


def summarise(records: Sequence[StateRecord]) -> Facts:
    """Summarise the states of one segment.

    Args:
        records: One for each decision step, in order; at least one.
    """
    states = [record.state for record in records]
    return {
        "segment": _segment(records),
        "start": _snapshot(states[0]),
        "end": _snapshot(states[-1]),
        "rooms": _rooms(states),
        "movement": _movement(states),
        "changes": _changes(states[0], states[-1]),
        "dialog": _dialog(states),
        "control": _control(states),
        "enemies": _enemies(states),
        "puzzle": _puzzle(states),
    }


def evidence_sha256(facts: Facts) -> str:
    """Digest of the evidence; segments with equal ones are near-duplicates to a judge."""
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def places(records: Sequence[StateRecord]) -> list[tuple[str, tuple[int, int]] | None]:
    """(room, position) after each decision step; None where either is unknown."""
    found: list[tuple[str, tuple[int, int]] | None] = []
    for record in records:
        room, at = reading.room(record.state), reading.position(record.state)
        found.append(None if room is None or at is None else (room, at))
    return found


def _segment(records: Sequence[StateRecord]) -> dict[str, Any]:
    seconds = records[-1].frame / GAME_FRAMES_PER_SECOND  # what was waited counts
    pressed = Counter(reading.label(record.action) or "unknown" for record in records)
    # Ties by name, so that the order does not depend on who came first.
    common = sorted(pressed.items(), key=lambda item: (-item[1], item[0]))[:4]
    shares = {name: round(times / len(records), 2) for name, times in common}
    return {"seconds": round(seconds, 1), "steps": len(records), "inputs": shares}


def _snapshot(state: dict[str, Any]) -> dict[str, Any]:
    place = reading.position(state)
    return {
        "room": reading.room(state),
        "area": reading.label(reading.lookup(state, "room", "area")),
        "dungeon": reading.number(state, "room", "dungeon"),
        "at": None if place is None else list(place),
        "hearts": reading.number(state, "player", "hearts"),
        "max_hearts": reading.number(state, "player", "max_hearts"),
        "rupees": reading.count(state, "rupees"),
        "keys": reading.count(state, "keys"),
        "season": reading.label(state.get("season")),
    }


def _rooms(states: Sequence[dict[str, Any]]) -> dict[str, Any]:
    seen = [room for room in map(reading.room, states) if room is not None]
    order = [room for at, room in enumerate(seen) if at == 0 or seen[at - 1] != room]
    return {
        "in_order": order[:_LISTED_ROOMS] if order else None,
        "changes": len(order) - 1 if order else None,
        "different": len(set(order)) if order else None,
        "first_visits": _gain(states[0], states[-1], "rooms_visited"),
    }


def _movement(states: Sequence[dict[str, Any]]) -> dict[str, Any]:
    steps = [
        _Step(
            pixels=abs(to[0] - at[0]) + abs(to[1] - at[1]),
            left_room=reading.room(before) != reading.room(after),
            control=reading.flag(before, "flags", "control") is not False,
        )
        for before, after in pairwise(states)
        if (at := reading.position(before)) and (to := reading.position(after))
    ]
    places = [list(place) for place in map(reading.position, states) if place is not None]
    free = [step for step in steps if step.control]
    idle = sum(1 for step in free if step.pixels == 0 and not step.left_room)
    return {
        # A change of room moves the player to the other edge: that is no walked distance.
        "pixels": sum(step.pixels for step in steps if not step.left_room) if steps else None,
        "idle_share": round(idle / len(free), 2) if free else None,
        "path": _spread(places, _PATH_POINTS) or None,
    }


class _Step(NamedTuple):
    """From one state to the next: pixels moved, whether into another room, whether in control."""

    pixels: int
    left_room: bool
    control: bool


def _changes(start: dict[str, Any], end: dict[str, Any]) -> dict[str, Any]:
    before, after = reading.labels(start, "items"), reading.labels(end, "items")
    known = before is not None and after is not None
    # Small keys belong to a dungeon: between two of them there is no difference to tell.
    same = reading.lookup(start, "room", "dungeon") == reading.lookup(end, "room", "dungeon")
    return {
        "hearts": _difference(start, end, "player", "hearts"),
        "max_hearts": _difference(start, end, "player", "max_hearts"),
        "deaths": _gain(start, end, "deaths"),
        "rupees": _gain(start, end, "rupees"),
        "bombs": _gain(start, end, "bombs"),
        "keys": _gain(start, end, "keys") if same else None,
        "essences": _gain(start, end, "essences"),
        "items_gained": _minus(after or [], before or []) if known else None,
        "items_lost": _minus(before or [], after or []) if known else None,
    }


def _dialog(states: Sequence[dict[str, Any]]) -> dict[str, Any]:
    known = [s for s in states if reading.flag(s, "flags", "dialog") is not None]
    if not known:
        return dict.fromkeys(("steps", "opened", "closed", "texts", "open_at_end"))
    flags = [bool(reading.flag(state, "flags", "dialog")) for state in known]
    texts = {
        text
        for state, flag in zip(known, flags, strict=True)
        if flag and (text := reading.number(state, "text_id")) is not None
    }
    return {
        "steps": sum(flags),
        "opened": sum(1 for a, b in pairwise(flags) if b and not a),
        "closed": sum(1 for a, b in pairwise(flags) if a and not b),
        "texts": len(texts) if texts or not any(flags) else None,
        "open_at_end": flags[-1],
    }


def _control(states: Sequence[dict[str, Any]]) -> dict[str, Any]:
    held = [f for state in states if (f := reading.flag(state, "flags", "control")) is not None]
    menus = [m for state in states if (m := reading.flag(state, "flags", "menu")) is not None]
    return {
        "steps_without": sum(not flag for flag in held) if held else None,
        "menu_steps": sum(menus) if menus else None,
    }


def _enemies(states: Sequence[dict[str, Any]]) -> dict[str, Any]:
    seen = [count for state in states if (count := _enemies_near(state)) is not None]
    return {
        "most_near": max(seen) if seen else None,
        "left_at_end": reading.count(states[-1], "room", "enemies_left"),
        "defeated": _gain(states[0], states[-1], "enemies_defeated"),
    }


def _enemies_near(state: dict[str, Any]) -> int | None:
    entities = state.get("entities")
    if not isinstance(entities, list):
        return None
    kinds = [reading.lookup(entity, "kind") for entity in entities if isinstance(entity, dict)]
    return kinds.count("enemy")


def _puzzle(states: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Parts of puzzles that were ever in use, and what the room gave in return."""
    known = [puzzle for state in states if isinstance(puzzle := state.get("puzzle"), dict)]
    parts = {name: trail for name in _PUZZLE_PARTS if any(trail := _trail(known, name))}
    return {
        "parts": parts if known else None,
        "events_done": _came_true(states, "event_done"),
        "items_taken": _came_true(states, "item_taken"),
    }


def _trail(puzzles: Sequence[dict[str, Any]], name: str) -> list[int | float]:
    """[first, highest, last] of a part's readings; empty when there are none."""
    read = [value for puzzle in puzzles if (value := reading.number(puzzle, name)) is not None]
    return [read[0], max(read), read[-1]] if read else []


def _came_true(states: Sequence[dict[str, Any]], name: str) -> int | None:
    """How often a flag of the room went from false to true while the player was in that room."""
    known = [s for s in states if reading.flag(s, "room", name) is not None]
    if not known:
        return None
    return sum(
        1
        for before, after in pairwise(known)
        if reading.room(before) == reading.room(after)
        and reading.flag(after, "room", name)
        and not reading.flag(before, "room", name)
    )


def _gain(start: dict[str, Any], end: dict[str, Any], name: str) -> int | None:
    before, after = reading.count(start, name), reading.count(end, name)
    return None if before is None or after is None else after - before


def _difference(start: dict[str, Any], end: dict[str, Any], *path: str) -> float | None:
    before, after = reading.number(start, *path), reading.number(end, *path)
    return None if before is None or after is None else round(after - before, 2)


def _minus(these: Sequence[str], those: Sequence[str]) -> list[str]:
    return sorted((Counter(these) - Counter(those)).elements())[:_LISTED_NAMES]


def _spread(places: Sequence[Any], points: int) -> list[Any]:
    """At most `points` of `places`, evenly spaced, first and last among them."""
    if len(places) <= points:
        return list(places)
    return [places[round(at * (len(places) - 1) / (points - 1))] for at in range(points)]
