"""Figures of a run whose runners come and go."""

from dataclasses import replace

import numpy as np
import pytest

from rlaif.trainer.learner.algorithm.learner_rewards import GAME, SHAPING, LearnedRewards
from rlaif.trainer.learner.progress import RunTally
from rlaif.trainer.play.fragment import EpisodeSummary, Fragment
from rlaif.trainer.rewards.learned.shaping import Transitions

STEPS = 4


def fragment(*, ends: bool = False, continues: bool = True) -> Fragment:
    """One game; with `ends` an episode ends at its last step."""
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
        episodes=(EpisodeSummary(length=8, reward=0.0, rooms=1, terminated=True),) if ends else (),
        env_index_of_end=((STEPS - 1, 0),) if ends else (),
    )


def add(tally: RunTally, played: Fragment) -> None:
    """Each step is paid 1 by the reward model."""
    paid = np.ones((STEPS, 1), dtype=np.float32)
    tally.add([played], LearnedRewards(parts={GAME: [played.rewards], SHAPING: [paid]}))


def test_a_try_of_practice_counts_in_no_figure_and_takes_its_pay_with_it():
    tally = RunTally()
    tried = fragment(ends=True)
    (episode,) = tried.episodes
    add(tally, replace(tried, episodes=(replace(episode, start="practice:0123", rooms=9),)))
    assert (tally.episodes, tally.figures().rooms_mean) == (0, None)
    add(tally, fragment(ends=True))
    assert (tally.episodes, tally.figures().rooms_mean) == (1, 1)
    assert tally.figures().shaped_return_mean == 4.0


@pytest.mark.parametrize(("continues", "paid"), [(True, 8.0), (False, 4.0)])
def test_an_episode_is_not_paid_what_the_game_of_a_lost_runner_was(continues: bool, paid: float):
    tally = RunTally()
    add(tally, fragment())
    add(tally, fragment(ends=True, continues=continues))
    assert tally.figures().shaped_return_mean == paid
