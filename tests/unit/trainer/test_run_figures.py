"""Figures of a run whose runners come and go."""

from dataclasses import replace

import numpy as np
import pytest

from rlaif.trainer.learner.algorithm.learner_rewards import GAME, SHAPING, LearnedRewards
from rlaif.trainer.learner.progress import RunTally
from rlaif.trainer.play.fragment import EpisodeSummary, Fragment
from rlaif.trainer.rewards.learned.shaping import Transitions

STEPS = 4


def fragment(*, ends: bool = False, continues: bool = True, start: str = "power-on") -> Fragment:
    """One game; with `ends` an episode ends at its last step."""
    episode = EpisodeSummary(
        length=8, reward=1.25, rooms=3, terminated=True, gained=2, died=True, start=start
    )
    return Fragment(
        runner=1,
        continues=continues,
        transitions=Transitions(
            observations=np.zeros((STEPS + 1, 1, 3), dtype=np.float32),
            terminated=np.zeros((STEPS, 1), dtype=np.bool_),
            truncated=np.zeros((STEPS, 1), dtype=np.bool_),
            final_index=np.zeros((0, 2), dtype=np.int64),
            final_observations=np.zeros((0, 3), dtype=np.float32),
        ),
        actions=np.zeros((STEPS, 1), dtype=np.int64),
        action_logp=np.zeros((STEPS, 1), dtype=np.float32),
        action_dist_inputs=np.zeros((STEPS, 1, 8), dtype=np.float32),
        rewards=np.zeros((STEPS, 1), dtype=np.float32),
        episodes=(episode,) if ends else (),
        env_index_of_end=((STEPS - 1, 0),) if ends else (),
    )


def add(tally: RunTally, *played: Fragment, env_steps: int = 0) -> None:
    """Each step has a shaping reward of 1, and raises the potential as much."""
    shaping = [np.ones((STEPS, 1), dtype=np.float32) for _ in played]
    parts = {GAME: [each.rewards for each in played], SHAPING: shaping}
    tally.add(list(played), LearnedRewards(parts=parts, rises=shaping), env_steps=env_steps)


def resumed(tally: RunTally) -> RunTally:
    again = RunTally()
    again.load_state_dict(tally.state_dict())
    return again


def test_a_rollout_of_the_search_is_in_no_figure_and_keeps_its_shaping_rewards():
    tally = RunTally()
    add(tally, fragment(ends=True, continues=False, start="exploration:7"), env_steps=104)
    assert (tally.episodes, tally.figures().rooms_mean, tally.ended.count) == (0, None, 0)
    assert tally.oldest_open == 100
    add(tally, fragment(ends=True), env_steps=108)
    assert (tally.episodes, tally.figures().rooms_mean) == (1, 3)
    assert tally.figures().shaped_return_mean == 4.0


@pytest.mark.parametrize(("continues", "shaped"), [(True, 8.0), (False, 4.0)])
def test_shaping_rewards_of_a_lost_runners_game_are_dropped(continues: bool, shaped: float):
    tally = RunTally()
    add(tally, fragment())
    add(tally, fragment(ends=True, continues=continues))
    assert tally.figures().shaped_return_mean == shaped


def test_an_episode_began_in_the_iteration_in_which_the_previous_one_ended():
    tally = RunTally()
    add(tally, fragment(continues=False), env_steps=104)
    assert (tally.ended.count, tally.oldest_open) == (0, 100)
    tally = resumed(tally)
    add(tally, fragment(ends=True), env_steps=108)
    ended = tally.ended
    assert (ended.began, ended.gained, ended.rooms) == ((100,), (2,), (3,))
    assert (ended.returns, ended.lengths, ended.died) == ((1.25,), (8,), (True,))
    assert ended.shaped == (8.0,)
    assert tally.oldest_open == 104
    add(tally, fragment(ends=True), env_steps=112)
    assert tally.ended.began == (104,)


def test_games_of_a_lost_runner_are_not_open():
    tally = RunTally()
    lost = replace(fragment(continues=False), runner=2)
    add(tally, fragment(continues=False), lost, env_steps=8)
    add(tally, fragment(ends=True), env_steps=12)
    assert tally.oldest_open == 8
