"""Statistics of a search while it runs, as plain values."""

from dataclasses import asdict, dataclass
from typing import Any


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
