"""The PyTorch network that maps observations to bounded potentials."""

import io
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from rlaif.contracts.reward_models import RewardNetSpec
from rlaif.reward_net.weights import Arrays, NetWeights, layer_sizes

_ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "tanh": nn.Tanh}


class RewardNet(nn.Module):
    """An ensemble of multilayer perceptrons without dropout.

    One tensor per layer holds the weights of all members; with one member there is no such axis.
    """

    def __init__(self, spec: RewardNetSpec, *, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.spec = spec
        layers: list[nn.Module] = []
        sizes = layer_sizes(spec)
        for index, (fan_in, fan_out) in enumerate(pairwise(sizes)):
            layers.append(Layer(spec.members, fan_in, fan_out, generator))
            if index < len(sizes) - 2:
                layers.append(_ACTIVATIONS[spec.activation]())
        self.net = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        """Raw logit r(x), the members' mean: `[B, inputs]` in [0, 1] to unbounded `[B]`."""
        return self.member_logits(x).mean(dim=0)

    def member_logits(self, x: Tensor) -> Tensor:
        """Raw logit of each member: `[B, inputs]` float32 in [0, 1] to `[members, B]`."""
        logits: Tensor = self.net(x.expand(self.spec.members, *x.shape)).squeeze(-1)
        return logits

    def potential(self, x: Tensor) -> Tensor:
        """`scale * tanh((r(x) - shift) / spread)`: `[B, inputs]` to `[B]` within ±scale."""
        return self.spec.scale * torch.tanh((self(x) - self.spec.shift) / self.spec.spread)

    def with_spec(self, spec: RewardNetSpec) -> "RewardNet":
        copy = RewardNet(spec)
        copy.load_state_dict(self.state_dict())
        return copy.eval().requires_grad_(False)

    def arrays(self) -> Arrays:
        return {name: value.detach().cpu().numpy() for name, value in self.state_dict().items()}

    def weights(self) -> NetWeights:
        return NetWeights(self.spec, {name: each.copy() for name, each in self.arrays().items()})

    def to_rm_pt(self) -> bytes:
        """The weights of the first member as a `torch.save` state dict, for readers of `rm.pt`.

        This project writes it and never reads it.
        """
        buffer = io.BytesIO()
        torch.save(self.member_weights(0), buffer)
        return buffer.getvalue()

    def member_weights(self, member: int) -> dict[str, Tensor]:
        return {
            name: (value if self.spec.members == 1 else value[member]).detach().clone()
            for name, value in self.state_dict().items()
        }


class Layer(nn.Module):
    """One linear layer of every member: weight `[members, out, in]`, bias `[members, out]`."""

    def __init__(
        self, members: int, fan_in: int, fan_out: int, generator: torch.Generator | None
    ) -> None:
        """Initialize weights as PyTorch does: uniform in ±1/sqrt(fan_in), from `generator`."""
        super().__init__()
        bound = float(fan_in) ** -0.5
        axis = (members,) if members > 1 else ()
        self.weight = nn.Parameter(torch.empty(*axis, fan_out, fan_in))
        self.bias = nn.Parameter(torch.empty(*axis, fan_out))
        nn.init.uniform_(self.weight, -bound, bound, generator=generator)
        nn.init.uniform_(self.bias, -bound, bound, generator=generator)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the layer: `[members, B, in]` to `[members, B, out]`."""
        if self.weight.dim() == 2:
            return functional.linear(x, self.weight, self.bias)
        return torch.baddbmm(self.bias.unsqueeze(1), x, self.weight.transpose(1, 2))
