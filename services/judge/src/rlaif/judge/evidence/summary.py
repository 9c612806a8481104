"""Makes the evidence of a segment: its states, boiled down to about 600 tokens of JSON.

In go the lines of states.jsonl, out come the facts of `rlaif.contracts.evidence`. No reward, id,
step number of the run or fact of the policy is in them: a judge that sees them echoes them. Only
what is named here passes, so a new field of the description cannot leak in.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

from rlaif.contracts.evidence import (
    Changes,
    Control,
    Dialog,
    Enemies,
    Evidence,
    Moment,
    Movement,
    Point,
    Puzzle,
    Rooms,
    Span,
)
from rlaif.contracts.segments import StateRecord
from rlaif.judge.evidence import reading
from rlaif.judge.evidence.loading import spread
from rlaif.judge.evidence.whereabouts import where_in_room

GAME_FRAMES_PER_SECOND = 60

_PATH_POINTS = 8
_LISTED_ROOMS = 10
_LISTED_NAMES = 6
_LISTED_TEXTS = 4
_PUZZLE_PARTS = ("buttons_pressed", "switches_on", "toggles_on", "torches_lit")

T = TypeVar("T")

State = dict[str, Any]
"""The description of one state; `rlaif.judge.evidence.reading` reads it."""


def summarise(records: Sequence[StateRecord]) -> Evidence:
    """Summarise the states of one segment: one a decision step, in order; at least one."""
    states = [record.state for record in records]
    return Evidence(
        segment=_span(records),
        start=_moment(states[0]),
        end=_moment(states[-1]),
        rooms=_rooms(states),
        movement=_movement(states),
        changes=_changes(states[0], states[-1]),
        dialog=_dialog(states),
        control=_control(states),
        enemies=_enemies(states),
        puzzle=_puzzle(states),
    )


def places(records: Sequence[StateRecord]) -> list[tuple[str, Point] | None]:
    """(room, position) after each decision step; None where either is unknown."""
    found: list[tuple[str, Point] | None] = []
    for record in records:
        room, at = reading.room(record.state), reading.position(record.state)
        found.append(None if room is None or at is None else (room, at))
    return found


def _span(records: Sequence[StateRecord]) -> Span:
    seconds = records[-1].frame / GAME_FRAMES_PER_SECOND  # what was waited counts
    pressed = Counter(reading.label(record.action) or "unknown" for record in records)
    # Ties by name, so that the order does not depend on who came first.
    common = sorted(pressed.items(), key=lambda item: (-item[1], item[0]))[:4]
    shares = {name: round(times / len(records), 2) for name, times in common}
    return Span(seconds=round(seconds, 1), steps=len(records), inputs=shares)


def _moment(state: State) -> Moment:
    dungeon_items = reading.labels(state, "dungeon_items")
    return Moment(
        game=reading.game(state),
        place=reading.place(state),
        where=_where(state),
        room=reading.room(state),
        area=reading.label(reading.lookup(state, "room", "area")),
        dungeon=reading.number(state, "room", "dungeon"),
        at=reading.position(state),
        hearts=reading.number(state, "player", "hearts"),
        max_hearts=reading.number(state, "player", "max_hearts"),
        rupees=reading.count(state, "rupees"),
        keys=reading.count(state, "keys"),
        boss_key=None if dungeon_items is None else "boss_key" in dungeon_items,
        essences=reading.count(state, "essences"),
        season=reading.label(state.get("season")),
        items=_owned(state),
    )


def _where(state: State) -> str | None:
    at, large = reading.position(state), reading.flag(state, "room", "large")
    return None if at is None or large is None else where_in_room(at, large=large)


def _owned(state: State) -> tuple[str, ...] | None:
    """What is owned, with map and compass of the dungeon; each name once, as the game lists it."""
    items = reading.items(state)
    if items is None:
        return None
    of_dungeon = reading.labels(state, "dungeon_items") or []
    # A boss key has a fact of its own.
    return tuple(dict.fromkeys([*items, *(name for name in of_dungeon if name != "boss_key")]))


def _rooms(states: Sequence[State]) -> Rooms:
    first_visits = _gain(states[0], states[-1], "rooms_visited")
    way = [(room, state) for state in states if (room := reading.room(state)) is not None]
    if not way:
        return Rooms(first_visits=first_visits)
    order = [held for at, held in enumerate(way) if at == 0 or way[at - 1][0] != held[0]]
    return Rooms(
        in_order=tuple(room for room, _ in order[:_LISTED_ROOMS]),
        places=_places([state for _, state in order[:_LISTED_ROOMS]]),
        changes=len(order) - 1,
        different=len({room for room, _ in order}),
        first_visits=first_visits,
    )


def _places(states: Sequence[State]) -> tuple[str, ...] | None:
    """What the rooms are called, or else their area; None when none has a name."""
    named = [reading.place(state) for state in states]
    if not any(named):
        return None
    areas = [reading.label(reading.lookup(state, "room", "area")) for state in states]
    return tuple(name or area or reading.OTHER for name, area in zip(named, areas, strict=True))


class _Step(NamedTuple):
    """From one state to the next: pixels moved, whether into another room, whether in control."""

    pixels: int
    left_room: bool
    control: bool


def _movement(states: Sequence[State]) -> Movement:
    steps = _steps(states)
    free = [step for step in steps if step.control]
    idle = sum(1 for step in free if step.pixels == 0 and not step.left_room)
    path = spread(_known(map(reading.position, states)), _PATH_POINTS)
    return Movement(
        # A change of room moves the player to the other edge: that is no walked distance.
        pixels=sum(step.pixels for step in steps if not step.left_room) if steps else None,
        idle_share=round(idle / len(free), 2) if free else None,
        path=tuple(path) or None,
    )


def _steps(states: Sequence[State]) -> list[_Step]:
    return [
        _Step(
            pixels=abs(to[0] - at[0]) + abs(to[1] - at[1]),
            left_room=reading.room(before) != reading.room(after),
            control=reading.flag(before, "flags", "control") is not False,
        )
        for before, after in pairwise(states)
        if (at := reading.position(before)) and (to := reading.position(after))
    ]


def _changes(start: State, end: State) -> Changes:
    # Keys, map and compass belong to a dungeon: between two of them there is nothing to compare.
    same = reading.lookup(start, "room", "dungeon") == reading.lookup(end, "room", "dungeon")
    before, after = _possessions(start, of_dungeon=same), _possessions(end, of_dungeon=same)
    known = before is not None and after is not None
    return Changes(
        hearts=_difference(start, end, "player", "hearts"),
        max_hearts=_difference(start, end, "player", "max_hearts"),
        deaths=_gain(start, end, "deaths"),
        rupees=_gain(start, end, "rupees"),
        bombs=_gain(start, end, "bombs"),
        keys=_gain(start, end, "keys") if same else None,
        essences=_gain(start, end, "essences"),
        items_gained=_minus(after or [], before or []) if known else None,
        items_lost=_minus(before or [], after or []) if known else None,
    )


def _possessions(state: State, *, of_dungeon: bool) -> list[str] | None:
    items = reading.items(state)
    more = reading.labels(state, "dungeon_items") if of_dungeon else None
    return None if items is None else [*items, *(more or [])]


def _dialog(states: Sequence[State]) -> Dialog:
    known = [state for state in states if reading.flag(state, "flags", "dialog") is not None]
    if not known:
        return Dialog()
    flags = [bool(reading.flag(state, "flags", "dialog")) for state in known]
    opened = [state for state, flag in zip(known, flags, strict=True) if flag]
    texts = set(_known(reading.number(state, "text_id") for state in opened))
    said = tuple(dict.fromkeys(_known(map(reading.said, opened))))
    return Dialog(
        steps=len(opened),
        opened=sum(1 for a, b in pairwise(flags) if b and not a),
        closed=sum(1 for a, b in pairwise(flags) if a and not b),
        texts=len(texts) if texts or not opened else None,
        said=said[:_LISTED_TEXTS] if said or not opened else None,
        open_at_end=flags[-1],
    )


def _control(states: Sequence[State]) -> Control:
    held = _known(reading.flag(state, "flags", "control") for state in states)
    menus = _known(reading.flag(state, "flags", "menu") for state in states)
    return Control(
        steps_without=sum(not flag for flag in held) if held else None,
        menu_steps=sum(menus) if menus else None,
    )


def _enemies(states: Sequence[State]) -> Enemies:
    return Enemies(
        most_near=max(_known(map(_enemies_near, states)), default=None),
        left_at_end=reading.count(states[-1], "room", "enemies_left"),
        defeated=_gain(states[0], states[-1], "enemies_defeated"),
    )


def _enemies_near(state: State) -> int | None:
    entities = state.get("entities")
    if not isinstance(entities, list):
        return None
    kinds = [reading.lookup(entity, "kind") for entity in entities if isinstance(entity, dict)]
    return kinds.count("enemy")


def _puzzle(states: Sequence[State]) -> Puzzle:
    """Parts of puzzles that were ever in use, and what the room gave in return."""
    known = [puzzle for state in states if isinstance(puzzle := state.get("puzzle"), dict)]
    parts = {name: trail for name in _PUZZLE_PARTS if any(trail := _trail(known, name))}
    return Puzzle(
        parts=parts if known else None,
        events_done=_came_true(states, "event_done"),
        items_taken=_came_true(states, "item_taken"),
    )


def _trail(puzzles: Sequence[State], name: str) -> tuple[float, float, float]:
    """(first, highest, last) of a part's readings; zeros when there are none."""
    read = _known(reading.number(puzzle, name) for puzzle in puzzles) or [0]
    return read[0], max(read), read[-1]


def _came_true(states: Sequence[State], name: str) -> int | None:
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


def _gain(start: State, end: State, name: str) -> int | None:
    before, after = reading.count(start, name), reading.count(end, name)
    return None if before is None or after is None else after - before


def _difference(start: State, end: State, *path: str) -> float | None:
    before, after = reading.number(start, *path), reading.number(end, *path)
    return None if before is None or after is None else round(after - before, 2)


def _minus(these: Sequence[str], those: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted((Counter(these) - Counter(those)).elements())[:_LISTED_NAMES])


def _known(readings: Iterable[T | None]) -> list[T]:
    return [reading for reading in readings if reading is not None]
