"""What a critic's errors cost: values and returns in, a loss a row out."""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

ValueLossKind = Literal["huber", "squared"]


@dataclass(frozen=True)
class ValueLoss:
    """How errors count.

    Attributes:
        kind: `squared`; or `huber`: half the square up to one unit, beyond it straight, so that one
            large error pulls with the strength of one unit and not with its own.
        most: A row's loss is cut there; the error then teaches nothing. None cuts nothing.
    """

    kind: ValueLossKind = "huber"
    most: float | None = None

    def __call__(self, values: Tensor, returns: Tensor, spread: Tensor | float = 1.0) -> Tensor:
        """`[B]`; the unit of an error is `spread`."""
        error = (values - returns) / spread
        loss = error**2 if self.kind == "squared" else _huber(error)
        return loss if self.most is None else loss.clamp(0.0, self.most)


def _huber(error: Tensor) -> Tensor:
    return torch.nn.functional.huber_loss(error, torch.zeros_like(error), reduction="none")
