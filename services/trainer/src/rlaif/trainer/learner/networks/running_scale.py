"""Running statistics of a network's inputs and returns, stored as buffers of the module."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from rlaif.trainer.learner.networks.decision_layout import MAX_DEVIATIONS, MIN_DEVIATION

_KEPT = 0.97
"""Decay of the statistics per update: averages about the last 30 updates."""

_MIN_SPREAD = 0.01


class RunningScale(nn.Module):
    """Normalizes inputs by the mean and deviation of all observed rows; clips at 5 deviations.

    The statistics are updated by the algorithm of Chan et al. 1983.
    """

    mean: Tensor
    variance: Tensor
    count: Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        # No float64, because RLlib restores weights as float32.
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("variance", torch.zeros(size))
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))

    def forward(self, rows: Tensor) -> Tensor:
        """Return normalized rows, `[B, size]`; unchanged rows before the first `observe`."""
        if self.count == 0:
            return rows
        return ((rows - self.mean) / self.deviation).clamp(-MAX_DEVIATIONS, MAX_DEVIATIONS)

    @property
    def deviation(self) -> Tensor:
        return self.variance.sqrt().clamp(min=MIN_DEVIATION)

    @torch.no_grad()
    def observe(self, rows: Tensor) -> None:
        if not len(rows):
            return
        self.count += len(rows)
        _take_in(self.mean, self.variance, rows.double(), len(rows) / int(self.count))

    @torch.no_grad()
    def observe_for(self, layers: Sequence[nn.Linear], rows: Tensor) -> None:
        """Observe rows and adapt `layers`, whose first inputs are scaled, to keep their outputs.

        The first rows do not adapt them, because a new network must start with normalized inputs.
        Outputs of clipped inputs may change.
        """
        begins, mean, deviation = self.count == 0, self.mean.clone(), self.deviation.clone()
        self.observe(rows)
        if begins:
            return
        size, moved = len(mean), (self.mean - mean) / deviation
        for layer in layers:
            layer.bias.add_(layer.weight[:, :size] @ moved)
            layer.weight[:, :size].mul_(self.deviation / deviation)


class ValueHead(nn.Module):
    """The last layer of a critic, which learns normalized values.

    PopArt (van Hasselt et al. 2016, arXiv 1602.07714): when the statistics change, the layer is
    adapted so that its outputs do not. Outputs and targets are in the units of the returns.
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
        """Return values, `[B, 1]`, in the units of the returns."""
        values: Tensor = self.linear(features) * self.spread + self.mean
        return values

    @torch.no_grad()
    def follow(self, returns: Tensor) -> None:
        """Add the returns of an update, `[B]`, to the statistics; no value changes."""
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
    """Update the statistics to those of a mixture in which `rows` have a `share` of 0 to 1."""
    apart = rows.mean(0) - mean
    spread = rows.var(0, unbiased=False) + (1 - share) * apart**2
    variance.copy_((1 - share) * variance + share * spread)
    mean.copy_(mean + share * apart)
