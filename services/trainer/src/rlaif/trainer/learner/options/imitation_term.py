"""A term beside PPO's loss that imitates some rows: drawn anew for each minibatch, weighted."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from ray.rllib.core.columns import Columns
from torch import Tensor

from rlaif.trainer.learner.options.straying import strayed

Loss = Callable[[Any, dict[str, Tensor]], Tensor]
"""Module and rows to a scalar."""


class ImitationTerm:
    """What is imitated, and how much.

    Attributes:
        weight: Of the loss; at 0 nothing is computed.
        strayed: See `straying.strayed`.
    """

    def __init__(self, loss: Loss, *, share: float = 1.0) -> None:
        self._loss, self._share = loss, share
        self._rows: dict[str, Tensor] = {}
        self._some = np.empty(0, dtype=np.int64)
        self.weight = self.strayed = 0.0

    def take(self, rows: dict[str, np.ndarray[Any, Any]] | None, device: Any) -> None:
        """Imitate these rows from now on; None: nothing."""
        self._rows = {
            name: torch.as_tensor(array).to(device) for name, array in (rows or {}).items()
        }
        self.choose(None)

    def choose(self, some: npt.NDArray[np.bool_] | None) -> None:
        """Imitate only some of the rows from now on, `[R] bool`; None: all of them.

        A row weighs as much among few as among all: the term falls with their share.
        """
        count = len(self._rows[Columns.ACTIONS]) if self._rows else 0
        self._some = np.arange(count) if some is None else np.flatnonzero(some)

    def of(self, module: Any, size: int, rng: np.random.Generator) -> Tensor | None:
        """The weighted term for a minibatch of `size`; None when there is none."""
        if not len(self._some) or not self.weight:
            return None
        part = len(self._some) / len(self._rows[Columns.ACTIONS])
        count = max(1, round(size * self._share * part))
        order = torch.from_numpy(self._some[rng.integers(0, len(self._some), count)])
        drawn = {name: column[order] for name, column in self._rows.items()}
        drawn = strayed(drawn, self._rows, self.strayed, rng)
        return self.weight * part * self._loss(module, drawn)
