"""Running mean and variance of columns, from batches of any size."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]


@dataclass
class RunningMoments:
    """Mean and variance of everything that was added.

    Chan, Golub & LeVeque 1979: batches are merged by their counts, so the result does not depend
    on how the rows were split.

    Attributes:
        mean: `[D] float64`.
        squares: `[D] float64`, sum of squared deviations from the mean.
        count: Rows so far.
    """

    mean: Float64
    squares: Float64
    count: int = 0

    @classmethod
    def of_width(cls, width: int) -> "RunningMoments":
        return cls(np.zeros(width), np.zeros(width))

    def add(self, rows: npt.NDArray[Any]) -> None:
        """Add `[B, D]` rows."""
        added = len(rows)
        if not added:
            return
        mean = rows.mean(axis=0, dtype=np.float64)
        # Around the mean the rows' own precision is enough; half the memory is half the time.
        off = rows - mean.astype(rows.dtype)
        squares = np.square(off, out=off).sum(axis=0, dtype=np.float64)
        total = self.count + added
        shift = mean - self.mean
        self.mean = self.mean + shift * (added / total)
        self.squares = self.squares + squares + np.square(shift) * (self.count * added / total)
        self.count = total

    @property
    def deviation(self) -> Float64:
        """`[D]` standard deviations; 0 before anything was added."""
        spread: Float64 = np.sqrt(self.squares / max(1, self.count))
        return spread

    def state_dict(self) -> dict[str, npt.NDArray[Any]]:
        return {
            "mean": self.mean.copy(),
            "squares": self.squares.copy(),
            "count": np.array([self.count], dtype=np.int64),
        }

    def load_state_dict(self, state: dict[str, npt.NDArray[Any]]) -> None:
        self.mean = state["mean"].astype(np.float64)
        self.squares = state["squares"].astype(np.float64)
        self.count = int(state["count"][0])
