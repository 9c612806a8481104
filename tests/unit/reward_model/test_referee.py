"""RAM has an opinion only where it is clear, and about episodes."""

from dataclasses import replace

from rlaif.reward_model.learning.referee import referee_side
from rlaif.reward_model.learning.split_halves import Side


def test_pairs_are_those_that_ram_tells_clearly_apart_between_episodes(labels):
    made = labels(episodes=3, each=3, signal=True)
    levels = [2, 0, 1, 0, 2, 1, 1, 1, 0]
    judged = [
        replace(item, ram={"progress": level}) for item, level in zip(made, levels, strict=True)
    ]
    side = referee_side(Side("heldout", judged, []))
    assert {(pair.a, pair.b) for pair in side.preferences} == {(0, 3), (0, 8), (4, 1), (4, 8)}
    assert all(pair.decided and pair.margin > 0 for pair in side.preferences)


def test_without_ram_there_is_no_opinion(labels):
    made = labels(episodes=3, each=3, signal=True)
    assert referee_side(Side("heldout", made, [])).preferences == []
