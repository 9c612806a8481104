"""Builds the columns of the PPO loss from fragments and their rewards.

Advantages: Schulman et al. 2016, arXiv 1506.02438, equation 16. Truncated episodes are
bootstrapped, terminated ones are not. Decisions of several steps are discounted by their length;
lambda counts decisions. A takeover by the planner truncates the policy's part (ADR 0023).
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.evaluation.postprocessing import Postprocessing
from ray.rllib.policy.sample_batch import SampleBatch

from rlaif.trainer.learner.networks.button_networks import PICTURES
from rlaif.trainer.learner.networks.decision_module import CRITIC_INPUTS, POLICY_INPUTS
from rlaif.trainer.play.followers.frame_stack import UInt8
from rlaif.trainer.play.fragment import Fragment
from rlaif.trainer.rewards.learned.shaping import Float32, Shaped, discounts

Bool = npt.NDArray[np.bool_]

_FLOATS = (
    Columns.OBS,
    Columns.ACTION_LOGP,
    Postprocessing.ADVANTAGES,
    Postprocessing.VALUE_TARGETS,
)

_NEAR_FRAMES = 600.0
"""Frames before a deadline, 10 s, at which the critic's input for it is 0.5."""

_MIN_DEVIATION = 0.1
"""Of advantages, in units of the reward: an objective or an item is worth 1 to 3. If rewards are
rare, advantages are the critic's errors; scaled up, these would change the policy as much as a
reward."""

_MAX_ROWS = 512
"""Maximum rows of a critic's forward pass; with pictures, their activations take 25 MB."""


def columns(
    fragments: list[Fragment],
    rewards: list[Float32],
    learner_group: Any,
    *,
    gamma: float,
    lam: float,
    shaped: Sequence[Shaped] | None = None,
) -> SampleBatch:
    """Return the columns of RLlib's PPO loss, with rows ordered by (fragment, t, n).

    `rewards` are those to learn from, `[T, N]` for each fragment, and `shaped` their shaping part,
    None without shaping. Advantages are standardized over the rows in which they are finite. In the
    planner's rows, advantages and value targets are NaN; `by_policy` removes these rows.
    """
    parts: dict[str, list[np.ndarray[Any, Any]]] = {}
    shapings: Sequence[Shaped | None] = shaped or [None] * len(fragments)
    for fragment, reward, shaping in zip(fragments, rewards, shapings, strict=True):
        trans = fragment.transitions
        seen = None
        if fragment.pictures is not None:
            seen = fragment.pictures.stacks(trans.ended, trans.final_index)
        read = critic_inputs(fragment, shaping)
        values, next_values = values_of(fragment, learner_group, seen, read)
        ended = cut_by_planner(trans.ended, fragment.by_planner)
        discount = discounts(trans.frames, gamma)
        adv = advantages(reward, values, next_values, ended, gamma=discount, lam=lam)
        adv[fragment.by_planner] = np.nan
        rows: dict[str, np.ndarray[Any, Any]] = {
            Columns.OBS: trans.observations[:-1],
            Columns.ACTIONS: fragment.actions,
            Columns.ACTION_LOGP: fragment.action_logp,
            Postprocessing.ADVANTAGES: adv,
            Postprocessing.VALUE_TARGETS: adv + values,
        }
        if seen is not None:
            rows[PICTURES] = seen[0][:-1]
        if fragment.policy_inputs is not None:
            rows[POLICY_INPUTS] = fragment.policy_inputs[:-1]
            rows[CRITIC_INPUTS] = read[0][:-1]
        for name, array in rows.items():
            parts.setdefault(name, []).append(array.reshape(-1, *array.shape[2:]))
    flat = {name: np.concatenate(arrays) for name, arrays in parts.items()}
    flat[Postprocessing.ADVANTAGES] = standardized(flat[Postprocessing.ADVANTAGES])
    return SampleBatch(flat)


def by_policy(batch: SampleBatch, fragments: list[Fragment]) -> SampleBatch:
    """Return the rows of `columns` in which the policy acted."""
    return _rows(
        batch, ~np.concatenate([fragment.by_planner.reshape(-1) for fragment in fragments])
    )


def finite(batch: SampleBatch) -> SampleBatch:
    """Return the rows of `columns` in which all values are finite: a NaN spoils all weights."""
    if not len(batch):
        return batch
    flat = [batch[name].reshape(len(batch), -1) for name in _FLOATS]
    return _rows(batch, np.all([np.isfinite(column).all(axis=1) for column in flat], axis=0))


def _rows(batch: SampleBatch, mask: Bool) -> SampleBatch:
    return batch if mask.all() else SampleBatch({name: batch[name][mask] for name in batch})


def advantages(
    rewards: Float32,
    values: Float32,
    next_values: Float32,
    ended: Bool,
    *,
    gamma: float | Float32,
    lam: float,
) -> Float32:
    """Generalized advantage estimation; the recursion stops at the end of each episode.

    Args:
        rewards: `[T, N]`, shaping included.
        values: `[T, N]`, V of the state in which the action was chosen.
        next_values: `[T, N]`, V of the next state: 0 after a terminal step, V of the final
            observation after a truncated one.
        ended: `[T, N] bool`, terminated or truncated, or `cut_by_planner`.
        gamma: Discount factor of all decisions, or of each, `[T, N] float32` (`discounts`).
        lam: Lambda; 0 is one-step TD, 1 is Monte Carlo minus the baseline.

    Returns:
        `[T, N] float32`. Value targets are `advantages + values`.
    """
    deltas = rewards + gamma * next_values - values
    decay = np.broadcast_to(np.asarray(gamma * lam, dtype=np.float32), deltas.shape)
    result: Float32 = np.empty_like(deltas)
    running = np.zeros(deltas.shape[1], dtype=np.float32)
    for t in range(deltas.shape[0] - 1, -1, -1):
        running = np.where(ended[t], deltas[t], deltas[t] + decay[t] * running)
        result[t] = running
    return result


def cut_by_planner(ended: Bool, by_planner: Bool) -> Bool:
    """Return the ends of the policy's parts of a trajectory, `[T, N] bool`.

    These are the ends of episodes and the last step before a takeover by the planner; the next
    value of that step is V of the state in which the planner takes over.
    """
    cut = ended | by_planner
    cut[:-1] |= by_planner[1:]
    return cut


def standardized(values: Float32) -> Float32:
    """Return values with mean 0, divided by their deviation or 0.1 if lower; NaNs are kept."""
    flat = values.astype(np.float64)
    known = flat[np.isfinite(flat)]
    if not len(known):
        return values
    scaled = (flat - known.mean()) / max(_MIN_DEVIATION, float(known.std()))
    narrow: Float32 = scaled.astype(np.float32)
    return narrow


def critic_inputs(fragment: Fragment, shaped: Shaped | None) -> tuple[Float32, Float32]:
    """Return the critic's extra inputs: `[T+1, N, 2]`, and `[K, 2]` of final observations.

    The return depends on the potential from which shaping is counted (`Shaped.counted`) and on the
    deadline of an attempt (Pardo et al. 2018, arXiv 1712.00378): 1 at the deadline, 0 without one.
    Final observations have no deadline, because their episodes were truncated, not failed.
    """
    steps, envs = fragment.transitions.terminated.shape
    rows = np.zeros((steps + 1, envs, 2), dtype=np.float32)
    finals = np.zeros((len(fragment.transitions.final_index), 2), dtype=np.float32)
    if shaped is not None:
        rows[..., 0], finals[:, 0] = shaped.counted, shaped.final_counted
    if fragment.frames_left is not None:
        rows[..., 1] = _NEAR_FRAMES / (_NEAR_FRAMES + fragment.frames_left)
    return rows, finals


def values_of(
    fragment: Fragment,
    learner_group: Any,
    seen: tuple[UInt8, UInt8] | None = None,
    read: tuple[Float32, Float32] | None = None,
) -> tuple[Float32, Float32]:
    """Return V of each step's state and of its next state, `[T, N]` each, by the learner's critic.

    `seen` is the result of `PictureFragment.stacks`, for a critic that reads pictures, and `read`
    that of `critic_inputs`.
    """
    trans = fragment.transitions
    rows, envs, width = trans.observations.shape
    flat = np.concatenate(
        [trans.observations.reshape(rows * envs, width), trans.final_observations]
    )
    more: dict[str, np.ndarray[Any, Any]] = {}
    if seen is not None:
        pictures = seen[0].reshape(rows * envs, *seen[0].shape[2:])
        more[PICTURES] = np.concatenate([pictures, seen[1]])
    if fragment.policy_inputs is not None and fragment.final_policy_inputs is not None:
        inputs = fragment.policy_inputs.reshape(rows * envs, fragment.policy_inputs.shape[2])
        more[POLICY_INPUTS] = np.concatenate([inputs, fragment.final_policy_inputs])
        if read is not None:
            more[CRITIC_INPUTS] = np.concatenate([read[0].reshape(rows * envs, 2), read[1]])
    out = next(iter(learner_group.foreach_learner(partial(_critic, flat, more)))).get()
    grid = out[: rows * envs].reshape(rows, envs)
    next_values = grid[1:].copy()
    next_values[trans.terminated] = 0.0
    if len(trans.final_index):
        t, n = trans.final_index.T
        next_values[t, n] = out[rows * envs :]
    return grid[:-1], next_values


def _critic(observations: Float32, more: dict[str, np.ndarray[Any, Any]], learner: Any) -> Float32:
    module = learner.module[DEFAULT_MODULE_ID]
    size = _MAX_ROWS if more else max(1, len(observations))
    parts: list[Float32] = [np.zeros(0, dtype=np.float32)]  # of a runner that only explores
    with torch.no_grad():
        for start in range(0, len(observations), size):
            few = slice(start, start + size)
            batch = {Columns.OBS: torch.from_numpy(observations[few])}
            batch |= {name: torch.from_numpy(column[few]) for name, column in more.items()}
            parts.append(module.compute_values(batch).numpy())
    return np.concatenate(parts).astype(np.float32)
