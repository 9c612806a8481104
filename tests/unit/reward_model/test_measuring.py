"""Permutation test, baselines and RAM pairs: properties of labels, before any network."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rlaif.contracts.game.observation import LAYOUT_VERSION, slot_index
from rlaif.reward_model.labels.preferences import PairTable, Preference
from rlaif.reward_model.learning.fit.sides import Side
from rlaif.reward_model.learning.gate.baselines import fit_baselines
from rlaif.reward_model.learning.gate.folds import Folds
from rlaif.reward_model.learning.gate.measuring import ram_side
from rlaif.reward_model.learning.gate.permutation import permutation_p


def side_of(segments) -> Side:
    return Side("all", segments, PairTable(segments), [])


def folds_of(segments, values) -> Folds:
    """Four folds with all pairs inside them; each label has one value."""
    made = [
        replace(item, values={"progress": float(value)}, weights={"progress": 1.0})
        for item, value in zip(segments, values, strict=True)
    ]
    episodes = sorted({item.episode_id for item in made})
    fold = np.array([episodes.index(item.episode_id) % 4 for item in made])
    pairs = [
        Preference(a, b, float(values[a] - values[b]), True, 0.5)
        for a in range(len(made))
        for b in range(a)
        if fold[a] == fold[b] and values[a] != values[b]
    ]
    return Folds(side_of(made).with_pairs(pairs), fold)


def test_labels_that_follow_the_observations_are_not_chance(labels):
    made = labels(episodes=16, each=5, signal=True, distractors=2)
    values = np.array([item.observations[-1, 3] - item.observations[0, 3] for item in made])
    found = permutation_p(folds_of(made, values), seed=0)
    assert found is not None
    assert found < 1e-6


def test_per_episode_random_labels_are_found_at_the_rate_of_the_level(labels):
    """The labels of an episode are alike: pairs and segments are not independent evidence."""
    made = labels(episodes=16, each=5, signal=True, distractors=2)
    rng = np.random.default_rng(5)
    found: list[Any] = [
        permutation_p(
            folds_of(made, np.repeat(rng.normal(size=16), 5) + rng.normal(0, 0.1, 80)), seed=seed
        )
        for seed in range(20)
    ]
    assert np.mean(np.array(found) < 0.2) == pytest.approx(0.2, abs=0.2)
    assert min(found) > 0.001


@pytest.mark.parametrize("slot", ["menu_open", "has_feather"])
def test_labels_that_repeat_one_slot_are_ranked_by_the_baselines(labels, slot):
    made, values = [], []
    for at, item in enumerate(labels(episodes=8, each=4, signal=False)):
        seen = np.array(item.observations)
        seen[:, slot_index(slot)] = 0.0
        seen[-1, slot_index(slot)] = rise = at % 2
        made.append(replace(item, observations=seen, layout_version=LAYOUT_VERSION))
        values.append(float(rise))
    found = fit_baselines(folds_of(made, np.array(values)))
    rose = np.array(values) == 1.0
    for statistics in (found.slot, found.ridge):
        assert statistics[rose].min() > statistics[~rose].max()
    assert found.slot_name.endswith(slot)


def test_ram_pairs_are_clearly_apart_and_between_episodes(labels):
    made = labels(episodes=3, each=3, signal=True)
    assert ram_side(side_of(made)).preferences == []
    levels = [2, 0, 1, 0, 2, 1, 1, 1, 0]
    judged = [replace(i, ram={"progress": n}) for i, n in zip(made, levels, strict=True)]
    side = ram_side(side_of(judged))
    assert {(pair.a, pair.b) for pair in side.preferences} == {(0, 3), (0, 8), (4, 1), (4, 8)}
    assert all(pair.decided and pair.margin > 0 for pair in side.preferences)
