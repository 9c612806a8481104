"""A search worker: jobs in, reports out. It has no access to other workers or to the disk."""

from dataclasses import dataclass, field

import numpy as np

from rlaif.game.captures.capture import pack_keyframe, unpack_keyframe
from rlaif.game.machine.emulator import Emulator
from rlaif.game.motion.room_graph import Crossing, RoomGraph
from rlaif.trainer.search.cell import Worth
from rlaif.trainer.search.marks import Marks
from rlaif.trainer.search.proposals import Tries
from rlaif.trainer.search.rollout import Find, Known, Outcome, Rollout, RolloutSettings
from rlaif.trainer.search.session import Session


class ReplayMismatchError(Exception):
    """The recorded buttons lead to other RAM than the node has."""


@dataclass(frozen=True)
class Begin:
    """A start node: a state on the trajectory to it, and the buttons from there."""

    node: int
    cell: bytes
    sha256: str
    packed: bytes
    actions: str
    digest: str  # of the RAM at the node
    frames: int  # from power-on to the node
    save: bool  # report a state of the node, so that the next return is cheaper
    rule: str = ""  # by which it was selected


@dataclass(frozen=True)
class Saved:
    """The state of a node."""

    node: int
    sha256: str
    packed: bytes


@dataclass(frozen=True)
class Job:
    """Start nodes, and what other workers found since the last job."""

    seed: int
    starts: tuple[Begin, ...]
    cells: dict[bytes, Worth] = field(default_factory=dict)
    dropped: tuple[bytes, ...] = ()
    marks: Marks = frozenset()
    tries: dict[bytes, int] = field(default_factory=dict)
    crossings: tuple[Crossing, ...] = ()


@dataclass(frozen=True)
class Report:
    """Result of a job."""

    finds: tuple[Find, ...]
    saved: tuple[Saved, ...]
    outcomes: tuple[Outcome, ...]  # one per start
    tries: dict[bytes, int]
    crossings: tuple[Crossing, ...]
    frames: int
    deaths: int
    decisions: int
    cpu_seconds: float = 0.0  # CPU time of the job, set by the pool


class Worker:
    """Plays jobs in its own emulator. Equal sequences of jobs give equal reports."""

    def __init__(self, emulator: Emulator, settings: RolloutSettings | None = None) -> None:
        settings = settings or RolloutSettings()
        self._graph = RoomGraph()
        self._session = Session(emulator, self._graph)
        self._known = Known(settings)
        self._tries = Tries()
        self._rollout = Rollout(self._session, self._known, self._tries, settings)

    def play(self, job: Job) -> Report:
        self._known.forget(job.dropped)
        self._known.learn(job.cells, job.marks)
        self._tries.learn(job.tries)
        for crossing in job.crossings:
            self._graph.add_crossing(crossing)
        before = {crossing.key for crossing in self._graph}
        session, finds, saved = self._session, list[Find](), list[Saved]()
        session.frames = session.deaths = session.played = 0
        rng = np.random.default_rng(job.seed)
        outcomes = []
        for start in job.starts:
            self._go_to(start)
            if start.save:
                packed, sha256 = pack_keyframe(session.save())
                saved.append(Saved(start.node, sha256, packed))
            outcomes.append(self._rollout.play(start.node, start.frames, finds, rng))
        return Report(
            finds=tuple(finds),
            saved=tuple(saved),
            outcomes=tuple(outcomes),
            tries=self._tries.news(),
            crossings=tuple(c for c in self._graph if c.key not in before),
            frames=session.frames,
            deaths=session.deaths,
            decisions=session.played,
        )

    def _go_to(self, start: Begin) -> None:
        self._session.load(unpack_keyframe(start.packed, start.sha256))
        self._session.press(start.actions)
        found = self._session.digest()
        if found != start.digest:
            raise ReplayMismatchError(
                f"replay to node {start.node} gives RAM with digest {found[:12]}, expected "
                f"{start.digest[:12]}: the record is wrong, or the emulator is not deterministic"
            )
