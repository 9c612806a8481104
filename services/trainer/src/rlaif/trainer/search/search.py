"""The search loop: draws starts, submits them to workers, and stores what they found.

    search = Search(Tree(path, identity), pool, cartridge, SearchSettings(seed=1))
    for figures in search.run(): ...

The clock affects only statistics and commits. The result depends on the seed and on the order in
which workers answer, and with one worker on the seed alone.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
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
from rlaif.trainer.search.marks import Marks, large, level_of, marks_of
from rlaif.trainer.search.pool import WorkerPool
from rlaif.trainer.search.proposals import Tries
from rlaif.trainer.search.ratings import Rater, Ratings, pack_ram
from rlaif.trainer.search.rollout import Find, RolloutSettings
from rlaif.trainer.search.session import FRAMES
from rlaif.trainer.search.tree import Node, Tree
from rlaif.trainer.search.worker import Begin, Job, Report


@dataclass(frozen=True)
class FirstFound:
    """When a flag was found for the first time."""

    mark: str
    frames: int  # played by all workers until then
    seconds: float  # of searching until then
    node: int


@dataclass(frozen=True)
class Figures:
    """The state of a search.

    Attributes:
        frames: Game frames played by all workers.
        seconds: Search time, summed over all runs of a resumed search.
        cpu_seconds: CPU time of the workers.
        level: Level of the best state (`marks.level_of`).
        best: Node of the best state.
    """

    frames: int
    seconds: float
    cpu_seconds: float
    rollouts: int
    decisions: int
    deaths: int
    nodes: int
    cells: int
    rooms: int
    level: float
    best: int
    marks: tuple[FirstFound, ...]

    @property
    def frames_per_second(self) -> float:
        """Throughput of all workers together, in wall-clock time."""
        return self.frames / self.seconds if self.seconds else 0.0

    @property
    def frames_per_cpu_second(self) -> float:
        """Throughput per second of CPU time."""
        return self.frames / self.cpu_seconds if self.cpu_seconds else 0.0

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {
            "frames_per_second": round(self.frames_per_second, 1),
            "frames_per_cpu_second": round(self.frames_per_cpu_second, 1),
        }


@dataclass
class Update:
    """Pending updates for one worker."""

    cells: dict[bytes, Worth] = field(default_factory=dict)
    dropped: list[bytes] = field(default_factory=list)
    marks: set[str] = field(default_factory=set)
    tries: dict[bytes, int] = field(default_factory=dict)
    crossings: list[Crossing] = field(default_factory=list)


class PendingUpdates:
    """Pending updates for all workers, by number.

    A worker gets no update about its own discoveries.
    """

    def __init__(self, workers: int) -> None:
        self._of = [Update() for _ in range(workers)]

    def take(self, worker: int) -> Update:
        """Return the pending updates of a worker and clear them."""
        update, self._of[worker] = self._of[worker], Update()
        return update

    def cells(self, cells: dict[bytes, Worth], marks: Marks, *, by: int | None = None) -> None:
        """Announce known cells and flags."""
        for update in self._others(by):
            update.cells.update(cells)
            update.marks |= marks

    def drop(self, cells: Iterable[bytes]) -> None:
        """Announce dropped cells, to their finder, too."""
        dropped = tuple(cells)
        for update in self._of:
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
        return (update for worker, update in enumerate(self._of) if worker != by)


@dataclass(frozen=True)
class SearchSettings:
    """Parameters of a search."""

    seed: int = 0
    starts_per_job: int = 12  # about one second; discoveries are shared after each job
    max_cells: int = 20_000  # about 10 kB each on disk; above it the worst are dropped
    save_after: int = 950  # frames; saving a state takes as long as playing this many
    commit_seconds: float = 5.0  # a killed search loses at most this much
    progress_seconds: float = 30.0  # the same for the counters
    draws: DrawSettings = field(default_factory=DrawSettings)
    rollout: RolloutSettings = field(default_factory=RolloutSettings)


@dataclass
class _Kept:
    """The node that represents a cell."""

    node: int
    worth: Worth
    digest: str
    returned: int = 0  # frames that were played to return to it


@dataclass
class _Found:
    """What a search has found so far.

    Attributes:
        counts: Counters of `Figures`.
        best: Level and node of the best state.
        frames: Node → frames from power-on.
    """

    counts: dict[str, int] = field(
        default_factory=lambda: {"frames": 0, "rollouts": 0, "decisions": 0, "deaths": 0}
    )
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    best: tuple[float, int] = (0.0, 0)
    rooms: set[int] = field(default_factory=set)
    marks: dict[str, FirstFound] = field(default_factory=dict)
    frames: dict[int, int] = field(default_factory=dict)


class Search:
    """One search in one tree."""

    def __init__(
        self,
        tree: Tree,
        pool: WorkerPool,
        cartridge: Cartridge,
        settings: SearchSettings | None = None,
        *,
        rater: Rater | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start a search, or resume the one in the tree."""
        self._tree, self._pool = tree, pool
        self._settings = settings or SearchSettings()
        self._clock = clock
        self._draws = Draws(self._settings.draws)
        self._kept: dict[bytes, _Kept] = {}
        self._tries = Tries()
        self._graph = RoomGraph()
        self._rng = np.random.default_rng(self._settings.seed)
        self._found = _Found()
        self._updates = PendingUpdates(pool.size)
        self._jobs: dict[int, Job] = {}
        if not len(tree):
            self._add_root(cartridge)
        self._resume()
        self.ratings = Ratings(tree, self._draws, rater)

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
            cpu_seconds=self._found.cpu_seconds,
            nodes=self._tree.next_id,
            cells=len(self._draws),
            rooms=len(self._found.rooms),
            level=self._found.best[0],
            best=self._found.best[1],
            marks=tuple(self._found.marks.values()),
        )

    def run(self) -> Iterator[Figures]:
        """Search endlessly; yield statistics after each report.

        To end, stop iterating and call `close`.
        """
        began, before = self._clock(), self._found.seconds
        committed = written = began
        self._tree.begin()
        for worker in range(self._pool.size):
            if worker not in self._jobs:
                self._submit(worker)
        while True:
            for worker, report in self._pool.collect():
                self._take_in(worker, report)
                self._submit(worker)
            now = self._clock()
            self._found.seconds = before + now - began
            if now - written >= self._settings.progress_seconds:
                self._write_progress()
                written = now
            if now - committed >= self._settings.commit_seconds:
                self._tree.commit()
                self._tree.begin()
                committed = now
            yield self.figures

    def close(self) -> None:
        self._tree.begin()
        self._write_progress()
        self._tree.commit()
        self._pool.close()
        self._tree.close()

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
        cells = {cell: kept.worth for cell, kept in self._kept.items()}
        self._updates.cells(cells, frozenset(self._found.marks))
        self._updates.tries(self._tries.all())
        self._updates.crossings(self._graph)

    def _load(self, saved: dict[str, Any]) -> None:
        self._draws.load_state_dict(saved["draws"])
        self._tries.load_state_dict(saved["tries"])
        self._graph = RoomGraph.from_json(saved["graph"])
        self._rng.bit_generator.state = saved["rng"]
        self._found.counts, self._found.seconds = saved["counts"], saved["seconds"]
        self._found.cpu_seconds = saved["cpu_seconds"]
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
                    "cpu_seconds": self._found.cpu_seconds,
                    "marks": [asdict(first) for first in self._found.marks.values()],
                }
            }
        )

    def _submit(self, worker: int) -> None:
        starts = []
        for _ in range(self._settings.starts_per_job):
            starts.append(self._begin(*self._draws.draw(self._rng)))
        update = self._updates.take(worker)
        job = Job(
            seed=int(self._rng.integers(1 << 62)),
            starts=tuple(starts),
            cells=update.cells,
            dropped=tuple(update.dropped),
            marks=frozenset(update.marks),
            tries=update.tries,
            crossings=tuple(update.crossings),
        )
        self._jobs[worker] = job
        self._pool.submit(worker, job)

    def _begin(self, cell: bytes, rule: str) -> Begin:
        """Describe how to return to a cell.

        A state costs as much as playing `save_after` frames. It is saved once the frames played to
        return to the node have cost as much. The total is therefore at most twice the optimum,
        whether a cell is drawn once or a thousand times.
        """
        kept = self._kept[cell]
        base, actions = self._tree.nearest_state(kept.node)
        kept.returned += len(actions) * FRAMES
        save = bool(actions) and kept.returned >= self._settings.save_after
        sha256, packed = self._tree.packed(base)
        frames = kept.worth.frames
        return Begin(kept.node, cell, sha256, packed, actions, kept.digest, frames, save, rule)

    def _take_in(self, worker: int, report: Report) -> None:
        job = self._jobs.pop(worker)
        ids: list[int] = []
        for saved in report.saved:
            if saved.node in self._found.frames:
                self._tree.put_state(saved.node, saved.sha256, saved.packed)
        for find in report.finds:
            ids.append(self._keep(worker, find, ids))
        for start, outcome in zip(job.starts, report.outcomes, strict=True):
            self._draws.renew(start.cell, untried=outcome.untried)
            self._draws.shares.record(start.rule, outcome.new_flags)
            if outcome.new_cells:
                self._draws.rewarded(start.cell)
        self._found.counts["frames"] += report.frames
        self._found.counts["rollouts"] += len(job.starts)
        self._found.counts["decisions"] += report.decisions
        self._found.counts["deaths"] += report.deaths
        self._found.cpu_seconds += report.cpu_seconds
        self._tries.learn(report.tries)
        self._updates.tries(report.tries, by=worker)
        crossings = [c for c in report.crossings if self._graph.add_crossing(c)]
        self._updates.crossings(crossings, by=worker)
        self._shrink()
        self.ratings.consult(self._found.counts["frames"])

    def _keep(self, worker: int, find: Find, ids: list[int]) -> int:
        """Add a find to the tree; it represents its cell if it is the best state there."""
        parent = find.parent if find.parent >= 0 else ids[-1 - find.parent]
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
        self._found.frames[node.id] = node.frames
        self._found.rooms.add(node.room)
        if not is_best:
            return node.id
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
        self._announce(worker, node, find.worth)
        return node.id

    def _announce(self, worker: int, node: Node, worth: Worth) -> None:
        for mark in sorted(node.marks - set(self._found.marks)):
            self._found.marks[mark] = FirstFound(mark, node.found_at, self._found.seconds, node.id)
        self._updates.cells({node.cell: worth}, node.marks, by=worker)

    def _rank(self, node: int, marks: Marks) -> None:
        level = level_of(marks)
        if level > self._found.best[0]:
            self._found.best = (level, node)

    def _shrink(self) -> None:
        excess = len(self._draws) - self._settings.max_cells
        if excess <= 0:
            return
        dropped = self._draws.worst(excess + self._settings.max_cells // 10)
        self._updates.drop(dropped)
        for cell in dropped:
            self._draws.remove(cell)
            self._tree.drop_cell(cell)
            del self._kept[cell]
        needed = [start.node for job in self._jobs.values() for start in job.starts]
        self._tree.sweep([0, self._found.best[1], *needed])
        self._found.frames = dict(self._tree.frames())
