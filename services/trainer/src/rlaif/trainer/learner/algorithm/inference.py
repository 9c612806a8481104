"""The policy's forward pass for a few rows, as the sampling loop needs it at every step.

RLlib's module takes 370 µs for 16 rows; the same matrix products into preallocated numpy arrays
take 55 µs (one core of a 2.5 GHz Xeon, 128 → 256 → 256 → 8).
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from ray.rllib.core.columns import Columns

from rlaif.trainer.learner.networks.button_networks import PICTURES
from rlaif.trainer.learner.networks.decision_module import POLICY_INPUTS

Float32 = npt.NDArray[np.float32]

_IN_PLACE: dict[type[torch.nn.Module], Callable[..., Any]] = {
    torch.nn.Tanh: np.tanh,
    torch.nn.ReLU: partial(np.maximum, 0.0),
}


class _Layer:
    """A matrix product into a buffer, and what follows it."""

    def __init__(self, linear: torch.nn.Linear, rows: int) -> None:
        self._linear = linear
        self.activation: Callable[..., Any] | None = None
        self.out = np.empty((rows, linear.out_features), dtype=np.float32)
        self.refresh()

    def refresh(self) -> None:
        self._weights: Float32 = self._linear.weight.detach().t().contiguous().numpy().copy()
        self._bias: Float32 = self._linear.bias.detach().numpy().copy()

    def apply(self, rows: Float32) -> Float32:
        np.matmul(rows, self._weights, out=self.out)
        np.add(self.out, self._bias, out=self.out)
        if self.activation is not None:
            self.activation(self.out, out=self.out)
        return self.out


class PolicyInference:
    """`[N, 128]` observations to `[N, A]` logits by an RLlib module.

    A policy of linear layers with tanh or ReLU between them is computed by numpy (`straight`), any
    other by the module.
    """

    def __init__(self, module: Any, rows: int) -> None:
        self._module = module
        self._layers = _layers(module, rows)
        self.straight = bool(self._layers)

    def refresh(self) -> None:
        for layer in self._layers:
            layer.refresh()

    def logits(
        self,
        observations: Float32,
        pictures: npt.NDArray[np.uint8] | None = None,
        policy_inputs: Float32 | None = None,
    ) -> Float32:
        """The logits of each row, in an array that the next call overwrites.

        `pictures` are `[N, 4, 72, 80]`, `policy_inputs` `[N, SIZE]`, for policies that read them.
        """
        if not self.straight:
            return module_logits(
                self._module.forward_exploration, observations, pictures, policy_inputs
            )
        rows = observations
        for layer in self._layers:
            rows = layer.apply(rows)
        return rows


def module_logits(
    forward: Callable[[dict[str, Any]], dict[str, Any]],
    observations: Float32,
    pictures: npt.NDArray[np.uint8] | None = None,
    policy_inputs: Float32 | None = None,
) -> Float32:
    """Logits by a forward method of an RLlib module."""
    batch = {Columns.OBS: torch.from_numpy(observations)}
    if pictures is not None:
        batch[PICTURES] = torch.from_numpy(pictures)
    if policy_inputs is not None:
        batch[POLICY_INPUTS] = torch.from_numpy(policy_inputs)
    with torch.inference_mode():
        logits: Float32 = forward(batch)[Columns.ACTION_DIST_INPUTS].numpy()
    return logits


def log_probabilities(logits: Float32, actions: npt.NDArray[np.int64]) -> Float32:
    """Log probability of each action, `[...] float32`, of `[..., A]` logits."""
    top = logits.max(axis=-1)
    total = np.log(np.exp(logits - top[..., None]).sum(axis=-1)) + top
    chosen = np.take_along_axis(logits, actions[..., None], axis=-1)[..., 0]
    result: Float32 = (chosen - total).astype(np.float32)
    return result


def _layers(module: Any, rows: int) -> list[_Layer]:
    layers: list[_Layer] = []
    for part in _parts(module):
        activation = _IN_PLACE.get(type(part))
        if isinstance(part, torch.nn.Linear) and part.bias is not None:
            layers.append(_Layer(part, rows))
        elif activation is not None and layers and layers[-1].activation is None:
            layers[-1].activation = activation
        else:
            return []
    return layers


def _parts(module: Any) -> Iterable[Any]:
    """Encoder and head of RLlib's default PPO module, in order; empty for any other."""
    try:
        encoder = module.encoder
        own = getattr(encoder, "actor_encoder", None)
        own = encoder.encoder if own is None else own
        return [*own.net.mlp, *module.pi.net.mlp]
    except (AttributeError, TypeError):
        return []
