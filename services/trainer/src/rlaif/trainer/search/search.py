"""The search: draws starts for the exploring runners, and stores their finds.

    search = Search(Tree(path, identity), cartridge, SearchSettings(seed=1))
    job = search.next_job(runner)
    ... the runner explores ...
    search.take_in(runner, report)

The clock affects only statistics and commits. The result depends on the seed and on the order in
which runners report, and with one runner on the seed alone.
"""

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rlaif.game.captures.capture import pack_keyframe
from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.machine.emulator import new_emulator
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.motion.room_graph import Crossing, RoomGraph
from rlaif.game.starts.power_on import bring_to_control
from rlaif.trainer.search.cell import Worth, cell_of, strength_of
from rlaif.trainer.search.draws import Draws, DrawSettings
from rlaif.trainer.search.jobs import Begin, Find, Job, Report
from rlaif.trainer.search.marks import Marks, large, level_of, marks_of
from rlaif.trainer.search.proposals import Tries
from rlaif.trainer.search.ratings import Rater, Ratings, pack_ram
from rlaif.trainer.search.tree import Node, Tree

logger = logging.getLogger(__name__)

_STARTS_AHEAD = 2
"""Starts per rollout that a runner has finished: reports and jobs may cross."""

_FINDS_KNOWN = 1024
"""Last finds of a runner from which further ones may follow."""


@dataclass(frozen=True)
class FirstFound:
    """When a flag was found for the first time."""

    mark: str
    frames: int  # explored by all runners until then
    seconds: float  # of searching until then
    node: int


@dataclass(frozen=True)
class Figures:
    """The state of a search.

    Attributes:
        frames: Game frames explored by all runners.
        seconds: Search time, summed over all runs of a resumed search.
        level: Level of the best state (`marks.level_of`).
        best: Node of the best state.
    """

    frames: int
    seconds: float
    rollouts: int
    decisions: int
    deaths: int
    nodes: int
    cells: int
    rooms: int
    level: float
    best: int
    marks: tuple[FirstFound, ...]


@dataclass
class Update:
    """Pending updates for one runner."""

    cells: dict[bytes, Worth] = field(default_factory=dict)
    dropped: list[bytes] = field(default_factory=list)
    marks: set[str] = field(default_factory=set)
    tries: dict[bytes, int] = field(default_factory=dict)
    crossings: list[Crossing] = field(default_factory=list)


class PendingUpdates:
    """Pending updates for the runners that know everything before them.

    A runner gets no update about its own discoveries.
    """

    def __init__(self) -> None:
        self._of: dict[int, Update] = {}

    def take(self, runner: int) -> Update | None:
        """Return the pending updates of a runner and clear them; None if it knows nothing yet."""
        update, self._of[runner] = self._of.get(runner), Update()
        return update

    def forget(self, runner: int) -> None:
        """A runner has lost what it knew."""
        self._of.pop(runner, None)

    def cells(self, cells: dict[bytes, Worth], marks: Marks, *, by: int | None = None) -> None:
        """Announce known cells and flags."""
        for update in self._others(by):
            update.cells.update(cells)
            update.marks |= marks

    def drop(self, cells: Iterable[bytes]) -> None:
        """Announce dropped cells, to their finder, too."""
        dropped = tuple(cells)
        for update in self._of.values():
            update.dropped.extend(dropped)
            for cell in dropped:
                update.cells.pop(cell, None)

    def tries(self, tries: dict[bytes, int], *, by: int | None = None) -> None:
        """Announce further attempts, by proposal key."""
        for update in self._others(by):
            for key, count in tries.items():
                update.tries[key] = update.tries.get(key, 0) + count

    def crossings(self, crossings: Iterable[Crossing], *, by: int | None = None) -> None:
        """Announce room crossings."""
        found = tuple(crossings)
        for update in self._others(by):
            update.crossings.extend(found)

    def _others(self, by: int | None) -> Iterable[Update]:
        return (update for runner, update in self._of.items() if runner != by)


@dataclass(frozen=True)
class SearchSettings:
    """Parameters of a search."""

    seed: int = 0
    min_starts: int = 4  # of a job
    max_cells: int = 20_000  # about 10 kB each on disk; above it the worst are dropped
    commit_seconds: float = 5.0  # a killed search loses at most this much
    progress_seconds: float = 30.0  # the same for the counters
    draws: DrawSettings = field(default_factory=DrawSettings)


@dataclass
class _Kept:
    """The node that represents a cell."""

    node: int
    worth: Worth
    digest: str


@dataclass
class _Found:
    """Results of a search so far.

    Attributes:
        counts: Counters of `Figures`.
        best: Level and node of the best state.
        frames: Node → frames from power-on.
    """

    counts: dict[str, int] = field(
        default_factory=lambda: {"frames": 0, "rollouts": 0, "decisions": 0, "deaths": 0}
    )
    seconds: float = 0.0
    best: tuple[float, int] = (0.0, 0)
    rooms: set[int] = field(default_factory=set)
    marks: dict[str, FirstFound] = field(default_factory=dict)
    frames: dict[int, int] = field(default_factory=dict)


@dataclass
class _Runner:
    """A runner that explores: its last report, and the nodes of its last finds by their numbers."""

    last: Report | None = None
    ids: dict[int, int] = field(default_factory=dict)


@dataclass
class _Saved:
    """When the search was opened, with its duration until then, and when it was written last."""

    clock: Callable[[], float]
    seconds_before: float

    def __post_init__(self) -> None:
        self.began = self.commit = self.progress = self.clock()


class Search:
    """One search in one tree."""

    def __init__(
        self,
        tree: Tree,
        cartridge: Cartridge,
        settings: SearchSettings | None = None,
        *,
        rater: Rater | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start a search, or resume the one in the tree."""
        self._tree = tree
        self._settings = settings or SearchSettings()
        self._draws = Draws(self._settings.draws)
        self._kept: dict[bytes, _Kept] = {}
        self._tries = Tries()
        self._graph = RoomGraph()
        self._rng = np.random.default_rng(self._settings.seed)
        self._found = _Found()
        self._updates = PendingUpdates()
        self._runners: dict[int, _Runner] = {}
        if not len(tree):
            self._add_root(cartridge)
        self._resume()
        self.ratings = Ratings(tree, self._draws, rater)
        self._saved = _Saved(clock, self._found.seconds)
        self._tree.begin()

    @property
    def shares(self) -> dict[str, float]:
        """Share of each selection rule in the latest starts."""
        return self._draws.shares.used

    @property
    def figures(self) -> Figures:
        """Statistics of the search."""
        return Figures(
            **self._found.counts,
            seconds=self._found.seconds,
            nodes=self._tree.next_id,
            cells=len(self._draws),
            rooms=len(self._found.rooms),
            level=self._found.best[0],
            best=self._found.best[1],
            marks=tuple(self._found.marks.values()),
        )

    def next_job(self, runner: int) -> Job:
        """Draw starts for a runner, a few more than it has recently played."""
        known = self._runners.get(runner)
        last = None if known is None else known.last
        wanted = self._settings.min_starts
        if last is not None:
            wanted = max(wanted, _STARTS_AHEAD * len(last.outcomes)) - last.waiting
        starts = tuple(self._begin(*self._draws.draw(self._rng)) for _ in range(max(0, wanted)))
        update = self._updates.take(runner)
        if update is None:
            return Job(
                starts,
                cells={cell: kept.worth for cell, kept in self._kept.items()},
                marks=frozenset(self._found.marks),
                tries=self._tries.all(),
                crossings=tuple(self._graph),
                is_first=True,
            )
        return Job(
            starts,
            cells=update.cells,
            dropped=tuple(update.dropped),
            marks=frozenset(update.marks),
            tries=update.tries,
            crossings=tuple(update.crossings),
        )

    def forget(self, runner: int) -> None:
        """Reset a runner that was replaced: its successor has no knowledge."""
        self._updates.forget(runner)
        self._runners.pop(runner, None)

    def take_in(self, runner: int, report: Report) -> None:
        """Store the finds of a runner, and commit if that is due."""
        known = self._runners.setdefault(runner, _Runner())
        known.last = report
        for saved in report.saved:
            if saved.node in self._found.frames:
                self._tree.put_state(saved.node, saved.sha256, saved.packed)
        for find in report.finds:
            self._keep(runner, find, known.ids)
        for outcome in report.outcomes:
            if not outcome.is_reached:
                logger.error("a state of the search is not reproducible and is dropped")
                self._drop([outcome.cell])
                continue
            self._draws.renew(outcome.cell, untried=outcome.untried)
            self._draws.shares.record(outcome.rule, outcome.new_flags)
            if outcome.new_cells:
                self._draws.rewarded(outcome.cell)
        counts = self._found.counts
        counts["frames"] += report.frames
        counts["rollouts"] += len(report.outcomes)
        counts["decisions"] += report.decisions
        counts["deaths"] += report.deaths
        self._tries.learn(report.tries)
        self._updates.tries(report.tries, by=runner)
        crossings = [c for c in report.crossings if self._graph.add_crossing(c)]
        self._updates.crossings(crossings, by=runner)
        self._shrink()
        self.ratings.consult(counts["frames"])
        self._commit_if_due()

    def copy(self, path: Path) -> None:
        """Write the tree with all progress into another file."""
        self._write_progress()
        self._tree.commit()
        self._tree.copy(path)
        self._tree.begin()

    def discard(self) -> None:
        """Close the tree without a commit."""
        self._tree.close()

    def close(self) -> None:
        self._write_progress()
        self._tree.commit()
        self._tree.close()

    def _commit_if_due(self) -> None:
        saved = self._saved
        now = saved.clock()
        self._found.seconds = saved.seconds_before + now - saved.began
        if now - saved.progress >= self._settings.progress_seconds:
            self._write_progress()
            saved.progress = now
        if now - saved.commit >= self._settings.commit_seconds:
            self._tree.commit()
            self._tree.begin()
            saved.commit = now

    def _add_root(self, cartridge: Cartridge) -> None:
        """Add the root: the state in which the player first has control after power-on."""
        emulator = new_emulator(cartridge)
        bring_to_control(emulator, cartridge)
        packed, sha256 = pack_keyframe(emulator.save_state())
        ram = read_blocks(emulator)
        cell = cell_of(ram)
        root = Node(
            id=0,
            parent=None,
            cell=cell.key,
            room=cell.group << 8 | cell.room,
            marks=marks_of(ram),
            strength=strength_of(ram),
            decisions=(),
            actions="",
            frames=0,
            digest=emulator.ram_digest(),
            found_at=0,
            place=cell.place,
        )
        emulator.close()
        self._tree.begin()
        self._tree.add(root)
        self._tree.add_group(large(root.marks), root.room, pack_ram(ram))
        self._tree.put_state(root.id, sha256, packed)
        self._tree.commit()

    def _resume(self) -> None:
        self._found.frames = dict(self._tree.frames())
        for start in self._tree.starts:
            worth = Worth(start.strength, start.frames)
            self._kept[start.cell] = _Kept(start.node, worth, start.digest)
            self._draws.add(start.cell, large(start.marks), room=start.room, place=start.place)
            self._rank(start.node, start.marks)
        self._found.rooms = set(self._tree.rooms())
        saved = self._tree.progress("search")
        if saved is not None:
            self._load(saved)
        self._find_late_marks()

    def _load(self, saved: dict[str, Any]) -> None:
        self._draws.load_state_dict(saved["draws"])
        self._tries.load_state_dict(saved["tries"])
        self._graph = RoomGraph.from_json(saved["graph"])
        self._rng.bit_generator.state = saved["rng"]
        self._found.counts, self._found.seconds = saved["counts"], saved["seconds"]
        self._found.marks = {row["mark"]: FirstFound(**row) for row in saved["marks"]}

    def _find_late_marks(self) -> None:
        """Add the flags that were found after the last write of the progress."""
        if not self._draws.marks - set(self._found.marks):
            return
        for node in self._tree.nodes():
            for mark in sorted(node.marks - set(self._found.marks)):
                self._found.marks[mark] = FirstFound(
                    mark, node.found_at, self._found.seconds, node.id
                )

    def _write_progress(self) -> None:
        self._tree.write_progress(
            {
                "search": {
                    "draws": self._draws.state_dict(),
                    "tries": self._tries.state_dict(),
                    "graph": self._graph.to_json(),
                    "rng": self._rng.bit_generator.state,
                    "counts": self._found.counts,
                    "seconds": self._found.seconds,
                    "marks": [asdict(first) for first in self._found.marks.values()],
                }
            }
        )

    def _begin(self, cell: bytes, rule: str) -> Begin:
        """Describe how to return to a cell; its state is saved when play returns there first.

        A state costs as much as playing a dozen frames, and 10 kB.
        """
        kept = self._kept[cell]
        base, actions = self._tree.nearest_state(kept.node)
        sha256, packed = self._tree.packed(base)
        return Begin(
            node=kept.node,
            cell=cell,
            sha256=sha256,
            packed=packed,
            actions=actions,
            digest=kept.digest,
            frames=kept.worth.frames,
            save=bool(actions),
            seed=int(self._rng.integers(1 << 62)),
            rule=rule,
        )

    def _keep(self, runner: int, find: Find, ids: dict[int, int]) -> None:
        """Add a find to the tree; it represents its cell if it is the best state there."""
        parent = find.parent if find.parent >= 0 else ids.get(-1 - find.parent)
        if parent not in self._found.frames:  # deleted meanwhile, as it led to no cell
            if find.cell not in self._kept:
                self._updates.drop([find.cell])
            return
        known = self._kept.get(find.cell)
        is_best = known is None or find.worth.better_than(known.worth)
        node = Node(
            id=self._tree.next_id,
            parent=parent,
            cell=find.cell,
            room=find.room,
            marks=find.marks,
            strength=find.worth.strength,
            decisions=find.decisions,
            actions=find.actions,
            frames=find.worth.frames,
            digest=find.digest,
            found_at=self._found.counts["frames"] + find.played,
            place=find.place,
        )
        self._tree.add(node, stands=is_best)
        ids[find.number] = node.id
        ids.pop(find.number - _FINDS_KNOWN, None)
        self._found.frames[node.id] = node.frames
        self._found.rooms.add(node.room)
        if not is_best:
            return
        if known is None:
            self._draws.add(
                find.cell,
                large(find.marks),
                room=find.room,
                place=find.place,
                untried=find.untried,
            )
            self.ratings.add(large(find.marks), find.room, find.ram, frames=node.found_at)
        else:
            self._draws.improve(find.cell, untried=find.untried)
        self._rank(node.id, find.marks)
        self._kept[find.cell] = _Kept(node.id, find.worth, find.digest)
        self._announce(runner, node, find.worth)

    def _announce(self, runner: int, node: Node, worth: Worth) -> None:
        for mark in sorted(node.marks - set(self._found.marks)):
            self._found.marks[mark] = FirstFound(mark, node.found_at, self._found.seconds, node.id)
        self._updates.cells({node.cell: worth}, node.marks, by=runner)

    def _rank(self, node: int, marks: Marks) -> None:
        level = level_of(marks)
        if level > self._found.best[0]:
            self._found.best = (level, node)

    def _shrink(self) -> None:
        excess = len(self._draws) - self._settings.max_cells
        if excess <= 0:
            return
        self._drop(self._draws.worst(excess + self._settings.max_cells // 10))
        self._tree.sweep([0, self._found.best[1]])
        self._found.frames = dict(self._tree.frames())

    def _drop(self, cells: Iterable[bytes]) -> None:
        dropped = [cell for cell in cells if cell in self._kept]
        self._updates.drop(dropped)
        for cell in dropped:
            self._draws.remove(cell)
            self._tree.drop_cell(cell)
            del self._kept[cell]
