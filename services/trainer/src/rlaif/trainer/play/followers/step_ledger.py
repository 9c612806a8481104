"""What each decision of the watched game was paid: base steps in, whole decisions into the ring.

A decision is whole when the reward model's pay for it is counted, which is when the next picture is
taken at the latest.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from rlaif.trainer.run_folder.live_files import StepReward, StepsFile


class StepLedger:
    """Follows one environment; nobody sees it while the disk does not take the file."""

    def __init__(self, path: Path, parts: Sequence[str]) -> None:
        """Write decisions of a game to a file; `parts` are the names of its reward's parts."""
        self._path = path
        self._names = tuple(parts)
        self._parts = np.zeros(len(parts), dtype=np.float64)
        self._reward = 0.0
        self._number = 0
        self._waiting: deque[StepReward] = deque()
        self._ring: StepsFile | None = None
        self.open()

    def open(self) -> None:
        if self._ring is not None:
            return
        try:
            self._ring = StepsFile.create(self._path, self._names)
        except (OSError, ValueError):
            return

    def note(self, reward: float, parts: npt.NDArray[np.float32]) -> None:
        self._reward += reward
        self._parts += parts

    def decided(self, env_step: int, *, ended: bool) -> None:
        """The decision that these steps were is over; its pay by the reward model is not known."""
        self._number += 1
        parts = tuple(self._parts.tolist())
        self._waiting.append(StepReward(self._number, env_step, self._reward, parts, ended=ended))
        self._reward = 0.0
        self._parts[:] = 0.0

    def settle(self, paid: Sequence[float | None], version: int | None) -> None:
        steps = [
            replace(self._waiting.popleft(), paid=each, version=version)
            for each in paid[: len(self._waiting)]
        ]
        if self._ring is not None:
            self._ring.append(steps)

    def restart(self) -> None:
        """The game was put somewhere else: what waits is not counted, and a number is left out."""
        self._waiting.clear()
        self._number += 1
        self._reward = 0.0
        self._parts[:] = 0.0

    def close(self) -> None:
        if self._ring is not None:
            self._ring.close()
