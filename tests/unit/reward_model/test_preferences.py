"""Scores become preferences."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlaif.reward_model.labels.preferences import (
    MAX_PAIRS,
    PairTable,
    Preference,
    counters_margin,
    judged_share,
    sample_preferences,
)


def sample(segments, *, seed=0):
    table = PairTable(segments)
    return sample_preferences(table, rng=np.random.default_rng(seed))


def margin(a, b):
    """Rubric mean of A minus that of B; None when they cannot be compared."""
    one = np.array([0], np.int64)
    found = PairTable([a, b]).compare(one, one + 1).margin[0]
    return None if np.isnan(found) else float(found)


@pytest.fixture
def two(labels):
    return labels(episodes=1, each=2, signal=True)


def scored(segments, *values):
    return [replace(item, values=dict(v)) for item, v in zip(segments, values, strict=True)]


def test_only_criteria_judged_in_both_count_and_their_weights_are_renormalised(two):
    a, b = scored(
        two,
        {"progress": 1.0, "dialog": 0.0, "puzzle": 0.5},
        {"progress": 0.5, "dialog": 0.0, "novelty": 1.0},
    )
    # progress .4 and dialog .2 are common: (.4 * (1 - .5) + .2 * 0) / .6
    assert margin(a, b) == pytest.approx(1 / 3)
    assert margin(b, a) == pytest.approx(-1 / 3)


def test_too_little_in_common_is_no_pair(two):
    a, b = scored(
        two, {"progress": 1.0, "dialog": 1.0}, {"progress": 0.0, "puzzle": 1.0, "novelty": 0.0}
    )
    assert margin(a, b) is None
    assert sample([a, b]) == []


@pytest.mark.parametrize(
    ("higher", "decided"), [(0.0, False), (0.05, True), (0.04, False), (0.5, True)]
)
def test_a_difference_below_the_tie_band_is_a_light_tie(two, higher, decided):
    base = dict.fromkeys(two[0].weights, 0.0)
    # Every criterion differs by `higher`, so the rubric mean does too.
    a, b = scored(two, dict.fromkeys(base, higher), base)
    (found,) = sample([a, b])
    assert found.decided is decided
    assert (found.target == 0.5) is not decided


def test_a_larger_margin_is_taught_as_surer(two):
    base = dict.fromkeys(two[0].weights, 0.0)
    targets = [
        sample(scored(two, dict.fromkeys(base, high), base))[0].target for high in (0.1, 0.3, 1.0)
    ]
    assert targets == sorted(targets)
    assert targets[0] == pytest.approx(0.731, abs=0.001)
    assert targets[-1] > 0.999


@pytest.mark.parametrize("count", [5, 60, 200])
def test_no_segment_is_in_more_pairs_than_allowed_and_no_pair_repeats(labels, count):
    found = sample(labels(episodes=1, each=count, signal=True))
    degrees = Counter(index for item in found for index in (item.a, item.b))
    assert max(degrees.values()) <= MAX_PAIRS
    assert len({frozenset((item.a, item.b)) for item in found}) == len(found)
    if count > MAX_PAIRS:
        assert np.mean(list(degrees.values())) > 12


def test_ties_do_not_crowd_out_decided_pairs(labels):
    segments = labels(episodes=1, each=60, signal=True)
    same = dict.fromkeys(segments[0].weights, 0.0)
    # Nine of ten are equally bad, as early in a run.
    segments = [
        item if n % 10 == 0 else replace(item, values=same) for n, item in enumerate(segments)
    ]
    found = sample(segments)
    ties = Counter(index for item in found if not item.decided for index in (item.a, item.b))
    assert max(ties.values()) <= 4
    assert sum(item.decided for item in found) >= 50


def test_votes_that_disagree_make_a_softer_label(two):
    a, b = two
    sure = sample([replace(a, doubts={}), replace(b, doubts={})])
    doubts = dict.fromkeys(a.weights, 0.25)
    unsure = sample([replace(a, doubts=doubts), replace(b, doubts=doubts)])
    for one, other in zip(sure, unsure, strict=True):
        assert abs(other.target - 0.5) < abs(one.target - 0.5)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=12))
def test_exchanging_the_segments_mirrors_the_preference(values):
    rows = [{"progress": value} for value in values]
    segments: list[Any] = [Valued(row) for row in rows]
    table = PairTable(segments)
    a, b = np.triu_indices(len(values), k=1)
    there, back = table.compare(a, b), table.compare(b, a)
    np.testing.assert_allclose(there.margin, -back.margin)
    np.testing.assert_allclose(there.target, 1 - back.target)
    assert (there.decided == back.decided).all()


class Valued:
    """A segment of which only the values are asked for."""

    def __init__(self, values):
        self.values, self.doubts, self.weights = values, {}, {"progress": 1.0}
        self.segment_id, self.episode_id, self.preferred, self.voted = "", "", {}, {}
        self.seen_in = 1


def side_by_side(a, b, share):
    """The two labels after judges were shown both."""
    return (
        replace(a, preferred={b.segment_id: share}),
        replace(b, preferred={a.segment_id: 1.0 - share}),
    )


@pytest.mark.parametrize(("share", "target"), [(1.0, 0.8), (0.0, 0.2), (0.5, 0.5)])
def test_a_near_tie_is_decided_by_judges_who_saw_both(two, share, target):
    a, b = scored(two, {"progress": 0.5, "dialog": 0.5}, {"progress": 0.5, "dialog": 0.5})
    (found,) = sample(side_by_side(a, b, share))
    assert found.target == pytest.approx(target)
    assert found.decided is (share != 0.5)
    assert np.sign(found.margin) == np.sign(share - 0.5)


@pytest.mark.parametrize(
    ("high", "share", "target", "decided"),
    [
        (1.0, 1.0, 0.99, True),  # both agree: more certain than a comparison alone
        (1.0, 0.0, 0.83, True),  # a large difference is doubted
        (0.1, 0.0, 0.38, True),  # a small one is reversed
        (0.14, 0.0, 0.5, False),  # two equally strong answers cancel
        (1.0, 0.5, 0.81, True),  # no preference lowers the certainty
    ],
)
def test_a_comparison_is_a_second_witness_whatever_the_scores_say(
    two, high, share, target, decided
):
    base = dict.fromkeys(two[0].weights, 0.0)
    a, b = scored(two, dict.fromkeys(base, high), base)
    (found,) = sample(side_by_side(a, b, share))
    assert found.target == pytest.approx(target, abs=0.01)
    assert found.decided is decided
    assert found.side_by_side
    # Accuracies use the sign of the margin.
    assert (found.margin > 0) is (found.target > 0.5) or not decided


def test_a_comparison_makes_a_pair_of_two_whose_scores_have_too_little_in_common(two):
    a, b = scored(two, {"progress": 1.0, "dialog": 1.0}, {"progress": 0.0, "puzzle": 1.0})
    assert sample([a, b]) == []
    (found,) = sample(side_by_side(a, b, 0.0))
    assert (found.decided, found.target) == (True, pytest.approx(0.2))


def test_a_comparison_with_a_segment_of_the_other_side_of_the_split_says_nothing(two):
    a, b = two
    alone = [replace(a, preferred={"elsewhere": 1.0}), b]
    assert sample(alone) == sample([a, b])


def test_pairs_that_were_shown_side_by_side_are_always_listed(labels):
    many = [replace(item, values=dict.fromkeys(item.values, 0.5)) for item in
            labels(episodes=20, each=10, signal=True)]  # fmt: skip
    many[3], many[170] = side_by_side(many[3], many[170], 1.0)
    (found,) = [item for item in sample(many) if item.decided]
    assert {many[found.a].segment_id, many[found.b].segment_id} == {
        many[3].segment_id, many[170].segment_id
    }  # fmt: skip


def test_a_comparison_weighs_as_much_as_many_pairs_of_scores(labels):
    a, b, c = labels(episodes=3, each=1, signal=True)
    a = replace(a, preferred={b.segment_id: 1.0})
    b = replace(b, preferred={a.segment_id: 0.0})
    low = dict.fromkeys(a.values, 0.0)
    made = scored([a, b, c], low, low, {**low, "progress": 1.0})
    found = PairTable(made).compare(np.array([0, 0]), np.array([1, 2]))
    assert found.weight.tolist() == [16.0, 1.0]


@pytest.fixture
def with_ram(labels):
    """Makes with_ram labels with these levels of the RAM."""
    first, second = labels(episodes=2, each=1, signal=True)

    def make(ram_a, ram_b):
        return replace(first, ram=ram_a), replace(second, ram=ram_b)

    return make


def pair(margin, *, decided=True):
    return Preference(a=0, b=1, margin=margin, decided=decided, target=0.5)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ({"progress": 0}, {"progress": 2}),
        ({"progress": 1}, {"progress": 1}),
        ({"progress": 2}, {"puzzle": 0}),
        ({}, {}),
    ],
    ids=["the other way", "a tie", "nothing in common", "nothing known"],
)
def test_a_pair_that_counters_do_not_put_this_way_is_only_the_judges(with_ram, a, b):
    assert judged_share((with_ram(a, b), [pair(0.3)])) == 1.0


def test_ties_do_not_count_and_without_decided_pairs_there_is_no_share(with_ram):
    segments = with_ram({"progress": 2}, {"progress": 0})
    assert judged_share((segments, [pair(0.3)])) == 0.0
    assert judged_share((segments, [])) is None


def test_the_counters_weigh_their_criteria_as_the_seeds_rubric_does(with_ram):
    one, other = with_ram({"progress": 2, "novelty": 0}, {"progress": 1, "novelty": 2, "dialog": 2})
    # (0.4 * 0.5 - 0.1 * 1) / 0.5; dialog is known of one only.
    assert counters_margin(one, other) == pytest.approx(0.2)
