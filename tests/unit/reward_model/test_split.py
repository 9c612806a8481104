"""The split holds out whole episodes, by hash."""

from hypothesis import assume, given
from hypothesis import strategies as st

from rlaif.reward_model.learning.fit.sides import held_out_episodes, position

EPISODES = st.sets(st.integers(0, 10_000).map(lambda n: f"episode-{n}"), min_size=1, max_size=40)


@given(EPISODES)
def test_both_sides_have_an_episode_as_soon_as_there_are_two(episodes):
    heldout = held_out_episodes(episodes)
    assert heldout < episodes
    assert bool(heldout) == (len(episodes) >= 2)
    assert len(heldout) >= 2 or len(episodes) < 4


@given(EPISODES, EPISODES)
def test_new_episodes_never_move_one_from_training_to_the_heldout_set(old, new):
    # Below four episodes nothing is trained.
    assume(len(old) >= 4)
    assume(any(position(episode) >= 0.25 for episode in old))
    assert not (old - held_out_episodes(old)) & held_out_episodes(old | new)


@given(EPISODES, st.integers(1, 10**6))
def test_among_many_episodes_an_episode_keeps_its_side(old, salt):
    more = {f"other-{salt}-{n}" for n in range(40)}
    heldout = {episode for episode in old | more if position(episode) < 0.25}
    if len(heldout) >= 2:
        assert held_out_episodes(old | more) == heldout
