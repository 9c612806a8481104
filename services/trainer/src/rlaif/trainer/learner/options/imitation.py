"""Imitates the best segments of the last iterations: advantage-weighted regression beside PPO.

Source of the weights: Peng et al. 2019, arXiv 1910.00177: exp(advantage / temperature), at most 20.
Off by default: PPO alone is on-policy and needs no buffer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from ray.rllib.core.columns import Columns
from torch import Tensor

from rlaif.trainer.play.fragment import Fragment
from rlaif.trainer.rewards.learned.shaping import Float32

MAX_AGE = 50
"""Iterations after which a segment is forgotten: another policy played it, another reward model
may have paid for it."""

_INPUTS = "policy_inputs"
"""Column of what a policy reads besides, by the name that the networks have for it."""

_MOST_WEIGHT = 20.0
_LEAST_SPREAD = 1e-4


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
    spread = advantages.std(unbiased=False).clamp(min=_LEAST_SPREAD)
    return torch.exp((advantages - advantages.mean()) / spread).clamp(max=_MOST_WEIGHT)
