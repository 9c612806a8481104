"""Messages of a search: jobs for the runners that explore, and their reports."""

from dataclasses import dataclass, field

from rlaif.game.motion.room_graph import Crossing
from rlaif.trainer.search.cell import Worth
from rlaif.trainer.search.marks import Marks


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
    seed: int = 0  # of the draws from there
    rule: str = ""  # by which it was selected


@dataclass(frozen=True)
class Saved:
    """The state of a node."""

    node: int
    sha256: str
    packed: bytes


@dataclass(frozen=True)
class Find:
    """A state to keep, as a runner reports it."""

    number: int  # counts the finds of the runner
    parent: int  # node; if negative, the find with number -1 - parent of the same runner
    cell: bytes
    place: bytes
    room: int
    marks: Marks
    worth: Worth
    decisions: tuple[tuple[int, int], ...]
    actions: str
    digest: str
    untried: int
    played: int  # frames that the runner had explored until then, since its last report
    ram: bytes = b""  # packed, of the first state in a cell


@dataclass(frozen=True)
class Outcome:
    """Result of a rollout.

    Attributes:
        cell: Cell of its start.
        rule: Rule that selected the start.
        new_cells: Number of cells that it was the first to reach.
        untried: Kinds of proposals at its start that were untried with the owned items.
        new_flags: By weight, those that were new to the search.
        is_reached: Whether the recorded buttons led to the RAM of its start node. If not, the
            record is wrong, and nothing was played.
    """

    cell: bytes
    rule: str
    new_cells: int = 0
    untried: int = 0
    new_flags: float = 0.0
    is_reached: bool = True


@dataclass(frozen=True)
class Job:
    """Start nodes, and the finds of other runners since the last job.

    Attributes:
        is_first: Replaces all earlier knowledge.
    """

    starts: tuple[Begin, ...]
    cells: dict[bytes, Worth] = field(default_factory=dict)
    dropped: tuple[bytes, ...] = ()
    marks: Marks = frozenset()
    tries: dict[bytes, int] = field(default_factory=dict)
    crossings: tuple[Crossing, ...] = ()
    is_first: bool = False


@dataclass(frozen=True)
class Report:
    """Results of a runner since its last report.

    Attributes:
        waiting: Number of starts that are still queued.
    """

    finds: tuple[Find, ...]
    saved: tuple[Saved, ...]
    outcomes: tuple[Outcome, ...]
    tries: dict[bytes, int]
    crossings: tuple[Crossing, ...]
    frames: int
    deaths: int
    decisions: int
    waiting: int
