"""Which cell to start from next: counts of what was found and tried in, a cell out.

Three rules take turns by lot. By level: the farthest levels are drawn most, each one below 0.4
times as often, so that optional progress, which multiplies cells, does not drown what lies ahead.
By mark: a mark that was seldom drawn, then the farthest cells that have it, because a quest
branches and who ran ahead without something is not the farthest in every sense. By place: a place
that was seldom drawn, whatever was owned there, so that a puzzle that is half solved is not
forgotten. Within a level all sets of marks count alike, then all rooms, then cells by how seldom
they were chosen and by how much is left to try there.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from rlaif.trainer.search.marks import Marks, level_of, weight_of

_ENOUGH = 9
"""More proposals that nobody tried than this make a cell no more attractive."""

_Key = TypeVar("_Key", int, bytes)


@dataclass(frozen=True)
class DrawSettings:
    """How starts are drawn."""

    level_ratio: float = 0.4  # how often a level is drawn, of the next higher one
    by_mark: float = 0.35  # share of the draws that begin with a mark that was seldom drawn
    by_place: float = 0.3  # share of the draws that begin with a place that was seldom drawn


@dataclass
class _Known:
    """A cell as draws see it."""

    progress: Marks
    room: int
    place: bytes
    chosen: int = 0
    fruitless: int = 0  # choices since one last led to something new
    untried: int = 0  # proposals there that nobody has tried with what is owned


@dataclass
class _Some:
    """Some cells, or some places, and how often one of them was drawn."""

    members: list[bytes] = field(default_factory=list)
    drawn: int = 0


@dataclass
class _Progress:
    """The cells with one set of marks, by room."""

    level: float
    rooms: defaultdict[int, _Some] = field(default_factory=lambda: defaultdict(_Some))
    drawn: int = 0


class Draws:
    """The cells to start from, and how often each was."""

    def __init__(self, settings: DrawSettings | None = None) -> None:
        self._settings = settings or DrawSettings()
        self._cells: dict[bytes, _Known] = {}
        self._progress: dict[Marks, _Progress] = {}
        self._levels: defaultdict[int, list[Marks]] = defaultdict(list)
        self._having: defaultdict[str, list[Marks]] = defaultdict(list)
        self._drawn_marks: dict[str, int] = {}
        self._places: defaultdict[bytes, _Some] = defaultdict(_Some)  # cells of each
        self._rooms: defaultdict[int, _Some] = defaultdict(_Some)  # places of each

    def __len__(self) -> int:
        return len(self._cells)

    def __contains__(self, cell: bytes) -> bool:
        return cell in self._cells

    @property
    def top(self) -> float:
        """The highest level there is, 0 without cells."""
        return max((progress.level for progress in self._progress.values()), default=0.0)

    @property
    def marks(self) -> frozenset[str]:
        """All marks that some cell has."""
        return frozenset(self._having)

    def add(self, cell: bytes, marks: Marks, *, room: int, place: bytes, untried: int = 0) -> None:
        """A cell was found for the first time."""
        if cell in self._cells:
            raise ValueError(f"cell {cell.hex()} is known already")
        if marks not in self._progress:
            level = level_of(marks)
            self._progress[marks] = _Progress(level)
            self._levels[int(level)].append(marks)
            for mark in marks:
                self._having[mark].append(marks)
                self._drawn_marks.setdefault(mark, 0)
        self._progress[marks].rooms[room].members.append(cell)
        if place not in self._places:
            self._rooms[room].members.append(place)
        self._places[place].members.append(cell)
        self._cells[cell] = _Known(marks, room, place, untried=untried)

    def remove(self, cell: bytes) -> None:
        """A cell is no start any more."""
        known = self._cells.pop(cell)
        progress = self._progress[known.progress]
        _take(progress.rooms, known.room, cell)
        _take(self._places, known.place, cell)
        if known.place not in self._places:
            _take(self._rooms, known.room, known.place)
        if not progress.rooms:
            del self._progress[known.progress]
            self._levels[int(progress.level)].remove(known.progress)
            if not self._levels[int(progress.level)]:
                del self._levels[int(progress.level)]
            for mark in known.progress:
                self._having[mark].remove(known.progress)
                if not self._having[mark]:
                    del self._having[mark]

    def draw(self, rng: np.random.Generator) -> bytes:
        """A cell to start from; it counts as chosen. ValueError when there is none."""
        if not self._cells:
            raise ValueError("no cell is known: add the start of the game first")
        lot = rng.random()
        if lot < self._settings.by_place:
            cell = self._by_place(rng)
        elif lot < self._settings.by_place + self._settings.by_mark and self._having:
            cell = self._by_mark(rng)
        else:
            cell = self._of_level(rng, self._levels)
        known = self._cells[cell]
        known.fruitless += 1
        self._count(known, 1)
        for mark in known.progress:
            self._drawn_marks[mark] += 1
        return cell

    def _count(self, known: _Known, draws: int) -> None:
        known.chosen += draws
        progress = self._progress[known.progress]
        progress.drawn += draws
        for some in (
            progress.rooms[known.room],
            self._places[known.place],
            self._rooms[known.room],
        ):
            some.drawn += draws

    def rewarded(self, cell: bytes) -> None:
        """A start there led to a new cell."""
        known = self._cells.get(cell)
        if known is not None:
            known.fruitless = 0

    def renew(self, cell: bytes, *, untried: int) -> None:
        """It is known what is left to try there."""
        known = self._cells.get(cell)
        if known is not None:
            known.untried = untried

    def improve(self, cell: bytes, *, untried: int) -> None:
        """A better state was found there: half of the choices of the old one count."""
        self._cells[cell].chosen //= 2
        self._cells[cell].untried = untried

    def worst(self, count: int) -> list[bytes]:
        """The cells that are least worth a start, worst first: low, often chosen, fruitless."""

        def worth(cell: bytes) -> tuple[float, int, bytes]:
            known = self._cells[cell]
            return self._progress[known.progress].level, -known.fruitless, cell

        return sorted(self._cells, key=worth)[:count]

    def state_dict(self) -> dict[str, object]:
        """The counts, as plain values; cells and marks come from the tree."""
        return {
            "cells": {
                cell.hex(): [known.chosen, known.fruitless, known.untried]
                for cell, known in self._cells.items()
            },
            "marks": self._drawn_marks,
        }

    def load_state_dict(self, state: dict[str, object]) -> None:
        """Resume with the counts that `state_dict` gave; the cells have been added."""
        cells, marks = state["cells"], state["marks"]
        assert isinstance(cells, dict)
        assert isinstance(marks, dict)
        for cell, (chosen, fruitless, untried) in cells.items():
            known = self._cells.get(bytes.fromhex(cell))
            if known is not None:
                known.fruitless, known.untried = fruitless, untried
                self._count(known, chosen)
        self._drawn_marks.update(marks)

    def _by_mark(self, rng: np.random.Generator) -> bytes:
        marks = sorted(self._having)
        weights = [weight_of(mark) / (1 + self._drawn_marks[mark]) for mark in marks]
        mark = marks[_lot(rng, weights)]
        levels: defaultdict[int, list[Marks]] = defaultdict(list)
        for progress in self._having[mark]:
            levels[int(self._progress[progress].level)].append(progress)
        return self._of_level(rng, levels)

    def _of_level(self, rng: np.random.Generator, levels: dict[int, list[Marks]]) -> bytes:
        present = sorted(levels, reverse=True)
        ratio = self._settings.level_ratio
        level = present[_lot(rng, [ratio**rank for rank in range(len(present))])]
        found = [self._progress[marks] for marks in levels[level]]
        progress = found[_lot(rng, [1.0 / (1 + each.drawn) for each in found])]
        rooms = list(progress.rooms.values())
        room = rooms[_lot(rng, [(1.0 + self._untried(each)) / (1 + each.drawn) for each in rooms])]
        known = [self._cells[cell] for cell in room.members]
        weights = [(1.0 + min(each.untried, _ENOUGH)) / (1 + each.chosen) for each in known]
        return room.members[_lot(rng, weights)]

    def _untried(self, some: _Some) -> int:
        """What is left to try at the cell with most of it."""
        return min(_ENOUGH, max(self._cells[cell].untried for cell in some.members))

    def _by_place(self, rng: np.random.Generator) -> bytes:
        """A room, a place there, and of its cells the farthest most."""
        rooms = list(self._rooms.values())
        room = rooms[_lot(rng, [1.0 / (1 + each.drawn) for each in rooms])]
        places = [self._places[place] for place in room.members]
        place = places[_lot(rng, [1.0 / (1 + each.drawn) for each in places])]
        known = [self._cells[cell] for cell in place.members]
        levels = [int(self._progress[each.progress].level) for each in known]
        present = sorted(set(levels), reverse=True)
        weights = [
            self._settings.level_ratio ** present.index(level) / (1 + each.chosen)
            for level, each in zip(levels, known, strict=True)
        ]
        return place.members[_lot(rng, weights)]


def _take(groups: dict[_Key, _Some], key: _Key, member: bytes) -> None:
    """Take a member out of its group, and the group away when it was the last."""
    groups[key].members.remove(member)
    if not groups[key].members:
        del groups[key]


def _lot(rng: np.random.Generator, weights: Sequence[float]) -> int:
    """A place, drawn by weights that are not all 0."""
    sums = np.cumsum(weights)
    return min(int(np.searchsorted(sums, rng.random() * sums[-1], side="right")), len(weights) - 1)
