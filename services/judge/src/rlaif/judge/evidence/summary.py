"""Summarizes the states of a segment as evidence: about 600 tokens of JSON.

No reward, id, step number of the run or fact about the policy is included, because judges would
echo them. Only the fields named here are used, so new fields of the description cannot leak in.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeVar

from rlaif.contracts.game.rates import FRAMES_PER_SECOND
from rlaif.contracts.judging.evidence import (
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
from rlaif.judge.evidence.described import OTHER, PUZZLE_PARTS, DescribedState
from rlaif.judge.evidence.loading import spread

_PATH_POINTS = 8
_MAX_ROOMS = 10
_MAX_NAMES = 6
_MAX_TEXTS = 4

_SMALL, _LARGE = (160, 128), (240, 176)
"""Width and height of a room in pixels; the camera follows the player in a large one."""
_TILE = 16
_COLUMNS, _ROWS = ("west", "", "east"), ("north", "", "south")

T = TypeVar("T")
States = Sequence[DescribedState]


def summarise(states: States) -> Evidence:
    """Evidence of one segment; `states` has one entry per emulator step, at least one."""
    return Evidence(
        segment=_span(states),
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


def where_in_room(at: Point, *, large: bool) -> str:
    """One of nine parts of the room, and the edges within one tile of the player.

    A model infers the nearest exit from "west edge"; from [9, 71] it would have to compute it.
    """
    sizes = _LARGE if large else _SMALL
    row, column = _third(_ROWS, at[1], sizes[1]), _third(_COLUMNS, at[0], sizes[0])
    part = "-".join(word for word in (row, column) if word) or "middle"
    edges = _edge(_ROWS, at[1], sizes[1]), _edge(_COLUMNS, at[0], sizes[0])
    near = " and ".join(word for word in edges if word)
    return f"{part} part, at the {near} edge" if near else f"{part} part"


def _third(words: tuple[str, str, str], at: int, size: int) -> str:
    return words[min(2, max(0, 3 * at // size))]


def _edge(words: tuple[str, str, str], at: int, size: int) -> str:
    if at < _TILE:
        return words[0]
    return words[2] if at >= size - _TILE else ""


def _span(states: States) -> Span:
    seconds = states[-1].frame / FRAMES_PER_SECOND  # includes frames spent waiting
    pressed = Counter(state.action or "unknown" for state in states)
    # Ties are broken by name, so that the result does not depend on the order of the inputs.
    common = sorted(pressed.items(), key=lambda item: (-item[1], item[0]))[:4]
    shares = {name: round(times / len(states), 2) for name, times in common}
    return Span(seconds=round(seconds, 1), steps=len(states), inputs=shares)


def _moment(state: DescribedState) -> Moment:
    dungeon_items, at, large = state.dungeon_items, state.position, state.large
    return Moment(
        game=state.game,
        place=state.place,
        where=None if at is None or large is None else where_in_room(at, large=large),
        room=state.room,
        area=state.area,
        dungeon=state.dungeon,
        at=at,
        hearts=state.hearts,
        max_hearts=state.max_hearts,
        rupees=state.rupees,
        keys=state.keys,
        boss_key=None if dungeon_items is None else "boss_key" in dungeon_items,
        essences=state.essences,
        season=state.season,
        items=_owned(state),
    )


def _owned(state: DescribedState) -> tuple[str, ...] | None:
    """Items including the dungeon's map and compass, without duplicates, in game order."""
    if state.items is None:
        return None
    # The boss key is a separate fact.
    of_dungeon = (name for name in state.dungeon_items or () if name != "boss_key")
    return tuple(dict.fromkeys([*state.items, *of_dungeon]))


def _rooms(states: States) -> Rooms:
    first_visits = _difference(states[0].rooms_visited, states[-1].rooms_visited)
    known = [(state.room, state) for state in states if state.room is not None]
    if not known:
        return Rooms(first_visits=first_visits)
    order = [each for at, each in enumerate(known) if at == 0 or known[at - 1][0] != each[0]]
    return Rooms(
        in_order=tuple(room for room, _ in order[:_MAX_ROOMS]),
        places=_places([state for _, state in order[:_MAX_ROOMS]]),
        changes=len(order) - 1,
        different=len({room for room, _ in order}),
        first_visits=first_visits,
    )


def _places(states: States) -> tuple[str, ...] | None:
    """Names of the rooms, else their areas; None if no room has a name."""
    if not any(state.place for state in states):
        return None
    return tuple(state.place or state.area or OTHER for state in states)


class _Step(NamedTuple):
    """Transition from one state to the next."""

    pixels: int
    left_room: bool
    control: bool


def _movement(states: States) -> Movement:
    steps = _steps(states)
    free = [step for step in steps if step.control]
    idle = sum(1 for step in free if step.pixels == 0 and not step.left_room)
    path = spread(_known(state.position for state in states), _PATH_POINTS)
    return Movement(
        # A change of room moves the player to the opposite edge, which is not walking.
        pixels=sum(step.pixels for step in steps if not step.left_room) if steps else None,
        idle_share=round(idle / len(free), 2) if free else None,
        path=tuple(path) or None,
    )


def _steps(states: States) -> list[_Step]:
    return [
        _Step(
            pixels=abs(to[0] - at[0]) + abs(to[1] - at[1]),
            left_room=before.room != after.room,
            control=before.control is not False,
        )
        for before, after in pairwise(states)
        if (at := before.position) and (to := after.position)
    ]


def _changes(start: DescribedState, end: DescribedState) -> Changes:
    # Keys, map and compass belong to one dungeon and cannot be compared between two.
    same = start.dungeon == end.dungeon
    before, after = _possessions(start, of_dungeon=same), _possessions(end, of_dungeon=same)
    known = before is not None and after is not None
    return Changes(
        hearts=_rounded(start.hearts, end.hearts),
        max_hearts=_rounded(start.max_hearts, end.max_hearts),
        deaths=_difference(start.deaths, end.deaths),
        rupees=_difference(start.rupees, end.rupees),
        bombs=_difference(start.bombs, end.bombs),
        keys=_difference(start.keys, end.keys) if same else None,
        essences=_difference(start.essences, end.essences),
        items_gained=_minus(after or [], before or []) if known else None,
        items_lost=_minus(before or [], after or []) if known else None,
    )


def _possessions(state: DescribedState, *, of_dungeon: bool) -> list[str] | None:
    more = state.dungeon_items if of_dungeon else None
    return None if state.items is None else [*state.items, *(more or ())]


def _dialog(states: States) -> Dialog:
    known = [state for state in states if state.dialog is not None]
    if not known:
        return Dialog()
    opened = [state for state in known if state.dialog]
    texts = set(_known(state.text_id for state in opened))
    said = tuple(dict.fromkeys(_known(state.said for state in opened)))
    return Dialog(
        steps=len(opened),
        opened=sum(1 for a, b in pairwise(known) if b.dialog and not a.dialog),
        closed=sum(1 for a, b in pairwise(known) if a.dialog and not b.dialog),
        texts=len(texts) if texts or not opened else None,
        said=said[:_MAX_TEXTS] if said or not opened else None,
        open_at_end=known[-1].dialog,
    )


def _control(states: States) -> Control:
    held = _known(state.control for state in states)
    menus = _known(state.menu for state in states)
    return Control(
        steps_without=sum(not flag for flag in held) if held else None,
        menu_steps=sum(menus) if menus else None,
    )


def _enemies(states: States) -> Enemies:
    return Enemies(
        most_near=max(_known(state.enemies_near for state in states), default=None),
        left_at_end=states[-1].enemies_left,
        defeated=_difference(states[0].enemies_defeated, states[-1].enemies_defeated),
    )


def _puzzle(states: States) -> Puzzle:
    """Puzzle parts that were ever in use, and the resulting events of the room."""
    known = [state.puzzle for state in states if state.puzzle is not None]
    ranges = {name: _range(known, name) for name in PUZZLE_PARTS}
    return Puzzle(
        parts={name: found for name, found in ranges.items() if any(found)} if known else None,
        events_done=_came_true((state.room, state.event_done) for state in states),
        items_taken=_came_true((state.room, state.item_taken) for state in states),
    )


def _range(puzzles: Sequence[dict[str, int | float]], name: str) -> tuple[float, float, float]:
    """(first, maximum, last) value of a part; zeros if it does not exist."""
    read = [puzzle[name] for puzzle in puzzles if name in puzzle] or [0]
    return read[0], max(read), read[-1]


def _came_true(flags: Iterable[tuple[str | None, bool | None]]) -> int | None:
    """Number of times that a flag of (room, flag) pairs became true within one room."""
    known = [(room, flag) for room, flag in flags if flag is not None]
    if not known:
        return None
    return sum(
        1
        for (room, before), (next_room, after) in pairwise(known)
        if room == next_room and after and not before
    )


def _difference(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else after - before


def _rounded(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else round(after - before, 2)


def _minus(these: Sequence[str], those: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted((Counter(these) - Counter(those)).elements())[:_MAX_NAMES])


def _known(values: Iterable[T | None]) -> list[T]:
    return [value for value in values if value is not None]
