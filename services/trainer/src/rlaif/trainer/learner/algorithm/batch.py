"""Fragments and the rewards to learn from in, the columns of the PPO loss out."""

from functools import partial
from typing import Any

import numpy as np
import torch
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.evaluation.postprocessing import Postprocessing
from ray.rllib.policy.sample_batch import SampleBatch

from rlaif.trainer.learner.algorithm.gae import advantages, cut_by_planner, standardized
from rlaif.trainer.learner.networks.button_networks import PICTURES
from rlaif.trainer.learner.networks.decision_module import POLICY_INPUTS
from rlaif.trainer.play.followers.frame_stack import UInt8
from rlaif.trainer.play.fragment import Fragment
from rlaif.trainer.rewards.learned.shaping import Float32, discounts

_FLOATS = (
    Columns.OBS,
    Columns.ACTION_LOGP,
    Columns.ACTION_DIST_INPUTS,
    Postprocessing.ADVANTAGES,
    Postprocessing.VALUE_TARGETS,
)

_ROWS_AT_ONCE = 512
"""Rows of a forward pass of a critic that reads more: with pictures about 25 MB of activations."""


def columns(
    fragments: list[Fragment],
    rewards: list[Float32],
    learner_group: Any,
    *,
    gamma: float,
    lam: float,
) -> SampleBatch:
    """What RLlib's PPO loss reads: rows of (fragment, t, n), in time order.

    `rewards` are those to learn from, `[T, N]` for each fragment. The advantages are standardised
    over all rows that are numbers. A planner's rows have neither advantage nor value target, NaN;
    `by_policy` leaves them out.
    """
    parts: dict[str, list[np.ndarray[Any, Any]]] = {}
    for fragment, reward in zip(fragments, rewards, strict=True):
        trans = fragment.transitions
        seen = None
        if fragment.pictures is not None:
            seen = fragment.pictures.stacks(trans.ended, trans.final_index)
        values, next_values = values_of(fragment, learner_group, seen)
        if seen is not None:
            parts.setdefault(PICTURES, []).append(seen[0][:-1].reshape(-1, *seen[0].shape[2:]))
        if fragment.policy_inputs is not None:
            inputs = fragment.policy_inputs[:-1]
            parts.setdefault(POLICY_INPUTS, []).append(inputs.reshape(-1, inputs.shape[2]))
        ended = cut_by_planner(trans.ended, fragment.by_planner)
        discount = discounts(trans.frames, gamma)
        adv = advantages(reward, values, next_values, ended, gamma=discount, lam=lam)
        adv[fragment.by_planner] = np.nan
        for name, array in (
            (Columns.OBS, trans.observations[:-1]),
            (Columns.ACTIONS, fragment.actions),
            (Columns.ACTION_LOGP, fragment.action_logp),
            (Columns.ACTION_DIST_INPUTS, fragment.action_dist_inputs),
            (Postprocessing.ADVANTAGES, adv),
            (Postprocessing.VALUE_TARGETS, adv + values),
        ):
            parts.setdefault(name, []).append(array.reshape(-1, *array.shape[2:]))
    flat = {name: np.concatenate(arrays) for name, arrays in parts.items()}
    flat[Postprocessing.ADVANTAGES] = standardized(flat[Postprocessing.ADVANTAGES])
    return SampleBatch(flat)


def by_policy(batch: SampleBatch, fragments: list[Fragment]) -> SampleBatch:
    """The rows of `columns` in which the policy chose; the same batch when it chose in all."""
    if not any(fragment.by_planner.any() for fragment in fragments):
        return batch
    own = ~np.concatenate([fragment.by_planner.reshape(-1) for fragment in fragments])
    return SampleBatch({name: batch[name][own] for name in batch})


def finite(batch: SampleBatch) -> SampleBatch:
    """The rows of `columns` that are numbers throughout; one that is none would spoil them all."""
    if not len(batch):
        return batch
    whole = np.ones(len(batch), dtype=np.bool_)
    for name in _FLOATS:
        column = batch[name]
        whole &= np.isfinite(column.reshape(len(column), -1)).all(axis=1)
    if whole.all():
        return batch
    return SampleBatch({name: batch[name][whole] for name in batch})


def values_of(
    fragment: Fragment, learner_group: Any, seen: tuple[UInt8, UInt8] | None = None
) -> tuple[Float32, Float32]:
    """V of each step's state and of the state after it, `[T, N]` each, by the learner's critic.

    `seen` is what `PictureFragment.stacks` gave, for a critic that looks at pictures.
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
        inputs = fragment.policy_inputs.reshape(rows * envs, -1)
        more[POLICY_INPUTS] = np.concatenate([inputs, fragment.final_policy_inputs])
    out = next(iter(learner_group.foreach_learner(partial(_critic, flat, more)))).get()
    grid = out[: rows * envs].reshape(rows, envs)
    next_values = grid[1:].copy()
    next_values[trans.terminated] = 0.0
    if len(trans.final_index):
        t, n = trans.final_index.T
        next_values[t, n] = out[rows * envs :]
    return grid[:-1], next_values


def _critic(observations: Float32, more: dict[str, np.ndarray[Any, Any]], learner: Any) -> Float32:
    """V of `[B, 128]` observations and the same rows of `more` columns, by the learner's critic.

    `[B] float32`; in one pass where it reads the observations alone.
    """
    module = learner.module[DEFAULT_MODULE_ID]
    size = _ROWS_AT_ONCE if more else len(observations)
    parts: list[Float32] = []
    with torch.inference_mode():
        for start in range(0, len(observations), size):
            few = slice(start, start + size)
            batch = {Columns.OBS: torch.from_numpy(observations[few])}
            batch |= {name: torch.from_numpy(column[few]) for name, column in more.items()}
            parts.append(module.compute_values(batch).numpy())
    return np.concatenate(parts).astype(np.float32)
