"""Curiosity rewards by random network distillation (Burda et al. 2018, arXiv 1810.12894).

A target network with random, fixed weights maps an observation to 32 numbers; a predictor learns
to return the same. Its error, which is high for rare observations, is the reward. Observations are
normalised by running mean and deviation and clipped at 5; the error by the running deviation of its
own discounted return, which continues over the ends of episodes.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from rlaif.trainer.rewards.learned.shaping import Bool, Float32, Transitions

Float64 = npt.NDArray[np.float64]

OUTPUTS = 32
CLIP = 5.0
"""Deviations at which a normalised observation is clipped; Burda et al., appendix A.3."""

_TARGET = (64, OUTPUTS)
_PREDICTOR = (64, 64, OUTPUTS)
"""One layer more than the target, so that it can imitate it."""

_LEARNED_SHARE = 0.25
"""Share of an iteration's observations, as in Burda et al.: many environments would learn every
place at once."""

_LEARNING_RATE = 1e-3
"""Adam step of the predictor. Higher values reduce the reward of known places sooner."""

_GAMMA = 0.99
"""Discount of the return that normalises the reward."""

_MINIBATCH = 256
_MIN_DEVIATION = 1e-4
_STREAM = 0x24D


@dataclass
class RunningMoments:
    """Mean and variance of all rows so far (Chan, Golub & LeVeque 1979), however they are split.

    Attributes:
        mean: `[D] float64`.
        squares: `[D] float64`, sum of squared deviations from the mean.
        count: Rows so far.
    """

    mean: Float64
    squares: Float64
    count: int = 0

    @classmethod
    def of_width(cls, width: int) -> "RunningMoments":
        return cls(np.zeros(width), np.zeros(width))

    def add(self, rows: npt.NDArray[Any]) -> None:
        added = len(rows)
        if not added:
            return
        mean = rows.mean(axis=0, dtype=np.float64)
        # Around the mean the rows' own precision is enough; half the memory is half the time.
        off = rows - mean.astype(rows.dtype)
        squares = np.square(off, out=off).sum(axis=0, dtype=np.float64)
        total = self.count + added
        shift = mean - self.mean
        self.mean = self.mean + shift * (added / total)
        self.squares = self.squares + squares + np.square(shift) * (self.count * added / total)
        self.count = total

    @property
    def deviation(self) -> Float64:
        spread: Float64 = np.sqrt(self.squares / max(1, self.count))
        return spread

    def state_dict(self) -> dict[str, npt.NDArray[Any]]:
        return {
            "mean": self.mean.copy(),
            "squares": self.squares.copy(),
            "count": np.array([self.count], dtype=np.int64),
        }

    def load_state_dict(self, state: dict[str, npt.NDArray[Any]]) -> None:
        self.mean = state["mean"].astype(np.float64)
        self.squares = state["squares"].astype(np.float64)
        self.count = int(state["count"][0])


Array = npt.NDArray[Any]


class Curiosity:
    """The two networks and their statistics. Equal seeds and fragments give equal rewards."""

    def __init__(self, *, inputs: int, weight: float, seed: int) -> None:
        self.weight = weight
        generator = torch.Generator().manual_seed(seed)
        self._target = _network((inputs, *_TARGET), generator).requires_grad_(False)
        self._predictor = _network((inputs, *_PREDICTOR), generator)
        self._optimiser = torch.optim.Adam(
            self._predictor.parameters(), lr=_LEARNING_RATE, fused=True
        )
        self._order = np.random.default_rng([seed, _STREAM])
        self._observations = RunningMoments.of_width(inputs)
        self._returns = RunningMoments.of_width(1)
        self._carried: dict[int, npt.NDArray[np.float64]] = {}

    def pay(
        self,
        runners: list[int],
        fragments: list[Transitions],
        continues: list[bool],
        by_planner: list[Bool] | None = None,
    ) -> list[Float32]:
        """Rewards of one iteration's fragments, `[T, N] float32` each; then learn from them.

        Steps `by_planner`, `[T, N] bool` each, have reward 0 and are excluded from learning and
        statistics: what the planner has seen stays new to the policy. The same holds for steps that
        ended an episode in the game or in which the player died (`Transitions.torn`).
        """
        own = [~part.torn for part in fragments]
        if by_planner is not None:
            own = [mask & ~taken for mask, taken in zip(own, by_planner, strict=True)]
        grids = [np.zeros(mask.shape) for mask in own]
        rows = np.concatenate(
            [part.reached()[mask] for part, mask in zip(fragments, own, strict=True)]
        )
        if not len(rows):
            return [grid.astype(np.float32) for grid in grids]
        self._observations.add(rows)
        x = torch.from_numpy(self._normalised(rows))
        with torch.inference_mode():
            goal = self._target(x)
            errors = (self._predictor(x) - goal).square().mean(dim=1).numpy()
        at = 0
        for grid, mask in zip(grids, own, strict=True):
            size = int(mask.sum())
            grid[mask] = errors[at : at + size]
            at += size
        for runner, grid, mask, follows in zip(runners, grids, own, continues, strict=True):
            self._add_returns(runner, grid, mask, follows)
        self._learn(x, goal.clone())
        deviation = max(float(self._returns.deviation[0]), _MIN_DEVIATION)
        return [(self.weight * grid / deviation).astype(np.float32) for grid in grids]

    def _normalised(self, rows: Float32) -> Float32:
        deviation = np.maximum(self._observations.deviation, _MIN_DEVIATION)
        scaled = (rows - self._observations.mean.astype(np.float32)) / deviation.astype(np.float32)
        clipped: Float32 = np.clip(scaled, -CLIP, CLIP).astype(np.float32)
        return clipped

    def _add_returns(
        self, runner: int, errors: npt.NDArray[np.float64], own: Bool, follows: bool
    ) -> None:
        """Fold the discounted sums of the `own` errors, `[T, N]`, into their running deviation."""
        running = self._carried.get(runner)
        if not follows or running is None or len(running) != errors.shape[1]:
            running = np.zeros(errors.shape[1])
        sums = np.empty_like(errors)
        for t in range(len(errors)):
            running = np.where(own[t], running * _GAMMA + errors[t], running)
            sums[t] = running
        self._carried[runner] = running
        self._returns.add(sums[own].reshape(-1, 1))

    def _learn(self, x: Tensor, goal: Tensor) -> None:
        size = max(1, round(_LEARNED_SHARE * len(x)))
        order = torch.from_numpy(self._order.permutation(len(x))[:size])
        for chosen in torch.split(order, _MINIBATCH):
            self._optimiser.zero_grad(set_to_none=True)
            loss = (self._predictor(x[chosen]) - goal[chosen]).square().mean()
            torch.autograd.backward(loss)
            self._optimiser.step()

    def state_dict(self) -> dict[str, Array]:
        state: dict[str, Array] = {}
        for name, module in (("target", self._target), ("predictor", self._predictor)):
            for key, value in module.state_dict().items():
                state[f"{name}/{key}"] = value.numpy().copy()
        for index, values in self._optimiser.state_dict()["state"].items():
            for key, value in values.items():
                state[f"adam/{index}/{key}"] = np.atleast_1d(value.numpy().copy())
        for name, moments in (("observations", self._observations), ("returns", self._returns)):
            state |= {f"{name}/{key}": value for key, value in moments.state_dict().items()}
        state |= {f"carried/{runner}": row.copy() for runner, row in self._carried.items()}
        return state | {"order": _stream_words(self._order)}

    def load_state_dict(self, state: dict[str, Array]) -> None:
        for name, module in (("target", self._target), ("predictor", self._predictor)):
            found = _under(state, name)
            module.load_state_dict({key: torch.from_numpy(v.copy()) for key, v in found.items()})
        adam: dict[int, dict[str, Tensor]] = {}
        for path, value in _under(state, "adam").items():
            index, key = path.split("/")
            tensor = torch.from_numpy(value.copy())
            adam.setdefault(int(index), {})[key] = tensor[0] if key == "step" else tensor
        groups = self._optimiser.state_dict()["param_groups"]
        self._optimiser.load_state_dict({"state": adam, "param_groups": groups})
        self._observations.load_state_dict(_under(state, "observations"))
        self._returns.load_state_dict(_under(state, "returns"))
        self._carried = {int(key): row.copy() for key, row in _under(state, "carried").items()}
        _set_stream(self._order, state["order"])


def _network(sizes: tuple[int, ...], generator: torch.Generator) -> nn.Sequential:
    layers: list[nn.Module] = []
    for fan_in, fan_out in pairwise(sizes):
        layer = nn.Linear(fan_in, fan_out, device="meta").to_empty(device="cpu")
        nn.init.orthogonal_(layer.weight, 2.0**0.5, generator=generator)
        nn.init.zeros_(layer.bias)
        layers += [layer, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def _under(state: dict[str, Array], prefix: str) -> dict[str, Array]:
    start = f"{prefix}/"
    return {key[len(start) :]: value for key, value in state.items() if key.startswith(start)}


def _stream_words(rng: np.random.Generator) -> Array:
    """State of a PCG64 generator: two 128-bit numbers as four words, and its spare half word."""
    state: dict[str, Any] = dict(rng.bit_generator.state)
    low = (1 << 64) - 1
    words = [
        word
        for number in (state["state"]["state"], state["state"]["inc"])
        for word in (number >> 64, number & low)
    ]
    return np.array([*words, state["has_uint32"], state["uinteger"]], dtype=np.uint64)


def _set_stream(rng: np.random.Generator, words: Array) -> None:
    numbers = [int(word) for word in words]
    rng.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": numbers[0] << 64 | numbers[1], "inc": numbers[2] << 64 | numbers[3]},
        "has_uint32": numbers[4],
        "uinteger": numbers[5],
    }
