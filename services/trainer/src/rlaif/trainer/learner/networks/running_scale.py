"""Running figures that travel with a network's weights: of its inputs, and of its returns.

Both are buffers of the module: checkpoints keep them, and runners get those of the inputs with the
weights.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

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


_MIN_DEVIATION = 0.01
"""Of an input. One that hardly ever moves is not blown up when it does."""

_MAX_DEVIATIONS = 5.0


class RunningScale(nn.Module):
    """Inputs less their mean, in their standard deviations, at most 5.

    The figures are those of all rows ever shown to `observe` (Chan et al. 1983), so that they move
    less and less.
    """

    mean: Tensor
    variance: Tensor
    count: Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        # No float64: RLlib brings weights back as float32.
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("variance", torch.zeros(size))
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))

    def forward(self, rows: Tensor) -> Tensor:
        """`[B, size]`, bounded; the rows themselves before anything was observed."""
        if self.count == 0:
            return rows
        return ((rows - self.mean) / self.deviation).clamp(-_MAX_DEVIATIONS, _MAX_DEVIATIONS)

    @property
    def deviation(self) -> Tensor:
        """`[size]`, what the inputs are divided by."""
        return self.variance.sqrt().clamp(min=_MIN_DEVIATION)

    @torch.no_grad()
    def observe(self, rows: Tensor) -> None:
        """Take `[B, size]` rows into the figures."""
        if not len(rows):
            return
        self.count += len(rows)
        _take_in(self.mean, self.variance, rows.double(), len(rows) / int(self.count))

    @torch.no_grad()
    def observe_for(self, layers: Sequence[nn.Linear], rows: Tensor) -> None:
        """The same; layers that read this scale first of all go on to say what they said.

        Their weights are changed against the figures, so that no policy is another one because
        other rows came. The first figures of all are not made up for: they are what a new network
        is to begin with. An input at its bound may still change.
        """
        begins, mean, deviation = self.count == 0, self.mean.clone(), self.deviation.clone()
        self.observe(rows)
        if begins:
            return
        size, moved = len(mean), (self.mean - mean) / deviation
        for layer in layers:
            layer.bias.add_(layer.weight[:, :size] @ moved)
            layer.weight[:, :size].mul_(self.deviation / deviation)


_KEPT = 0.97
"""Of the figures, from update to update: about the last 30 count."""

_MIN_SPREAD = 0.01


class ValueHead(nn.Module):
    """The last layer of a critic, which learns values in their own standard deviations.

    PopArt (van Hasselt et al. 2016, arXiv 1602.07714): when the figures move, the layer is changed
    so that its values do not change. Outside everything is in the units of the returns.
    """

    mean: Tensor
    variance: Tensor
    spread: Tensor
    updates: Tensor

    def __init__(self, units: int) -> None:
        super().__init__()
        self.linear = nn.Linear(units, 1)
        self.register_buffer("mean", torch.zeros(()))
        self.register_buffer("variance", torch.zeros(()))
        self.register_buffer("spread", torch.ones(()))
        self.register_buffer("updates", torch.zeros((), dtype=torch.int64))

    def forward(self, features: Tensor) -> Tensor:
        """Values `[B, 1]` in the units of the returns."""
        values: Tensor = self.linear(features) * self.spread + self.mean
        return values

    @torch.no_grad()
    def follow(self, returns: Tensor) -> None:
        """Take the returns of an update, `[B]`, into the figures; no value changes."""
        if not len(returns):
            return
        self.updates += 1
        share = (1 - _KEPT) / (1 - _KEPT ** int(self.updates))
        mean, spread = self.mean.clone(), self.spread.clone()
        _take_in(self.mean, self.variance, returns.double(), share)
        self.spread.copy_(self.variance.sqrt().clamp(min=_MIN_SPREAD))
        self.linear.weight.mul_(spread / self.spread)
        self.linear.bias.mul_(spread).add_(mean - self.mean).div_(self.spread)


def _take_in(mean: Tensor, variance: Tensor, rows: Tensor, share: float) -> None:
    """Make the figures those of a mixture in which `rows` have a share, 0 to 1."""
    apart = rows.mean(0) - mean
    spread = rows.var(0, unbiased=False) + (1 - share) * apart**2
    variance.copy_((1 - share) * variance + share * spread)
    mean.copy_(mean + share * apart)
