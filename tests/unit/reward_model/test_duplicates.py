"""Segments that show nearly the same are one label."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlaif.reward_model.labels.duplicates import (
    MAX_LABEL_WEIGHT,
    episode_factors,
    label_weights,
    merge_duplicates,
    simhashes,
)
from rlaif.reward_model.labels.preferences import PairTable, sample_preferences


def copy_of(item, name, **changes):
    return replace(item, segment_id=name, **changes)


def test_copies_become_one_label_with_the_mean_of_what_was_said(labels):
    first, other = labels(episodes=2, each=1, signal=True)
    low = copy_of(first, "copy-a", values=dict.fromkeys(first.values, 0.0))
    high = copy_of(first, "copy-b", values=dict.fromkeys(first.values, 1.0))
    kept = merge_duplicates([low, other, high])
    assert [item.segment_id for item in kept] == ["copy-a", other.segment_id]
    assert kept[0].values == pytest.approx(dict.fromkeys(first.values, 0.5))
    assert [item.copies for item in kept] == [2, 1]


def test_a_copy_in_another_episode_does_not_leak_the_heldout_side(labels):
    first = labels(episodes=1, each=1, signal=True)[0]
    elsewhere = copy_of(first, "zz", episode_id="another-episode")
    assert [item.episode_id for item in merge_duplicates([first, elsewhere])] == [first.episode_id]


def test_what_a_person_said_is_not_averaged_with_judges(labels):
    first = labels(episodes=1, each=1, signal=True)[0]
    judged = copy_of(first, "a", values=dict.fromkeys(first.values, 0.0))
    decided = copy_of(first, "b", values=dict.fromkeys(first.values, 1.0), revision=1)
    (kept,) = merge_duplicates([judged, decided])
    assert kept.values == dict.fromkeys(first.values, 1.0)
    assert kept.revision == 1


def test_what_was_said_of_any_copy_beside_another_segment_is_said_of_their_label(labels):
    first, other, third = labels(episodes=3, each=1, signal=True)
    twin = copy_of(first, "twin")
    made = [
        replace(first, preferred={"twin": 1.0}),
        replace(twin, preferred={first.segment_id: 0.0, other.segment_id: 1.0}),
        replace(other, preferred={"twin": 0.0, third.segment_id: 0.5}),
        replace(third, preferred={other.segment_id: 0.5}),
    ]
    kept = merge_duplicates(made)
    assert [item.preferred for item in kept] == [
        {other.segment_id: 1.0},
        {first.segment_id: 0.0, third.segment_id: 0.5},
        {other.segment_id: 0.5},
    ]


def test_comparisons_of_two_copies_with_one_segment_count_as_their_mean(labels):
    first, other = labels(episodes=2, each=1, signal=True)
    made = [
        replace(first, preferred={other.segment_id: 1.0}),
        replace(copy_of(first, "twin"), preferred={other.segment_id: 0.0}),
        replace(other, preferred={first.segment_id: 0.0, "twin": 1.0}),
    ]
    assert [item.preferred for item in merge_duplicates(made)] == [
        {other.segment_id: 0.5},
        {first.segment_id: 0.5},
    ]


@given(st.integers(0, 1000), st.floats(0, 0.01))
def test_a_little_noise_keeps_a_segment_a_duplicate(seed, size):
    rng = np.random.default_rng(seed)
    rows = rng.random((20, 128)).astype(np.float32)
    noisy = np.clip(rows + rng.normal(0, size, rows.shape), 0, 1).astype(np.float32)
    other = rng.random((20, 128), dtype=np.float32)
    segments: list[Any] = [Rows(rows), Rows(noisy), Rows(other)]
    hashes = simhashes(segments)
    near, far = (int(hashes[0] ^ hashes[place]).bit_count() for place in (1, 2))
    assert near <= 4
    assert far > 2


class Rows:
    """A segment of which only the observations are asked for."""

    def __init__(self, observations):
        self.observations = observations


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
