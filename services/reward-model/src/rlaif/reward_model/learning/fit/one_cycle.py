"""AdamW along one cycle of its learning rate and momentum.

Equivalent to `torch.optim.AdamW(fused=True)` with `torch.optim.lr_scheduler.OneCycleLR`, whose
first use imports PyTorch's compiler: 70 MB, and the duration of a small training.
"""

import math
from collections.abc import Iterable

import torch
from torch import Tensor
from torch.optim.adamw import adamw

_BETA2, _EPSILON = 0.999, 1e-8
_MIN_MOMENTUM, _MAX_MOMENTUM = 0.85, 0.95
_RISE = 0.3
"""Share of the steps in which the rate rises and the momentum falls."""

_FIRST, _LAST = 25.0, 1e4
"""Ratios of learning rates: peak to first step, and first step to last step."""


class OneCycleAdamW:
    """Updates `parameters` at most `steps` times."""

    def __init__(
        self, parameters: Iterable[Tensor], *, peak: float, weight_decay: float, steps: int
    ) -> None:
        self._parameters = list(parameters)
        self._peak, self._weight_decay, self._steps = peak, weight_decay, steps
        self._means = [torch.zeros_like(each) for each in self._parameters]
        self._squares = [torch.zeros_like(each) for each in self._parameters]
        self._counts = [torch.zeros((), dtype=torch.float32) for _ in self._parameters]
        self._done = 0

    def step(self) -> None:
        """Update each parameter by its gradient, then clear the gradient."""
        rate, momentum = one_cycle(self._done, self._steps, peak=self._peak)
        gradients = [each.grad for each in self._parameters if each.grad is not None]
        with torch.no_grad():
            adamw(
                self._parameters, gradients, self._means, self._squares, [], self._counts,
                fused=True, amsgrad=False, maximize=False, lr=rate, beta1=momentum, beta2=_BETA2,
                weight_decay=self._weight_decay, eps=_EPSILON,
            )  # fmt: skip
        for each in self._parameters:
            each.grad = None
        self._done += 1


def one_cycle(done: int, steps: int, *, peak: float) -> tuple[float, float]:
    """(learning rate, momentum) after `done` of at least two steps.

    Smith & Topin 2018, arXiv 1708.07120.
    """
    top, end = _RISE * steps - 1, steps - 1
    first = peak / _FIRST
    if done <= top:
        place = done / top
        return _between(first, peak, place), _between(_MAX_MOMENTUM, _MIN_MOMENTUM, place)
    place = (done - top) / (end - top)
    rate = _between(peak, first / _LAST, place)
    return rate, _between(_MIN_MOMENTUM, _MAX_MOMENTUM, place)


def _between(start: float, end: float, place: float) -> float:
    """Cosine interpolation from `start` to `end`; `place` in [0, 1]."""
    return end + (start - end) / 2.0 * (math.cos(math.pi * place) + 1)
