"""Ratings of groups of cells: their positions on the quest according to a judge.

Cells with the same large flags in the same room are a group: few hundred in a search with thousands
of cells. Each group is rated once, by its first state, up to eight in one request; answers stay in
the tree's file. The search itself knows neither the quest nor the judge: it hands over the RAM, and
gets back a position.
"""

import zlib
from collections.abc import Sequence
from typing import Protocol

from rlaif.game.machine.emulator import WRAM_SIZE
from rlaif.game.memory.blocks import RamBlocks
from rlaif.trainer.search.draws import Draws
from rlaif.trainer.search.marks import Marks
from rlaif.trainer.search.tree import Tree

MAX_STATES = 8
"""States in one request."""

PATIENCE = 10_000
"""Frames after which a request is made for fewer states; some seconds of searching."""


class Rater(Protocol):
    """A judge of states. It may answer at once or later; one request is open at a time."""

    def ask(self, states: Sequence[RamBlocks]) -> None:
        """Begin to rate some states."""
        ...

    def answers(self) -> Sequence[float | None] | None:
        """The positions of the last requested states; None while there is no answer yet.

        A position is the number of objectives reached and a part of 1 for the way to the next. It
        is None where the judge abstains, which is not asked again. Without any positions the
        request has failed; its states are asked for again later.
        """
        ...


class Ratings:
    """The groups of one search; with a rater, they are rated."""

    def __init__(self, tree: Tree, draws: Draws, rater: Rater | None) -> None:
        self._tree, self._draws, self._rater = tree, draws, rater
        self._known: set[tuple[Marks, int]] = set()
        self._waiting: dict[tuple[Marks, int], tuple[int, bytes]] = {}  # since which frame
        self._asked: dict[tuple[Marks, int], bytes] = {}
        self.requests = 0
        for group in tree.groups():
            key = group.marks, group.room
            self._known.add(key)
            if not group.asked:
                self._waiting[key] = 0, group.ram
            elif group.rating is not None:
                draws.rate(*key, group.rating)

    def add(self, marks: Marks, room: int, ram: bytes, *, frames: int) -> None:
        """Add the group with these large flags in a room, unless it is known."""
        if (marks, room) in self._known or not ram:
            return
        self._known.add((marks, room))
        self._waiting[marks, room] = frames, ram
        self._tree.add_group(marks, room, ram)

    def consult(self, frames: int) -> None:
        """Store answers, and request ratings once enough groups wait, or one for long enough."""
        if self._rater is None:
            return
        if self._asked and (answers := self._rater.answers()) is not None:
            if not answers:
                self._waiting |= {key: (frames, ram) for key, ram in self._asked.items()}
            for key, rating in zip(self._asked, answers, strict=bool(answers)):
                self._tree.put_rating(*key, rating)
                if rating is not None:
                    self._draws.rate(*key, rating)
            self._asked = {}
        if self._asked or not self._waiting:
            return
        first = min(since for since, _ in self._waiting.values())
        if len(self._waiting) >= MAX_STATES or frames - first >= PATIENCE:
            keys = list(self._waiting)[:MAX_STATES]
            self._asked = {key: self._waiting.pop(key)[1] for key in keys}
            self.requests += 1
            self._rater.ask([unpack_ram(ram) for ram in self._asked.values()])


def pack_ram(ram: RamBlocks) -> bytes:
    """Compress RAM for `unpack_ram`."""
    return zlib.compress(ram.wram + ram.dungeon_layout)


def unpack_ram(packed: bytes) -> RamBlocks:
    """Undo `pack_ram`."""
    found = zlib.decompress(packed)
    return RamBlocks(found[:WRAM_SIZE], found[WRAM_SIZE:])
