"""Segments that show nearly the same are one label."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlaif.reward_model.labels.duplicates import merge_duplicates, simhashes


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


def test_a_copy_in_another_episode_cannot_tell_the_heldout_side(labels):
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
