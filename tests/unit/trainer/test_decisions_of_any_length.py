"""Time discounts, however it is cut into decisions: held to definitions, not to other code."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.evaluation.postprocessing import Postprocessing

from rlaif.game.policy_input.layout import SIZE
from rlaif.trainer.learner.algorithm.batch import advantages, columns
from rlaif.trainer.learner.networks.decision_module import POLICY_INPUTS
from rlaif.trainer.play.fragment import Fragment
from rlaif.trainer.rewards.learned.shaping import (
    PotentialShaper,
    Transitions,
    discount_of,
    discounts,
)
from rlaif.trainer.rewards.learned.statistics import part_statistics

GAMMA, LAM, WEIGHT = 0.97, 0.9, 0.7
SEEDS = st.integers(0, 2**32 - 1)


def lengths(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Frames of decisions: mostly short ones, some that waited long."""
    return rng.choice([4, 8, 16, 112, 360], size=shape).astype(np.int32)


def decided(rng: np.random.Generator, steps: int = 24, envs: int = 2) -> Fragment:
    """Random decisions with ends of both kinds and deaths that end nothing."""
    shape = (steps, envs)
    how = rng.choice(4, size=shape, p=[0.7, 0.1, 0.1, 0.1])
    index = np.argwhere(how == 2)
    return Fragment(
        runner=0,
        continues=False,
        transitions=Transitions(
            observations=rng.random((steps + 1, envs, 128), dtype=np.float32),
            terminated=how == 1,
            truncated=how == 2,
            final_index=index,
            final_observations=rng.random((len(index), 128), dtype=np.float32),
            frames=lengths(rng, shape),
            died=(how == 3) | ((how == 2) & (rng.random(shape) < 0.5)),
        ),
        actions=rng.integers(0, 200, shape),
        action_logp=np.zeros(shape, dtype=np.float32),
        action_dist_inputs=np.zeros((*shape, 3), dtype=np.float32),
        rewards=rng.normal(size=shape).astype(np.float32),
        policy_inputs=rng.random((steps + 1, envs, SIZE), dtype=np.float32),
        final_policy_inputs=rng.random((len(index), SIZE), dtype=np.float32),
        base_steps=steps * envs * 3,
    )


def potential(rows: np.ndarray) -> np.ndarray:
    """Any function of the observation."""
    return np.tanh(3.0 * rows[:, 0] - rows[:, 1]).astype(np.float32)


def test_four_frames_discount_once_and_a_second_fifteen_times():
    assert discount_of(4, GAMMA) == pytest.approx(GAMMA)
    assert discount_of(60, GAMMA) == pytest.approx(GAMMA**15)
    assert discounts(None, GAMMA) == GAMMA


@given(SEEDS)
@settings(max_examples=30, deadline=None)
def test_advantages_are_the_weighted_sum_of_the_errors_ahead(seed: int):
    """A_t = sum over k of lambda^k gamma^(frames between / 4) delta_(t+k), until the end."""
    rng = np.random.default_rng(seed)
    shape = (12, 2)
    frames, ended = lengths(rng, shape), rng.random(shape) < 0.2
    rewards, values, following = rng.normal(size=(3, *shape)).astype(np.float32)
    found = advantages(rewards, values, following, ended, gamma=discounts(frames, GAMMA), lam=LAM)
    for n in range(shape[1]):
        for t in range(shape[0]):
            expected, passed = 0.0, 0
            for k in range(t, shape[0]):
                after = GAMMA ** (frames[k, n] / 4)
                delta = rewards[k, n] + after * following[k, n] - values[k, n]
                expected += LAM ** (k - t) * GAMMA ** (passed / 4) * delta
                passed += int(frames[k, n])
                if ended[k, n]:
                    break
            assert found[t, n] == pytest.approx(expected, abs=1e-4)


def shaped_by_definition(trans: Transitions) -> np.ndarray:
    """gamma^(frames / 4) P' - P, decision by decision, P counted as the module's text says."""
    steps, envs = trans.terminated.shape
    phi = WEIGHT * potential(trans.observations.reshape(-1, 128)).astype(np.float64)
    phi = phi.reshape(steps + 1, envs)
    finals = WEIGHT * potential(trans.final_observations).astype(np.float64)
    cut = {(int(t), int(n)): k for k, (t, n) in enumerate(trans.final_index)}
    assert trans.frames is not None
    paid = np.zeros((steps, envs))
    for n in range(envs):
        counted = 0.0  # how high the player stands above the start of his episode
        for t in range(steps):
            reached = finals[cut[t, n]] if (t, n) in cut else phi[t + 1, n]
            after = counted + reached - phi[t, n]
            if trans.terminated[t, n]:
                after = 0.0
            paid[t, n] = GAMMA ** (trans.frames[t, n] / 4) * after - counted
            counted = 0.0 if trans.ended[t, n] else after
    return paid


@given(SEEDS)
@settings(max_examples=30, deadline=None)
def test_a_potential_pays_by_the_time_that_a_decision_takes(seed: int):
    trans = decided(np.random.default_rng(seed)).transitions
    shaper = PotentialShaper(gamma=GAMMA, weight=WEIGHT)
    shaped = shaper.shape(0, trans, potential(trans.visited())).rewards
    assert shaped == pytest.approx(shaped_by_definition(trans), abs=1e-5)


def test_the_parts_statistics_discount_by_time_too():
    grid = np.array([[0.0], [0.0], [1.0]], dtype=np.float32)
    other = np.array([[1.0], [0.0], [0.0]], dtype=np.float32)
    never = np.zeros((3, 1), dtype=bool)
    long = np.array([[4], [4000], [4]], dtype=np.int32)
    decay = [LAM * discounts(long, GAMMA)]
    found = part_statistics({"game": [grid], "other": [other]}, [never], decay=decay)
    sums = np.array([0.0, LAM * GAMMA**1000, 1.0]), np.array([1.0, 0.0, 0.0])
    whole = sums[0] + sums[1]
    expected = np.cov(sums[0], whole)[0, 1] / whole.var(ddof=1)
    assert found["game"].advantage_share == pytest.approx(expected)


def group_of_critic() -> Any:
    """A critic that reads the observation and what the policy reads besides."""

    def value(batch: dict[str, Any]) -> Any:
        return batch[Columns.OBS][:, 0] + 2.0 * batch[POLICY_INPUTS][:, 1]

    learner = SimpleNamespace(module={DEFAULT_MODULE_ID: SimpleNamespace(compute_values=value)})
    return SimpleNamespace(
        foreach_learner=lambda function: [SimpleNamespace(get=lambda: function(learner))]
    )


@given(SEEDS)
@settings(max_examples=10, deadline=None)
def test_the_critic_reads_what_the_policy_read_and_bootstraps_by_time(seed: int):
    fragment = decided(np.random.default_rng(seed))
    trans, inputs = fragment.transitions, fragment.policy_inputs
    assert inputs is not None
    assert fragment.final_policy_inputs is not None
    assert trans.frames is not None
    batch = columns([fragment], [fragment.rewards], group_of_critic(), gamma=GAMMA, lam=0.0)
    values = trans.observations[..., 0] + 2.0 * inputs[..., 1]
    following = values[1:].copy()
    following[trans.terminated] = 0.0
    for (t, n), row, read in zip(
        trans.final_index, trans.final_observations, fragment.final_policy_inputs, strict=True
    ):
        following[t, n] = row[0] + 2.0 * read[1]
    targets = fragment.rewards + GAMMA ** (trans.frames / 4) * following
    assert batch[Postprocessing.VALUE_TARGETS] == pytest.approx(targets.reshape(-1), abs=1e-4)
    assert np.array_equal(batch[POLICY_INPUTS], inputs[:-1].reshape(-1, SIZE))
