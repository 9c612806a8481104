"""The loss of PPO and its gradient: outputs of the networks and what was played in, gradients out.

Clipped objective and bonus for entropy: Schulman et al. 2017, arXiv 1707.06347. The numbers are
those of RLlib's loss, which a test compares. RLlib's, with torch's gradient of it, takes some 80
operations a minibatch, and calling them takes longer than what they compute.
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
        clip: Maximum loss of a row, without a gradient beyond; None for none.
    """

    kind: Literal["huber", "squared"] = "huber"
    clip: float | None = None

    def __call__(self, errors: Float32) -> tuple[Float32, Float32]:
        """Loss and derivative of each error, which is in units of the critic."""
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
        figures: What is reported of the loss, by RLlib's names.
    """

    logits: Float32
    values: Float32
    figures: dict[str, float]


@dataclass(frozen=True)
class PpoLoss:
    """The loss of a minibatch.

    Attributes:
        clip: Maximum of the probability ratio's distance from 1.
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
        """Gradients of the loss with respect to logits and values.

        With the probabilities p of a row, the objective's is r A (onehot(action) - p), where r is
        the probability ratio and A the advantage, and 0 where r is clipped. The one of the entropy
        H is -p (log p + H).

        Args:
            logits: `[U, A]`, of distinct inputs.
            values: `[U]`, of the same.
            which: `[B]`, index of each row's input.
            played: The columns `LEARNED`, `[B]`.
            entropy_weight: Weight of the bonus for entropy.
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
        # The gradient of what is no number is none either: such a step is left out.
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
                # Of samples, as the old distribution is not kept: unbiased and never negative.
                LEARNER_RESULTS_KL_KEY: float((ratio - 1 - log_ratio).mean()),
                "clip_fraction": float((np.abs(ratio - 1) > self.clip).mean()),
            },
        )
