"""What is seen in many episodes counts more, and no episode can outvote the others."""

from dataclasses import replace

import numpy as np
import pytest

from rlaif.reward_model.labels.duplicates import (
    MAX_LABEL_WEIGHT,
    episode_factors,
    label_weights,
    merge_duplicates,
)
from rlaif.reward_model.labels.preferences import PairTable, sample_preferences


def share_of(episode, segments):
    weights = label_weights(segments)
    return sum(weights[i] for i, item in enumerate(segments) if item.episode_id == episode) / (
        weights.sum()
    )


def stuffed(labels, *, episodes, extra):
    """Episodes of 8, and one with `extra` segments more; gives its id, too."""
    made = labels(episodes=episodes, each=8, signal=True)
    more = labels(episodes=1, each=extra, signal=True, run="more")
    name = made[0].episode_id
    return name, made + [replace(item, episode_id=name) for item in more]


def test_labels_that_were_seen_once_count_alike(labels):
    assert label_weights(labels(episodes=5, each=4, signal=True)).tolist() == [1.0] * 20
    assert label_weights([]).tolist() == []


@pytest.mark.parametrize(("seen_in", "weight"), [(1, 1), (2, 2), (4, 3), (8, 4), (1000, 4)])
def test_a_label_counts_by_the_logarithm_of_its_episodes(labels, seen_in, weight):
    made = labels(episodes=40, each=1, signal=True)
    made[3] = replace(made[3], copies=5000, seen_in=seen_in)
    assert label_weights(made)[3] == weight <= MAX_LABEL_WEIGHT


def test_a_stuffed_episode_gains_nothing_by_copies_of_one_segment(labels):
    made = labels(episodes=6, each=4, signal=True)
    copies = [replace(made[0], segment_id=f"zz-{place}") for place in range(300)]
    merged = merge_duplicates([*made, *copies])
    assert len(merged) == len(made)
    assert merged[0].copies == 301
    assert label_weights(merged).tolist() == label_weights(made).tolist()


@pytest.mark.parametrize("extra", [50, 400])
def test_no_episode_has_more_than_a_tenth_of_the_weight(labels, extra):
    name, segments = stuffed(labels, episodes=30, extra=extra)
    assert share_of(name, segments) == pytest.approx(0.1)
    others = [i for i, item in enumerate(segments) if item.episode_id != name]
    assert (episode_factors(segments)[others] == 1).all()


def test_of_few_episodes_none_has_more_than_twice_an_equal_share(labels):
    name, segments = stuffed(labels, episodes=5, extra=400)
    assert share_of(name, segments) == pytest.approx(0.4, abs=1e-6)
    assert (episode_factors(labels(episodes=1, each=5, signal=True)) == 1).all()


def test_a_stuffed_episode_takes_part_in_few_of_the_pairs_that_are_measured(labels):
    name, segments = stuffed(labels, episodes=30, extra=400)
    table = PairTable(segments)
    pairs = sample_preferences(table, rng=np.random.default_rng(0))
    ends = [segments[place].episode_id for pair in pairs for place in (pair.a, pair.b)]
    assert ends.count(name) / len(ends) < 0.2, "without a bound it is 0.63"
    every = {place for pair in pairs for place in (pair.a, pair.b)}
    assert len(every) == len(segments)
