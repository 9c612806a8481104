"""One rollout from a state: proposals are drawn and played, and new cells are kept."""

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.predicates import has_control
from rlaif.game.motion.room_watcher import standing
from rlaif.trainer.search.cell import Cell, Worth, cell_of, strength_of
from rlaif.trainer.search.marks import Marks, level_of, marks_of
from rlaif.trainer.search.proposals import (
    Tries,
    choose,
    decisions_of,
    destination,
    proposals,
    room_key,
    trip,
    untried,
)
from rlaif.trainer.search.ratings import pack_ram
from rlaif.trainer.search.session import Session


@dataclass(frozen=True)
class RolloutSettings:
    """Length of a rollout, and which states are kept."""

    patience: int = 8  # proposals without a new place after which a rollout ends
    patience_after_mark: int = 24  # the same after a flag that is new to the search
    patience_in_old_places: int = 4  # the same after a cell that is new only by its flags
    max_proposals: int = 120  # per rollout
    trips: float = 0.04  # share of the actions that are a trip to another known room
    stronger: float = 0.3  # required margin of strength to replace a cell's state
    sooner: float = 0.7  # or, at equal strength, maximum share of its frames


@dataclass(frozen=True)
class Find:
    """A state to keep, as a worker reports it."""

    parent: int  # node; if negative, the find at index -1 - parent of the same report
    cell: bytes
    place: bytes
    room: int
    marks: Marks
    worth: Worth
    decisions: tuple[tuple[int, int], ...]
    actions: str
    digest: str
    untried: int
    played: int  # frames played in this job until then
    ram: bytes = b""  # packed, of the first state in a cell


class Outcome(NamedTuple):
    """Result of a rollout."""

    new_cells: int
    untried: int  # kinds of proposals at its start that were untried with the owned items
    new_flags: float  # by weight, those that were new to the search


class Known:
    """The cells known to a process, with the score of each one's state."""

    def __init__(self, settings: RolloutSettings) -> None:
        self._settings = settings
        self._worth: dict[bytes, Worth] = {}
        self._places: set[bytes] = set()
        self._marks: set[str] = set()

    def learn(self, cells: dict[bytes, Worth], marks: Marks) -> None:
        self._worth.update(cells)
        self._marks |= marks

    def is_new_place(self, place: bytes) -> bool:
        """Whether this process was never at the place, with any flags; marks it as known."""
        is_new = place not in self._places
        self._places.add(place)
        return is_new

    def forget(self, cells: Iterable[bytes]) -> None:
        for cell in cells:
            self._worth.pop(cell, None)

    def is_new(self, cell: bytes) -> bool:
        """Whether the cell is unknown to all workers."""
        return cell not in self._worth

    def wants(self, cell: bytes, worth: Worth) -> bool:
        """Whether a state of this score should be kept."""
        known, settings = self._worth.get(cell), self._settings
        return known is None or worth.much_better_than(known, settings.stronger, settings.sooner)

    def new_marks(self, marks: Marks) -> Marks:
        """Return the flags that are new to the search."""
        return marks - self._marks


class Rollout:
    """Rollouts of one worker."""

    def __init__(
        self, session: Session, known: Known, tries: Tries, settings: RolloutSettings
    ) -> None:
        self._session, self._known, self._tries = session, known, tries
        self._settings = settings
        self._finds: list[Find] = []
        self._parent = self._before = self._left = self._new_cells = 0
        self._new_flags = 0.0

    def play(self, node: int, frames: int, finds: list[Find], rng: np.random.Generator) -> Outcome:
        """Play from a node that is loaded in the session; append the states to keep to `finds`.

        `frames` is the number of game frames from power-on to the node.
        """
        self._session.mark()
        self._finds, self._parent = finds, node
        self._before = frames - self._session.frames
        self._left, self._new_cells, self._new_flags = self._settings.patience, 0, 0.0
        left_to_try = untried(proposals(self._session.ram), self._tries)
        for _ in range(self._settings.max_proposals):
            if self._left <= 0 or not self._play_proposal(rng):
                break
            self._left -= 1
            self._keep_if_better()
        return Outcome(self._new_cells, left_to_try, self._new_flags)

    def _play_proposal(self, rng: np.random.Generator) -> bool:
        """Draw a proposal and play it; return False if the player does not regain control."""
        session, deaths = self._session, self._session.deaths
        steps = self._steps(rng)
        decision = next(steps, None)
        while decision is not None:
            room = standing(session.ram).room
            if not session.play(decision) or session.deaths > deaths:
                break
            if standing(session.ram).room != room:
                if not session.settle():
                    return False
                self._keep_if_better()
            try:
                decision = steps.send(session.ram)
            except StopIteration:
                break
        return session.settle()

    def _steps(self, rng: np.random.Generator) -> Generator[int, RamBlocks, None]:
        ram, graph = self._session.ram, self._session.graph
        if has_control(ram) and rng.random() < self._settings.trips:
            room = destination(ram, graph, self._tries, rng)
            if room is not None:
                return trip(ram, room, graph)
        proposal = choose(proposals(ram), self._tries, rng)
        self._tries.add(proposal.key)
        self._tries.add(room_key(ram, standing(ram).room))
        return decisions_of(proposal, rng)

    def _keep_if_better(self) -> None:
        """Keep the present state if it is worth it."""
        session, settings = self._session, self._settings
        if not has_control(session.ram):
            return
        cell = cell_of(session.ram)
        key, worth = cell.key, Worth(strength_of(session.ram), self._before + session.frames)
        if not self._known.wants(key, worth):
            return
        is_new = self._known.is_new(key)
        find = self._find(cell, key, worth, is_new=is_new)
        news = self._known.new_marks(find.marks)
        self._known.learn({key: worth}, find.marks)
        self._finds.append(find)
        self._parent = -len(self._finds)
        session.mark()
        self._new_flags += level_of(news)
        if is_new:
            self._new_cells += 1
            patience = settings.patience_in_old_places
            if self._known.is_new_place(cell.place):
                patience = settings.patience
            if news:
                patience = settings.patience_after_mark
            self._left = max(self._left, patience)

    def _find(self, cell: Cell, key: bytes, worth: Worth, *, is_new: bool) -> Find:
        session = self._session
        return Find(
            parent=self._parent,
            cell=key,
            place=cell.place,
            room=cell.group << 8 | cell.room,
            marks=marks_of(session.ram),
            worth=worth,
            decisions=session.decisions,
            actions=session.actions,
            digest=session.digest(),
            untried=untried(proposals(session.ram), self._tries),
            played=session.frames,
            ram=pack_ram(session.ram) if is_new else b"",
        )
