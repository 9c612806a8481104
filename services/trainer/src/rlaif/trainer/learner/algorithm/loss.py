"""The loss of PPO and its gradient with respect to the networks' outputs.

Clipped objective and entropy bonus: Schulman et al. 2017, arXiv 1707.06347. The values are equal to
those of RLlib's loss, as a test checks. RLlib's loss and its gradient in torch need some 80
operations per minibatch, whose call overhead exceeds the time of their computation.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from ray.rllib.algorithms.ppo.ppo import (
    LEARNER_RESULTS_KL_KEY,
    LEARNER_RESULTS_VF_EXPLAINED_VAR_KEY,
)
from ray.rllib.core.columns import Columns
from ray.rllib.core.learner.learner import ENTROPY_KEY, POLICY_LOSS_KEY, VF_LOSS_KEY, Learner
from ray.rllib.evaluation.postprocessing import Postprocessing

Float32 = npt.NDArray[np.float32]

LEARNED = (
    Columns.ACTIONS,
    Columns.ACTION_LOGP,
    Postprocessing.ADVANTAGES,
    Postprocessing.VALUE_TARGETS,
)
"""Columns of a batch that the loss reads, `[B]` each."""

_SMALL = 1e-6
"""As in RLlib's explained variance."""


@dataclass(frozen=True)
class ValueLoss:
    """Loss of the critic.

    Attributes:
        kind: `huber` is quadratic up to one unit and linear beyond, which bounds the gradient.
        clip: Maximum loss of a row, with gradient 0 above it; None for no maximum.
    """

    kind: Literal["huber", "squared"] = "huber"
    clip: float | None = None

    def __call__(self, errors: Float32) -> tuple[Float32, Float32]:
        """Return loss and derivative of each error, which is in units of the critic."""
        if self.kind == "squared":
            loss, slope = errors * errors, 2 * errors
        else:
            slope = errors.clip(-1, 1)
            loss = slope * (errors - 0.5 * slope)
        if self.clip is None:
            return loss, slope
        return np.minimum(loss, self.clip), np.where(loss > self.clip, np.float32(0), slope)


class Gradients(NamedTuple):
    """Gradients of the loss of a minibatch.

    Attributes:
        logits: `[U, A] float32`.
        values: `[U] float32`.
        figures: Metrics of the loss, with RLlib's names.
    """

    logits: Float32
    values: Float32
    figures: dict[str, float]


@dataclass(frozen=True)
class PpoLoss:
    """The loss of a minibatch.

    Attributes:
        clip: Maximum distance of the probability ratio from 1.
        of_values: Loss of the critic.
        value_weight: Weight of the critic's loss.
    """

    clip: float
    of_values: ValueLoss
    value_weight: float

    def gradients(
        self,
        logits: Float32,
        values: Float32,
        which: npt.NDArray[np.int64],
        played: Mapping[str, npt.NDArray[Any]],
        *,
        entropy_weight: float,
        spread: float,
    ) -> Gradients:
        """Return the gradients of the loss with respect to logits and values.

        With the probabilities p of a row, the objective's is r A (onehot(action) - p), where r is
        the probability ratio and A the advantage, and 0 if r is clipped. That of the entropy H is
        -p (log p + H).

        Args:
            logits: `[U, A]`, of distinct inputs.
            values: `[U]`, of the same inputs.
            which: `[B]`, index of each row's input.
            played: The columns `LEARNED`, `[B]`.
            entropy_weight: Weight of the entropy bonus.
            spread: The critic's unit.
        """
        actions, count = played[Columns.ACTIONS], len(logits)
        logs = logits - logits.max(axis=1, keepdims=True)
        chances = np.exp(logs)
        total = chances.sum(axis=1, keepdims=True)
        chances /= total
        logs -= np.log(total)
        entropy = -np.einsum("ua,ua->u", chances, logs)

        log_ratio = logs[which, actions] - played[Columns.ACTION_LOGP]
        ratio = np.exp(log_ratio)
        advantages = played[Postprocessing.ADVANTAGES]
        plain = ratio * advantages
        clipped = ratio.clip(1 - self.clip, 1 + self.clip) * advantages
        # NaNs propagate to the gradient, and the step is skipped.
        weights = np.where(plain > clipped, np.float32(0), plain) / np.float32(len(which))
        objective = np.minimum(plain, clipped).mean()

        returns = played[Postprocessing.VALUE_TARGETS]
        errors = values[which] - returns
        losses, slopes = self.of_values(errors / np.float32(spread))
        of_critic = losses.mean()
        slopes *= np.float32(self.value_weight / (spread * len(which)))

        shares = np.bincount(which, minlength=count) / len(which)
        mean_entropy = shares @ entropy
        shares *= entropy_weight
        sums = np.bincount(which, weights, count) + shares * entropy
        found = logs * shares.astype(np.float32)[:, None]
        found += sums.astype(np.float32)[:, None]
        found *= chances
        np.subtract.at(found, (which, actions), weights)
        explained = 1 - np.var(errors, ddof=1) / (np.var(returns, ddof=1) + _SMALL)
        return Gradients(
            found,
            np.bincount(which, slopes, count).astype(np.float32),
            {
                Learner.TOTAL_LOSS_KEY: float(
                    self.value_weight * of_critic - objective - entropy_weight * mean_entropy
                ),
                POLICY_LOSS_KEY: -float(objective),
                VF_LOSS_KEY: float(of_critic),
                LEARNER_RESULTS_VF_EXPLAINED_VAR_KEY: max(-1.0, float(explained)),
                ENTROPY_KEY: float(mean_entropy),
                # Unbiased, non-negative estimate from samples: old distributions are not kept.
                LEARNER_RESULTS_KL_KEY: float((ratio - 1 - log_ratio).mean()),
                "clip_fraction": float((np.abs(ratio - 1) > self.clip).mean()),
            },
        )
