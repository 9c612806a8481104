"""What a search tells of itself while it runs, as plain values."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class FirstFound:
    """When a mark was found for the first time."""

    mark: str
    frames: int  # that all workers had played
    seconds: float  # of searching
    node: int


@dataclass(frozen=True)
class Figures:
    """The state of a search.

    Attributes:
        frames: Game frames that all workers played.
        seconds: Of searching, of all attempts of a search that was resumed.
        cpu_seconds: Of the cores that played: less than they had where others run beside.
        level: How far the best state is (`marks.level_of`).
        best: Its node.
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
        """Of all workers together, since the search began."""
        return self.frames / self.seconds if self.seconds else 0.0

    @property
    def frames_per_cpu_second(self) -> float:
        """Of a core that does nothing else."""
        return self.frames / self.cpu_seconds if self.cpu_seconds else 0.0

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self) | {
            "frames_per_second": round(self.frames_per_second, 1),
            "frames_per_cpu_second": round(self.frames_per_cpu_second, 1),
        }
