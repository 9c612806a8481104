"""One rollout from a state: proposals are drawn and played, and new cells are kept."""

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from rlaif.game.decisions.catalog import INTERACT
from rlaif.game.decisions.mask import allowed
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.predicates import has_control, is_text_choice
from rlaif.game.motion.room_graph import Crossing, RoomGraph
from rlaif.game.motion.room_watcher import standing
from rlaif.trainer.search.cell import Worth, cell_of, strength_of
from rlaif.trainer.search.jobs import Begin, Find, Job, Outcome
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

_MAX_WAITS = 4
"""Decisions until the player is expected to have control; one lasts at most 16 seconds."""


_PATIENCE, _PATIENCE_AFTER_MARK, _PATIENCE_IN_OLD_PLACES = 8, 24, 4
"""Proposals without a new place after which a rollout ends; the same after a flag that is new to
the search, and after a cell that is new only by its flags."""

_MAX_PROPOSALS = 120
"""Maximum number of proposals per rollout."""

_TRIPS = 0.04
"""Share of the actions that are a trip to another known room."""

_STRONGER, _SOONER = 0.3, 0.7
"""Margin of strength at which a state replaces that of its cell; or, at equal strength, maximum
share of its frames."""


class Known:
    """Knowledge of a runner: cells with the scores of their states, attempts, rooms."""

    def __init__(self) -> None:
        self.tries, self.graph = Tries(), RoomGraph()
        self._worth: dict[bytes, Worth] = {}
        self._places: set[bytes] = set()
        self._marks: set[str] = set()
        self._reported: set[tuple[object, ...]] = set()

    def take_in(self, job: Job) -> None:
        """Add the finds of other runners."""
        for cell in job.dropped:
            self._worth.pop(cell, None)
        self.learn(job.cells, job.marks)
        self.tries.learn(job.tries)
        for crossing in job.crossings:
            self.graph.add_crossing(crossing)
            self._reported.add(crossing.key)

    def learn(self, cells: dict[bytes, Worth], marks: Marks) -> None:
        self._worth.update(cells)
        self._marks |= marks

    def is_new_place(self, place: bytes) -> bool:
        """Whether this runner was never at the place, with any flags; marks it as known."""
        is_new = place not in self._places
        self._places.add(place)
        return is_new

    def is_new(self, cell: bytes) -> bool:
        """Whether the cell is unknown to all runners."""
        return cell not in self._worth

    def wants(self, cell: bytes, worth: Worth) -> bool:
        """Whether a state of this score should be kept."""
        known = self._worth.get(cell)
        return known is None or worth.much_better_than(known, _STRONGER, _SOONER)

    def new_marks(self, marks: Marks) -> Marks:
        """Return the flags that are new to the search."""
        return marks - self._marks

    def new_crossings(self) -> tuple[Crossing, ...]:
        """Return the crossings that were found here since the last call."""
        found = tuple(each for each in self.graph if each.key not in self._reported)
        self._reported |= {each.key for each in found}
        return found


class Played(NamedTuple):
    """A decision as it was played."""

    buttons: str  # one digit for each emulator step
    frames: int
    died: bool


class Explored(Protocol):
    """The game in which a rollout decides."""

    @property
    def ram(self) -> RamBlocks: ...

    def digest(self) -> str:
        """Return the digest of the RAM; takes about 0.1 ms."""
        ...


@dataclass
class Finds:
    """The finds of a runner since its last report, and the frames played for them."""

    finds: list[Find] = field(default_factory=list)
    number: int = 0  # of all finds
    frames: int = 0
    deaths: int = 0
    decisions: int = 0


@dataclass
class _Record:
    """The steps played since the last state that was kept."""

    decisions: list[tuple[int, int]] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)


class Rollout:
    """A rollout: yields decisions and receives them as played."""

    def __init__(self, begin: Begin, game: Explored, known: Known, finds: Finds) -> None:
        """Play from a node in which `game` is now; append the states to keep to `finds`."""
        self._begin, self._game, self._known, self._finds = begin, game, known, finds
        self._record = _Record()
        self._parent, self._frames, self._new_cells = begin.node, begin.frames, 0
        self._left, self._died, self._new_flags = _PATIENCE, False, 0.0
        self._untried = untried(proposals(game.ram), known.tries)

    @property
    def outcome(self) -> Outcome:
        """Its result so far."""
        begin = self._begin
        return Outcome(begin.cell, begin.rule, self._new_cells, self._untried, self._new_flags)

    def decisions(self, rng: np.random.Generator) -> Generator[int, Played, None]:
        """Yield the decisions; send back how each was played."""
        for _ in range(_MAX_PROPOSALS):
            if self._left <= 0 or not (yield from self._propose(rng)):
                return
            self._left -= 1
            self._keep_if_better()

    def _propose(self, rng: np.random.Generator) -> Generator[int, Played, bool]:
        """Draw a proposal and play it; return False if the player does not regain control."""
        self._died = False
        steps = self._steps(rng)
        decision = next(steps, None)
        while decision is not None:
            room = standing(self._game.ram).room
            if not (yield from self._play(decision)) or self._died:
                break
            if standing(self._game.ram).room != room:
                if not (yield from self._settle()):
                    return False
                self._keep_if_better()
            try:
                decision = steps.send(self._game.ram)
            except StopIteration:
                break
        return (yield from self._settle())

    def _play(self, decision: int) -> Generator[int, Played, bool]:
        """Play a decision; return False if the action mask forbids it."""
        if not allowed(self._game.ram, "macros")[decision]:
            return False
        played = yield decision
        self._record.decisions.append((decision, len(played.buttons)))
        self._record.actions.append(played.buttons)
        self._frames += played.frames
        self._died |= played.died
        self._finds.frames += played.frames
        self._finds.deaths += played.died
        self._finds.decisions += 1
        return True

    def _settle(self) -> Generator[int, Played, bool]:
        """Wait until the player has control or is asked something; False if that takes too long.

        Texts are read by a decision of the action set, so that a policy can do the same.
        """
        for _ in range(_MAX_WAITS):
            if has_control(self._game.ram) or is_text_choice(self._game.ram):
                return True
            yield from self._play(INTERACT)
        return False

    def _steps(self, rng: np.random.Generator) -> Generator[int, RamBlocks, None]:
        ram, graph, tries = self._game.ram, self._known.graph, self._known.tries
        if has_control(ram) and rng.random() < _TRIPS:
            room = destination(ram, graph, tries, rng)
            if room is not None:
                return trip(ram, room, graph)
        proposal = choose(proposals(ram), tries, rng)
        tries.add(proposal.key)
        tries.add(room_key(ram, standing(ram).room))
        return decisions_of(proposal, rng)

    def _keep_if_better(self) -> None:
        """Keep the current state if it is good enough."""
        ram, known = self._game.ram, self._known
        if not has_control(ram):
            return
        cell = cell_of(ram)
        key, worth = cell.key, Worth(strength_of(ram), self._frames)
        if not known.wants(key, worth):
            return
        is_new, marks = known.is_new(key), marks_of(ram)
        self._finds.finds.append(
            Find(
                number=self._finds.number,
                parent=self._parent,
                cell=key,
                place=cell.place,
                room=cell.group << 8 | cell.room,
                marks=marks,
                worth=worth,
                decisions=tuple(self._record.decisions),
                actions="".join(self._record.actions),
                digest=self._game.digest(),
                untried=untried(proposals(ram), known.tries),
                played=self._finds.frames,
                ram=pack_ram(ram) if is_new else b"",
            )
        )
        self._finds.number += 1
        self._parent, self._record = -self._finds.number, _Record()
        news = known.new_marks(marks)
        known.learn({key: worth}, marks)
        self._new_flags += level_of(news)
        if is_new:
            self._new_cells += 1
            patience = _PATIENCE_IN_OLD_PLACES
            if known.is_new_place(cell.place):
                patience = _PATIENCE
            if news:
                patience = _PATIENCE_AFTER_MARK
            self._left = max(self._left, patience)
