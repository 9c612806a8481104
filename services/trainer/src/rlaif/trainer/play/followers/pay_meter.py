"""What the reward model says of the game that people watch: its steps in, an opinion out.

It is the live model's, at its full weight. What the learner pays for the same steps, an update
later, is less while that model takes over from the one before it.
"""

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from rlaif.trainer.play.config import PayingModel
from rlaif.trainer.rewards.learned.shaping import Bool, Float32, PotentialShaper, Transitions
from rlaif.trainer.run_folder.live_files import (
    BIN_SECONDS,
    BINS,
    Opinion,
    StepReward,
    StepsFile,
)


class StepLedger:
    """Rewards of each decision of the watched game, written to the steps file."""

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


_MAX_PENDING = 256
"""Steps that wait for the next look; more are counted without one, to bound the memory."""


class PayMeter:
    """Shaping rewards of one environment; the network is evaluated when they are read.

    Uses the learner's own `PotentialShaper`. A read takes 0.11 ms with five networks of 64-64.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, ledger: StepLedger | None = None
    ) -> None:
        self._clock = clock
        self._ledger = ledger
        self._model: PayingModel | None = None
        self._shaper = PotentialShaper(gamma=1.0, weight=0.0)
        self._rows: list[Float32] = []
        self._ends: list[tuple[bool, bool, bool]] = []
        self._frames: list[int | None] = []
        self._finals: list[Float32] = []
        self._newest: Float32 | None = None
        self._continues = False
        self._paid: deque[tuple[float, float]] = deque()

    def pay_by(self, model: PayingModel | None) -> None:
        """Use another model from here on; None: none counts."""
        self._settle()
        self._model = model
        if model is not None:
            self._shaper.gamma, self._shaper.weight = model.gamma, model.weight

    def resume_at(self, row: Float32) -> None:
        self._newest = row.copy()
        self._rows, self._ends, self._finals, self._frames = [self._newest], [], [], []
        self._continues = False
        if self._ledger is not None:
            self._ledger.restart()

    def note(self, reward: float, parts: Float32) -> None:
        """A base step of the decision that is being played was paid this by the game, `[P]`."""
        if self._ledger is not None:
            self._ledger.note(reward, parts)

    def after_step(
        self,
        row: Float32,
        *,
        terminated: bool,
        truncated: bool,
        frames: int | None = None,
        died: bool = False,
        env_step: int = 0,
    ) -> None:
        """A decision reached `row`, `[D]`. After an end `begin_episode` follows.

        `frames` and `died` as `Transitions` has them; the former always or never. `env_step` as
        with the picture.
        """
        if self._ledger is not None:
            self._ledger.decided(env_step, ended=terminated or truncated)
        self._newest = row.copy()
        self._ends.append((terminated, truncated, died))
        self._frames.append(frames)
        if truncated:
            self._finals.append(self._newest)
        if not (terminated or truncated):
            self._rows.append(self._newest)
        if len(self._rows) > _MAX_PENDING:
            self._settle()

    def begin_episode(self, row: Float32) -> None:
        """An episode starts at `row`, `[D]`."""
        if not self._rows:
            self.resume_at(row)
            return
        self._newest = row.copy()
        self._rows.append(self._newest)

    def read(self) -> Opinion | None:
        """The opinion of the newest state and of the seconds before it; None without a model."""
        self._settle()
        model, newest = self._model, self._newest
        if model is None or newest is None:
            return None
        potential = float(model.potential(newest[None])[0])
        return Opinion(
            version=model.version,
            potential=potential if np.isfinite(potential) else None,
            paid=self._bins(),
        )

    def _bins(self) -> tuple[float, ...]:
        now = self._clock()
        bins = [0.0] * BINS
        for at, amount in self._paid:
            age = int((now - at) / BIN_SECONDS)
            if age < BINS:
                bins[BINS - 1 - age] += amount
        return tuple(bins)

    def _settle(self) -> None:
        # A step that ended its episode is complete when the next one has started.
        whole = len(self._rows) - 1
        if whole < 1:
            return
        steps = self._pending(whole)
        phi = None if self._model is None else self._model.potential(steps.visited())
        if phi is not None and not np.isfinite(phi).all():
            phi = None  # the learner refuses such a model as soon as it meets these states
        known = None if phi is None else (lambda _: phi)
        paid = self._shaper.shape(0, steps, known, continues=self._continues)
        now = self._clock()
        self._paid.append((now, float(paid.sum(dtype=np.float64))))
        if self._ledger is not None:
            version = None if self._model is None or known is None else self._model.version
            self._ledger.settle([None] * whole if version is None else paid[:, 0].tolist(), version)
        while now - self._paid[0][0] > BINS * BIN_SECONDS:
            self._paid.popleft()
        self._rows, self._ends = self._rows[-1:], self._ends[whole:]
        self._frames = self._frames[whole:]
        self._finals = self._finals[len(steps.final_index) :]
        self._continues = True

    def _pending(self, whole: int) -> Transitions:
        ends: Bool = np.array(self._ends[:whole], dtype=np.bool_)
        index = np.argwhere(ends[:, 1:2]).astype(np.int64).reshape(-1, 2)
        lengths = [frames for frames in self._frames[:whole] if frames is not None]
        width = len(self._rows[0])
        return Transitions(
            observations=np.stack(self._rows)[:, None],
            terminated=ends[:, :1],
            truncated=ends[:, 1:2],
            final_index=index,
            final_observations=np.array(self._finals[: len(index)], dtype=np.float32).reshape(
                -1, width
            ),
            frames=np.array(lengths, dtype=np.int32)[:, None] if lengths else None,
            died=ends[:, 2:],
        )
