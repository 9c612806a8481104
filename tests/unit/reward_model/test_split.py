"""The split holds out whole episodes, by hash."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rlaif.reward_model.labels.split import position, split_episodes

EPISODES = st.sets(st.integers(0, 10_000).map(lambda n: f"episode-{n}"), min_size=1, max_size=40)


@given(EPISODES)
def test_the_sides_are_disjoint_and_complete(episodes):
    split = split_episodes(episodes, heldout_fraction=0.25)
    assert split.train | split.heldout == episodes
    assert not split.train & split.heldout


@given(EPISODES)
def test_both_sides_have_an_episode_as_soon_as_there_are_two(episodes):
    split = split_episodes(episodes, heldout_fraction=0.25)
    assert split.train
    assert bool(split.heldout) == (len(episodes) >= 2)
    assert len(split.heldout) >= 2 or len(episodes) < 4


@given(EPISODES, EPISODES)
def test_new_episodes_never_move_one_from_training_to_the_heldout_set(old, new):
    # Below four episodes nothing is trained.
    assume(len(old) >= 4)
    assume(any(position(episode) >= 0.25 for episode in old))
    before = split_episodes(old, heldout_fraction=0.25)
    after = split_episodes(old | new, heldout_fraction=0.25)
    assert before.train <= after.train


@given(EPISODES, st.integers(1, 10**6))
def test_among_many_episodes_an_episode_keeps_its_side(old, salt):
    more = {f"other-{salt}-{n}" for n in range(40)}
    heldout = {episode for episode in old | more if position(episode) < 0.25}
    if len(heldout) >= 2:
        assert split_episodes(old | more, heldout_fraction=0.25).heldout == heldout


def test_about_the_asked_share_is_held_out():
    split = split_episodes((f"e-{n}" for n in range(2000)), heldout_fraction=0.25)
    assert len(split.heldout) / 2000 == pytest.approx(0.25, abs=0.03)
    assert np.mean([position(f"e-{n}") for n in range(2000)]) == pytest.approx(0.5, abs=0.03)
