"""Chance is told from signal by whole episodes, and all looks together stay below the level."""

import numpy as np
import pytest

from rlaif.reward_model.labels.preferences import Preference
from rlaif.reward_model.learning.permutation import permutation_test
from rlaif.reward_model.learning.spending import level_of_look


def pairs_of(worth, fold):
    a, b = np.triu_indices(len(worth), k=1)
    return [
        Preference(int(i), int(j), float(worth[i] - worth[j]), True, 0.5, 1.0)
        for i, j in zip(a, b, strict=True)
        if fold[i] == fold[j] and worth[i] != worth[j]
    ]


def put_to_test(made, worth, seed=0):
    episodes = sorted({item.episode_id for item in made})
    fold = np.array([episodes.index(item.episode_id) % 4 for item in made])
    pairs = pairs_of(worth, fold)
    return permutation_test(made, worth, pairs, fold, rng=np.random.default_rng(seed))


def test_labels_that_follow_what_was_seen_are_no_chance(labels):
    made = labels(episodes=16, each=5, signal=True, distractors=2)
    worth = np.array([item.observations[-1, 3] - item.observations[0, 3] for item in made])
    assert put_to_test(made, worth.astype(np.float64)).p < 1e-6


def test_labels_that_are_chance_for_each_episode_pass_as_often_as_the_level_says(labels):
    """The labels of an episode are all alike: pairs and segments are no independent evidence."""
    made = labels(episodes=16, each=5, signal=True, distractors=2)
    rng = np.random.default_rng(5)
    found = [
        put_to_test(made, np.repeat(rng.normal(size=16), 5) + rng.normal(0, 0.1, 80), seed).p
        for seed in range(40)
    ]
    assert np.mean(np.array(found) < 0.2) == pytest.approx(0.2, abs=0.15)
    assert min(found) > 0.001


def test_all_looks_of_a_run_spend_less_than_the_level():
    def spent(*, each: int) -> float:
        return sum(level_of_look(n, each, level=0.01) for n in range(24, 12_000, each))

    assert spent(each=12) < 0.01
    assert spent(each=300) < 0.01
    # It is spent, too: a gate that spends nothing lets nothing pass.
    assert spent(each=12) > 0.005


def test_a_look_that_brings_more_new_labels_may_spend_more():
    assert level_of_look(400, 200, level=0.01) > 10 * level_of_look(400, 12, level=0.01)
    assert level_of_look(24, 24, level=0.01) <= 0.01


def test_growing_sequences_of_chance_never_pass_a_look(labels):
    """Each look has the labels of the one before and some more; all are chance for each episode."""
    made = labels(episodes=32, each=5, signal=True, distractors=2)
    for sequence in range(4):
        rng = np.random.default_rng([6, sequence])
        worth = np.repeat(rng.normal(size=32), 5) + rng.normal(0, 0.1, 160)
        for episodes in range(6, 33, 3):
            count = 5 * episodes
            found = put_to_test(made[:count], worth[:count])
            assert found.p > level_of_look(count, 15, level=0.01)
