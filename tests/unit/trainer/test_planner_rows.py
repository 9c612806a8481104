"""What a planner played is left out of learning: as if it had not been played, to the bit."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.evaluation.postprocessing import Postprocessing
from ray.rllib.policy.sample_batch import SampleBatch

from rlaif.testing.made_fragments import End, made_fragment
from rlaif.trainer.learner.algorithm.batch import (
    by_policy,
    columns,
    finite,
)
from rlaif.trainer.learner.algorithm.learner_rewards import CURIOSITY, LearnerRewards
from rlaif.trainer.play.fragment import Fragment
from rlaif.trainer.rewards.learned.shaping import Transitions
from rlaif.trainer.settings.learning import (
    CuriositySettings,
    RewardSettings,
    ShapingSettings,
)

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

GAMMA, LAM = 0.97, 0.9

Bool = np.ndarray


def played(by_planner: Bool, *, seed: int = 0, ends: dict[int, End] | None = None) -> Fragment:
    """Random steps `[T, N]`; `ends` are steps of environment 0 that end an episode, and how."""
    steps, envs = by_planner.shape
    at = {(t, 0): how for t, how in (ends or {}).items()}
    return made_fragment(steps, envs, seed=seed, ends=at, by_planner=by_planner)


def stretches(fragment: Fragment) -> list[Fragment]:
    """The policy's own steps of one environment, each stretch as a fragment of its own."""
    own = ~fragment.by_planner[:, 0]
    edges = np.flatnonzero(np.diff(np.concatenate([[False], own, [False]]).astype(np.int8)))
    return [_between(fragment, start, stop) for start, stop in edges.reshape(-1, 2).tolist()]


def _between(fragment: Fragment, start: int, stop: int) -> Fragment:
    trans, rows = fragment.transitions, slice(start, stop)
    inside = [start <= t < stop for t, _ in trans.final_index.tolist()]
    return replace(
        fragment,
        transitions=Transitions(
            observations=trans.observations[start : stop + 1],
            terminated=trans.terminated[rows],
            truncated=trans.truncated[rows],
            final_index=trans.final_index[inside] - np.array([start, 0]),
            final_observations=trans.final_observations[inside],
        ),
        actions=fragment.actions[rows],
        action_logp=fragment.action_logp[rows],
        action_dist_inputs=fragment.action_dist_inputs[rows],
        rewards=fragment.rewards[rows],
        by_planner=fragment.by_planner[rows],
    )


def group_of(critic: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """A learner group with a critic that judges each row by itself, to the bit."""
    module = SimpleNamespace(compute_values=lambda batch: critic(batch[Columns.OBS]))
    learner = SimpleNamespace(module={DEFAULT_MODULE_ID: module})
    return SimpleNamespace(
        foreach_learner=lambda function: [SimpleNamespace(get=lambda: function(learner))]
    )


GROUP = group_of(lambda rows: 3.0 * rows[:, 0] - rows[:, 1])


def batch_of(fragments: list[Fragment], rewards: list[Any] | None = None) -> SampleBatch:
    """What PPO learns from."""
    paid = rewards or [fragment.rewards for fragment in fragments]
    return by_policy(columns(fragments, paid, GROUP, gamma=GAMMA, lam=LAM), fragments)


MASKS = st.lists(st.booleans(), min_size=1, max_size=30)
ENDS = st.dictionaries(st.integers(0, 29), st.sampled_from(["terminated", "truncated"]), max_size=4)


@given(MASKS, ENDS, st.integers(0, 99))
def test_a_batch_with_planner_rows_is_the_batch_without_them(
    mask: list[bool], ends: dict[int, End], seed: int
):
    """The last step before a takeover is followed by the state in which it began."""
    by_planner = np.array(mask, dtype=np.bool_)[:, None]
    within = {t: how for t, how in ends.items() if t < len(mask)}
    fragment = played(by_planner, seed=seed, ends=within)
    given, alone = batch_of([fragment]), stretches(fragment)
    if not alone:
        assert len(given) == 0
        return
    expected = batch_of(alone)
    assert set(given) == set(expected)
    for name in expected:
        assert np.array_equal(given[name], expected[name]), name
    assert np.isfinite(given[Postprocessing.ADVANTAGES]).all()


@given(st.integers(0, 99))
def test_nothing_of_a_planners_rows_reaches_what_is_learned(seed: int):
    """Rewards, buttons, and the states between two of its steps may be anything, even no number."""
    rng = np.random.default_rng([seed, 1])
    by_planner = rng.random((24, 3)) < rng.choice([0.1, 0.5, 0.9])
    fragment = played(by_planner, seed=seed, ends={5: "truncated", 13: "terminated"})
    trans = fragment.transitions
    hidden = by_planner.copy()
    hidden[1:] &= by_planner[:-1]  # no other step led there
    hidden[0] = by_planner[0]
    observations = trans.observations.copy()
    observations[:-1][hidden] = rng.random((int(hidden.sum()), 128))
    rewards = np.where(by_planner, np.float32(np.nan), fragment.rewards)
    other = replace(
        fragment,
        transitions=replace(trans, observations=observations),
        rewards=rewards,
        actions=np.where(by_planner, 7 - fragment.actions, fragment.actions),
        action_logp=np.where(by_planner, np.float32(-9.0), fragment.action_logp),
    )
    one, two = batch_of([fragment]), batch_of([other])
    for name in one:
        assert np.array_equal(one[name], two[name]), name


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 99), st.integers(1, 3))
def test_nothing_of_an_environment_that_explores_reaches_what_is_learned(seed: int, exploring: int):
    rng = np.random.default_rng([seed, 3])
    ends: dict[int, End] = {5: "truncated", 13: "terminated"}
    fragment = played(rng.random((24, 3)) < 0.2, seed=seed, ends=ends)
    fragment = replace(fragment, exploring=exploring)
    trans, searched = fragment.transitions, np.s_[:, 3 - exploring :]
    observations, rewards = trans.observations.copy(), fragment.rewards.copy()
    observations[searched] = rng.random(observations[searched].shape)
    rewards[searched] = np.nan
    other = replace(
        fragment, transitions=replace(trans, observations=observations), rewards=rewards
    )
    learned = [
        LearnerRewards(
            RewardSettings(curiosity=CuriositySettings(weight=0.5)),
            gamma=GAMMA, gae_lambda=LAM, seed=1,
        ).learn_from([each.of_policy()])
        for each in (fragment, other)
    ]  # fmt: skip
    assert learned[0].statistics == learned[1].statistics
    batches = [
        batch_of([each.of_policy()], one.total)
        for each, one in zip((fragment, other), learned, strict=True)
    ]
    assert len(batches[0]) == (~fragment.by_planner[:, : 3 - exploring]).sum()
    for name in batches[0]:
        assert np.array_equal(batches[0][name], batches[1][name]), name


def test_a_batch_that_the_planner_played_alone_is_empty_and_harmless():
    fragment = played(np.ones((20, 2), dtype=np.bool_))
    rewards = LearnerRewards(
        RewardSettings(curiosity=CuriositySettings(weight=0.5)), gamma=GAMMA, gae_lambda=LAM, seed=0
    )
    learned = rewards.learn_from([fragment])
    assert not learned.total[0].any()
    assert learned.statistics == {}
    batch = batch_of([fragment], learned.total)
    assert len(batch) == 0
    assert len(finite(batch)) == 0


def test_statistics_are_of_the_policys_steps():
    by_planner = np.zeros((30, 1), dtype=np.bool_)
    by_planner[8:20] = True
    fragment = played(by_planner)
    new = [LearnerRewards(RewardSettings(), gamma=GAMMA, gae_lambda=LAM, seed=0) for _ in range(2)]
    own = new[0].learn_from([fragment]).statistics["game"]
    alone = new[1].learn_from(stretches(fragment)).statistics["game"]
    assert own.sum == pytest.approx(alone.sum)
    assert own.mean == pytest.approx(alone.mean)
    assert own.std == pytest.approx(alone.std)


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 99))
def test_curiosity_learns_nothing_of_what_the_planner_saw(seed: int):
    rng = np.random.default_rng([seed, 2])
    by_planner = rng.random((40, 2)) < 0.4
    fragment = played(by_planner, seed=seed)
    trans = fragment.transitions
    # Where a planner's step led, and the policy's next step does not lead: what it alone saw.
    observations = trans.observations.copy()
    observations[1:][by_planner] = rng.random((int(by_planner.sum()), 128))
    other = replace(fragment, transitions=replace(trans, observations=observations))
    paid = []
    for each in (fragment, other):
        rewards = LearnerRewards(
            RewardSettings(curiosity=CuriositySettings(weight=0.5)),
            gamma=GAMMA, gae_lambda=LAM, seed=1,
        )  # fmt: skip
        paid.append([rewards.learn_from([each]).parts[CURIOSITY][0] for _ in range(2)])
    for one, two in zip(*paid, strict=True):
        assert np.array_equal(one, two)
        assert not one[by_planner].any()
        assert (one[~by_planner] > 0).all()


def test_shaping_continues_over_a_takeover():
    """A potential depends only on states, so the policy's reward is independent of the planner."""
    by_planner = np.zeros((12, 1), dtype=np.bool_)
    by_planner[4:8] = True
    fragment = played(by_planner)
    own = replace(fragment, by_planner=np.zeros_like(by_planner))
    paid = []
    for each in (fragment, own):
        rewards = LearnerRewards(
            RewardSettings(shaping=ShapingSettings(weight=2.0)), gamma=GAMMA, gae_lambda=LAM, seed=0
        )
        rewards._potentials = lambda visited: [rows[:, 0] for rows in visited]  # type: ignore[method-assign]
        paid.append(rewards.learn_from([each]).parts["shaping"][0])
    assert np.array_equal(paid[0][~by_planner], paid[1][~by_planner])
    assert paid[1][~by_planner].any()
    assert not paid[0][by_planner].any()
