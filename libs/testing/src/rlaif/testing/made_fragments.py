"""Fragments of random steps, with episode ends set by a test."""

from collections.abc import Mapping
from typing import Literal

import numpy as np
import numpy.typing as npt

from rlaif.trainer.play.fragment import Fragment
from rlaif.trainer.rewards.learned.shaping import Transitions

ACTIONS = 8

End = Literal["terminated", "truncated"]


def made_fragment(
    steps: int,
    envs: int,
    *,
    seed: int = 0,
    ends: Mapping[tuple[int, int], End] | None = None,
    by_planner: npt.NDArray[np.bool_] | None = None,
) -> Fragment:
    """Random steps `[steps, envs]` of runner 1; `ends` are (t, n) of steps that end an episode."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(steps, envs, ACTIONS)).astype(np.float32)
    actions = rng.integers(0, ACTIONS, (steps, envs))
    terminated = np.zeros((steps, envs), dtype=np.bool_)
    truncated = np.zeros((steps, envs), dtype=np.bool_)
    for at, how in (ends or {}).items():
        (terminated if how == "terminated" else truncated)[at] = True
    final_index = np.argwhere(truncated)
    return Fragment(
        runner=1,
        continues=False,
        transitions=Transitions(
            observations=rng.random((steps + 1, envs, 128), dtype=np.float32),
            terminated=terminated,
            truncated=truncated,
            final_index=final_index,
            final_observations=rng.random((len(final_index), 128), dtype=np.float32),
        ),
        actions=actions,
        action_logp=_log_probabilities(logits, actions),
        action_dist_inputs=logits,
        rewards=rng.normal(size=(steps, envs)).astype(np.float32),
        by_planner=np.zeros((steps, envs), np.bool_) if by_planner is None else by_planner,
    )


def _log_probabilities(
    logits: npt.NDArray[np.float32], actions: npt.NDArray[np.int64]
) -> npt.NDArray[np.float32]:
    chosen = np.take_along_axis(logits, actions[..., None], axis=-1)[..., 0]
    found: npt.NDArray[np.float32] = chosen - np.log(np.exp(logits).sum(axis=-1))
    return found
