"""Selection of the cell from which to start next, by counts of what was found and tried.

One of several rules is chosen for each draw (`shares.py`):

- `level`: the highest level is the most likely, each lower one 0.4 times as likely as the next
  higher one, so that optional progress, which multiplies cells, does not crowd out the frontier.
- `flag`: a rarely drawn flag, then the highest cells that have it, because a quest branches and the
  state with the highest level may lack an item.
- `place`: a rarely drawn place, whatever its flags, so that a half-solved puzzle is not forgotten.
- `rated`: a group of cells that a judge rates to be far on the quest, unless it was often drawn, or
  without a discovery. A group has one set of flags and one room. The rule is left out while no
  group is rated.
- `uniform`: any cell, as a baseline.

Within a level, all sets of flags have equal weight, then all rooms, then cells by how rarely they
were drawn and how many proposals are untried there.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeVar

import numpy as np

from rlaif.trainer.search.marks import Marks, level_of, weight_of
from rlaif.trainer.search.shares import Shares

_ENOUGH = 9
"""Untried proposals above this number do not make a cell more likely."""

_Key = TypeVar("_Key", int, bytes)


BY_COUNTS: Mapping[str, float] = MappingProxyType({"place": 0.3, "flag": 0.35, "level": 0.35})
"""The rules that need no judge, with their shares."""


@dataclass(frozen=True)
class DrawSettings:
    """Probabilities of the selection rules."""

    shares: Mapping[str, float] = field(default_factory=lambda: BY_COUNTS)
    learned: bool = False  # learn the shares, starting from these, by the results of each rule
    level_ratio: float = 0.4  # probability of a level relative to the next higher one
    temperature: float = 0.1  # objectives that multiply the weight of a rated group by e


RATED = DrawSettings({**BY_COUNTS, "rated": 3.0}, learned=True)
"""Settings with a judge, which initially decides three quarters of the starts."""


@dataclass
class _Known:
    """Counts of a cell."""

    progress: Marks
    room: int
    place: bytes
    chosen: int = 0
    fruitless: int = 0  # draws since the last one that led to a new cell
    untried: int = 0  # kinds of proposals there that are untried with the present items


@dataclass
class _Group:
    """A group of cells, or of places, and how often one of its members was drawn."""

    members: list[bytes] = field(default_factory=list)
    drawn: int = 0
    merit: float | None = None  # what is untried by what was fruitless; None: to be computed


@dataclass
class _Progress:
    """The cells with one set of flags, by room."""

    level: float
    rooms: defaultdict[int, _Group] = field(default_factory=lambda: defaultdict(_Group))
    drawn: int = 0


class Draws:
    """The cells from which to start, with the number of draws of each."""

    def __init__(self, settings: DrawSettings | None = None) -> None:
        self._settings = settings or DrawSettings()
        self._cells: dict[bytes, _Known] = {}
        self._progress: dict[Marks, _Progress] = {}
        self._levels: defaultdict[int, list[Marks]] = defaultdict(list)
        self._having: defaultdict[str, list[Marks]] = defaultdict(list)
        self._drawn_marks: dict[str, int] = {}
        self._places: defaultdict[bytes, _Group] = defaultdict(_Group)  # cells of each
        self._rooms: defaultdict[int, _Group] = defaultdict(_Group)  # places of each
        self._ratings: dict[tuple[Marks, int], float] = {}  # of groups, by flags and room
        self.shares = Shares(self._settings.shares, learned=self._settings.learned)

    def __len__(self) -> int:
        return len(self._cells)

    def __contains__(self, cell: bytes) -> bool:
        return cell in self._cells

    @property
    def top(self) -> float:
        """The highest level of any cell, 0 without cells."""
        return max((progress.level for progress in self._progress.values()), default=0.0)

    @property
    def marks(self) -> frozenset[str]:
        """The flags of all cells."""
        return frozenset(self._having)

    def add(self, cell: bytes, marks: Marks, *, room: int, place: bytes, untried: int = 0) -> None:
        """Add a cell that was found for the first time."""
        if cell in self._cells:
            raise ValueError(f"cell {cell.hex()} is already known")
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
        self._cells[cell] = known = _Known(marks, room, place, untried=untried)
        self._changed(known)

    def remove(self, cell: bytes) -> None:
        """Remove a cell, so that it is no longer drawn."""
        known = self._cells.pop(cell)
        progress = self._progress[known.progress]
        self._changed(known)
        _remove(progress.rooms, known.room, cell)
        _remove(self._places, known.place, cell)
        if known.place not in self._places:
            _remove(self._rooms, known.room, known.place)
        if not progress.rooms:
            del self._progress[known.progress]
            self._levels[int(progress.level)].remove(known.progress)
            if not self._levels[int(progress.level)]:
                del self._levels[int(progress.level)]
            for mark in known.progress:
                self._having[mark].remove(known.progress)
                if not self._having[mark]:
                    del self._having[mark]

    def draw(self, rng: np.random.Generator) -> tuple[bytes, str]:
        """Draw a start cell and count the draw; return it, and the rule that was used.

        Raises:
            ValueError: There is no cell.
        """
        if not self._cells:
            raise ValueError("no cells: add the start of the game first")
        rated = self._rated() if "rated" in self._settings.shares else []
        usable = {"place", "level", "uniform"}
        usable |= {"flag"} if self._having else set()
        usable |= {"rated"} if rated else set()
        rule = self.shares.choose(usable, rng)
        match rule:
            case "place":
                cell = self._by_place(rng)
            case "flag":
                cell = self._by_flag(rng)
            case "rated":
                cell = self._by_rating(rng, rated)
            case "uniform":
                cell = list(self._cells)[int(rng.integers(len(self._cells)))]
            case _:
                cell = self._of_level(rng, self._levels)
        known = self._cells[cell]
        known.fruitless += 1
        self._count(known, 1)
        for mark in known.progress:
            self._drawn_marks[mark] += 1
        return cell, rule

    def rate(self, marks: Marks, room: int, rating: float) -> None:
        """Set the rating of the cells with these large flags in a room: objectives reached."""
        self._ratings[marks, room] = rating

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
        self._changed(known)

    def _changed(self, known: _Known) -> None:
        """Forget what was computed from the counts of a cell."""
        self._progress[known.progress].rooms[known.room].merit = None

    def rewarded(self, cell: bytes) -> None:
        """Record that a start from this cell led to a new cell."""
        known = self._cells.get(cell)
        if known is not None:
            known.fruitless = 0
            self._changed(known)

    def renew(self, cell: bytes, *, untried: int) -> None:
        """Set the number of untried proposals of a cell, if it is known."""
        known = self._cells.get(cell)
        if known is not None:
            known.untried = untried
            self._changed(known)

    def improve(self, cell: bytes, *, untried: int) -> None:
        """Record a better state of a cell; it keeps half of the draw count."""
        known = self._cells[cell]
        known.chosen //= 2
        known.untried = untried
        self._changed(known)

    def worst(self, count: int) -> list[bytes]:
        """Return the least useful cells, worst first: by level, then by draws without effect."""

        def worth(cell: bytes) -> tuple[float, int, bytes]:
            known = self._cells[cell]
            return self._progress[known.progress].level, -known.fruitless, cell

        return sorted(self._cells, key=worth)[:count]

    def state_dict(self) -> dict[str, object]:
        """The counts; cells, flags and ratings are restored from the tree."""
        return {
            "cells": {
                cell.hex(): [known.chosen, known.fruitless, known.untried]
                for cell, known in self._cells.items()
            },
            "marks": self._drawn_marks,
            "shares": self.shares.state_dict(),
        }

    def load_state_dict(self, state: dict[str, object]) -> None:
        cells, marks, shares = state["cells"], state["marks"], state.get("shares", {})
        assert isinstance(cells, dict)
        assert isinstance(marks, dict)
        assert isinstance(shares, dict)
        for cell, (chosen, fruitless, untried) in cells.items():
            known = self._cells.get(bytes.fromhex(cell))
            if known is not None:
                known.fruitless, known.untried = fruitless, untried
                self._count(known, chosen)
        self._drawn_marks.update(marks)
        self.shares.load_state_dict(shares)

    def _by_flag(self, rng: np.random.Generator) -> bytes:
        marks = sorted(self._having)
        weights = [weight_of(mark) / (1 + self._drawn_marks[mark]) for mark in marks]
        mark = marks[draw_index(rng, weights)]
        levels: defaultdict[int, list[Marks]] = defaultdict(list)
        for progress in self._having[mark]:
            levels[int(self._progress[progress].level)].append(progress)
        return self._of_level(rng, levels)

    def _of_level(self, rng: np.random.Generator, levels: dict[int, list[Marks]]) -> bytes:
        present = sorted(levels, reverse=True)
        ratio = self._settings.level_ratio
        level = present[draw_index(rng, [ratio**rank for rank in range(len(present))])]
        found = [self._progress[marks] for marks in levels[level]]
        progress = found[draw_index(rng, [1.0 / (1 + each.drawn) for each in found])]
        rooms = list(progress.rooms.values())
        room = rooms[
            draw_index(rng, [(1.0 + self._untried(each)) / (1 + each.drawn) for each in rooms])
        ]
        return self._of_group(rng, room)

    def _of_group(self, rng: np.random.Generator, group: _Group) -> bytes:
        known = [self._cells[cell] for cell in group.members]
        weights = [(1.0 + min(each.untried, _ENOUGH)) / (1 + each.chosen) for each in known]
        return group.members[draw_index(rng, weights)]

    def _untried(self, some: _Group) -> int:
        """Return the number of untried proposals of the cell that has most of them."""
        return min(_ENOUGH, max(self._cells[cell].untried for cell in some.members))

    def _rated(self) -> list[tuple[_Group, float]]:
        """The rated groups that have cells, with their ratings."""
        return [
            (self._progress[marks].rooms[room], rating)
            for (marks, room), rating in self._ratings.items()
            if marks in self._progress and room in self._progress[marks].rooms
        ]

    def _by_rating(self, rng: np.random.Generator, rated: list[tuple[_Group, float]]) -> bytes:
        top = max(rating for _, rating in rated)
        weights = [
            math.exp((rating - top) / self._settings.temperature)
            * self._merit(group)
            / (1 + group.drawn)
            for group, rating in rated
        ]
        return self._of_group(rng, rated[draw_index(rng, weights)][0])

    def _merit(self, group: _Group) -> float:
        if group.merit is None:
            fruitless = sum(self._cells[cell].fruitless for cell in group.members)
            group.merit = (1 + self._untried(group)) / (1 + fruitless)
        return group.merit

    def _by_place(self, rng: np.random.Generator) -> bytes:
        """Draw a room, a place in it, and one of its cells, preferring a high level."""
        rooms = list(self._rooms.values())
        room = rooms[draw_index(rng, [1.0 / (1 + each.drawn) for each in rooms])]
        places = [self._places[place] for place in room.members]
        place = places[draw_index(rng, [1.0 / (1 + each.drawn) for each in places])]
        known = [self._cells[cell] for cell in place.members]
        levels = [int(self._progress[each.progress].level) for each in known]
        present = sorted(set(levels), reverse=True)
        weights = [
            self._settings.level_ratio ** present.index(level) / (1 + each.chosen)
            for level, each in zip(levels, known, strict=True)
        ]
        return place.members[draw_index(rng, weights)]


def _remove(groups: dict[_Key, _Group], key: _Key, member: bytes) -> None:
    """Remove a member from its group, and the group if it is empty then."""
    groups[key].members.remove(member)
    if not groups[key].members:
        del groups[key]


def draw_index(rng: np.random.Generator, weights: Sequence[float]) -> int:
    """Draw an index by weights of which at least one is positive."""
    sums = np.cumsum(weights)
    return min(int(np.searchsorted(sums, rng.random() * sums[-1], side="right")), len(weights) - 1)
