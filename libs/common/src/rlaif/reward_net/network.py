"""The network: observations in, one bounded potential out.

Both sides build it from a `RewardNetSpec`, so the reward-model service trains exactly what the
trainer evaluates.
"""

from itertools import pairwise

import torch
from torch import Tensor, nn

from rlaif.contracts.reward_models import RewardNetSpec

_ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "tanh": nn.Tanh}


class RewardNet(nn.Module):
    """A multilayer perceptron without dropout: equal inputs give equal outputs in any mode.

    Attributes:
        spec: Its shape, and the frozen constants of the potential.
    """

    def __init__(self, spec: RewardNetSpec, *, generator: torch.Generator | None = None) -> None:
        """Build the network with fresh weights.

        Args:
            spec: The shape.
            generator: Source of the initial weights; the global generator when None.
        """
        super().__init__()
        self.spec = spec
        layers: list[nn.Module] = []
        sizes = layer_sizes(spec)
        for index, (fan_in, fan_out) in enumerate(pairwise(sizes)):
            layers.append(_linear(fan_in, fan_out, generator))
            if index < len(sizes) - 2:
                layers.append(_ACTIVATIONS[spec.activation]())
        self.net = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        """The raw logit r(x).

        Args:
            x: Observations, `[B, inputs]` float32 in [0, 1].

        Returns:
            `[B]` float32, unbounded; only its differences mean anything.
        """
        logits: Tensor = self.net(x).squeeze(-1)
        return logits

    def potential(self, x: Tensor) -> Tensor:
        """The potential `scale * tanh((r(x) - shift) / spread)`.

        Args:
            x: Observations, `[B, inputs]` float32 in [0, 1].

        Returns:
            `[B]` float32 in [-scale, scale].
        """
        return self.spec.scale * torch.tanh((self(x) - self.spec.shift) / self.spec.spread)

    def with_constants(self, *, shift: float, spread: float) -> "RewardNet":
        """A copy of this network whose potential is centred at `shift` with width `spread`."""
        spec = self.spec.model_copy(update={"shift": shift, "spread": spread})
        copy = RewardNet(spec)
        copy.load_state_dict(self.state_dict())
        return copy.eval()


def layer_sizes(spec: RewardNetSpec) -> tuple[int, ...]:
    """Units of each layer, input and output included, such as (128, 64, 64, 1)."""
    return (spec.inputs, *spec.hidden, 1)


def tensor_shapes(spec: RewardNetSpec) -> dict[str, tuple[int, ...]]:
    """Name → shape of every weight, without building the network.

    A file is compared with this before memory is taken for the network that it asks for.
    """
    shapes: dict[str, tuple[int, ...]] = {}
    for index, (fan_in, fan_out) in enumerate(pairwise(layer_sizes(spec))):
        shapes[f"net.{2 * index}.weight"] = (fan_out, fan_in)
        shapes[f"net.{2 * index}.bias"] = (fan_out,)
    return shapes


def _linear(fan_in: int, fan_out: int, generator: torch.Generator | None) -> nn.Linear:
    """A layer with PyTorch's own default weights, uniform in ±1/sqrt(fan in), from `generator`."""
    # Built without weights first: nn.Linear would draw them from the global generator.
    layer = nn.Linear(fan_in, fan_out, device="meta").to_empty(device="cpu")
    bound = float(fan_in) ** -0.5
    nn.init.uniform_(layer.weight, -bound, bound, generator=generator)
    nn.init.uniform_(layer.bias, -bound, bound, generator=generator)
    return layer
