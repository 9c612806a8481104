"""Imitates the best segments of the last iterations: advantage-weighted regression beside PPO.

Source of the weights: Peng et al. 2019, arXiv 1910.00177: exp(advantage / temperature), at most 20.
Off by default: PPO alone is on-policy and needs no buffer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from ray.rllib.core.columns import Columns
from torch import Tensor

from rlaif.game.policy_input.layout import ALLOWED, POLICY_INPUT, SIZE
from rlaif.trainer.play.fragment import Fragment
from rlaif.trainer.rewards.learned.shaping import Float32

UNTOUCHED = 0.5
"""Share of the rows that are shown as they are: what matters has to stay readable."""


def strayed(
    rows: dict[str, Tensor], among: dict[str, Tensor], share: float, rng: np.random.Generator
) -> dict[str, Tensor]:
    """Rows of which a part shows something of other rows.

    Args:
        rows: Columns, `[B]`, or `[B, numbers]` where they are what is seen.
        among: The same columns of all rows that there are; where the other parts come from.
        share: Of the fields of a policy input, and of the numbers of an observation, that such a
            row has from one other row. What is allowed stays its own.
        rng: Draws rows and parts.

    Returns:
        The columns, what is seen in part from elsewhere. With `share` 0 they are `rows`.
    """
    count = len(rows[Columns.ACTIONS])
    if share <= 0 or not count:
        return rows
    other = torch.from_numpy(rng.integers(0, len(among[Columns.ACTIONS]), count))
    touched = torch.from_numpy(rng.random((count, 1)) >= UNTOUCHED)
    found = dict(rows)
    for name, seen in rows.items():
        if seen.dim() != 2:
            continue
        has_fields = seen.shape[1] == SIZE
        parts = len(POLICY_INPUT.fields) if has_fields else seen.shape[1]
        taken = touched & torch.from_numpy(rng.random((count, parts)) < share)
        if has_fields:
            taken = taken[:, _FIELD_OF_SLOT]
            taken[:, ALLOWED] = False
        found[name] = torch.where(taken, among[name][other], seen)
    return found


def _field_of_slot() -> Tensor:
    found = torch.empty(SIZE, dtype=torch.int64)
    for number, each in enumerate(POLICY_INPUT.fields):
        found[each.span] = number
    return found


_FIELD_OF_SLOT = _field_of_slot()


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


MAX_AGE = 50
"""Iterations after which a segment is forgotten: another policy played it, another reward model
may have paid for it."""

_INPUTS = "policy_inputs"
"""Column of what a policy reads besides, by the name that the networks have for it."""

_MAX_WEIGHT = 20.0
_MIN_SPREAD = 1e-4


class GoodSegment(NamedTuple):
    """Some steps of one environment that were paid well.

    Attributes:
        score: Sum of the rewards to learn from.
        observations: `[S, 128] float32`.
        actions: `[S] int64`.
        returns: `[S] float32`, TD(lambda) returns by the critic of then.
        policy_inputs: `[S, SIZE] float32`, what the policy read besides; None for the seeds'.
    """

    score: float
    iteration: int
    observations: Float32
    actions: npt.NDArray[np.int64]
    returns: Float32
    policy_inputs: Float32 | None = None


@dataclass
class TopSegments:
    """The segments of the highest rewards; at most `keep`, none older than `MAX_AGE` iterations."""

    keep: int
    steps: int
    segments: list[GoodSegment] = field(default_factory=list)

    def add(
        self,
        fragments: Sequence[Fragment],
        rewards: Sequence[Float32],
        returns: Sequence[Float32],
        *,
        iteration: int,
    ) -> None:
        """Take over what is better than what is there.

        For each fragment `[T, N]`: the rewards to learn from, and the value targets as returns.
        """
        kept = [each for each in self.segments if iteration - each.iteration < MAX_AGE]
        for fragment, reward, target in zip(fragments, rewards, returns, strict=True):
            kept += self._cut(fragment, reward, target, iteration)
        # Sorting is stable: of equals the older one stays, whatever the order of the runners.
        self.segments = sorted(kept, key=lambda each: -each.score)[: self.keep]

    def _cut(
        self, fragment: Fragment, rewards: Float32, returns: Float32, iteration: int
    ) -> list[GoodSegment]:
        found = []
        inputs = fragment.policy_inputs
        steps = min(self.steps, len(rewards))
        ended = fragment.transitions.ended
        for start in range(0, len(rewards) - steps + 1, steps):
            stop = start + steps
            scores = rewards[start:stop].sum(axis=0)
            inside = ~ended[start : stop - 1].any(axis=0)
            inside &= ~fragment.by_planner[start:stop].any(axis=0)
            known = np.isfinite(scores) & np.isfinite(returns[start:stop]).all(axis=0)
            for n in np.flatnonzero(inside & known & (scores > 0)).tolist():
                found.append(
                    GoodSegment(
                        float(scores[n]),
                        iteration,
                        fragment.transitions.observations[start:stop, n].copy(),
                        fragment.actions[start:stop, n].copy(),
                        returns[start:stop, n].copy(),
                        None if inputs is None else inputs[start:stop, n].copy(),
                    )
                )
        return found

    def rows(self) -> dict[str, npt.NDArray[Any]] | None:
        """All steps of all segments as columns; None while there are none."""
        if not self.segments:
            return None
        rows: dict[str, npt.NDArray[Any]] = {
            Columns.OBS: np.concatenate([each.observations for each in self.segments]),
            Columns.ACTIONS: np.concatenate([each.actions for each in self.segments]),
            "returns": np.concatenate([each.returns for each in self.segments]),
        }
        inputs = [each.policy_inputs for each in self.segments if each.policy_inputs is not None]
        return rows | {_INPUTS: np.concatenate(inputs)} if inputs else rows

    def state_dict(self) -> list[dict[str, Any]]:
        return [each._asdict() for each in self.segments]

    def load_state_dict(self, state: list[dict[str, Any]]) -> None:
        self.segments = [GoodSegment(**each) for each in state]


def imitation_loss(module: Any, rows: dict[str, Tensor]) -> Tensor:
    """Minus the weighted mean log probability of the actions, a scalar.

    `rows` holds `obs` `[B, 128]`, `actions` `[B]`, `returns` `[B]` and what the policy reads
    besides. No gradient flows into the critic's judgement of the advantages.
    """
    out = module.forward_train(rows)
    with torch.no_grad():
        values = module.compute_values(rows, embeddings=out.get(Columns.EMBEDDINGS))
        weights = weights_of(rows["returns"] - values)
    chosen = torch.log_softmax(out[Columns.ACTION_DIST_INPUTS], dim=-1).gather(
        -1, rows[Columns.ACTIONS].unsqueeze(-1)
    )
    return -(weights * chosen.squeeze(-1)).mean()


def weights_of(advantages: Tensor) -> Tensor:
    """The exponential of the advantages in their standard deviations, at most 20."""
    spread = advantages.std(unbiased=False).clamp(min=_MIN_SPREAD)
    return torch.exp((advantages - advantages.mean()) / spread).clamp(max=_MAX_WEIGHT)
