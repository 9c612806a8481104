"""What the game's counters decide is not counted as the judges' word."""

from dataclasses import replace

import pytest

from rlaif.reward_model.labels.preferences import Preference, counters_margin, judged_share


@pytest.fixture
def two(labels):
    """Makes two labels with these levels of the RAM."""
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
def test_a_pair_that_counters_do_not_put_this_way_is_only_the_judges(two, a, b):
    assert judged_share((two(a, b), [pair(0.3)])) == 1.0


def test_ties_do_not_count_and_without_decided_pairs_there_is_no_share(two):
    segments = two({"progress": 2}, {"progress": 0})
    assert judged_share((segments, [pair(0.3)])) == 0.0
    assert judged_share((segments, [])) is None


def test_the_counters_weigh_their_criteria_as_the_seeds_rubric_does(two):
    one, other = two({"progress": 2, "novelty": 0}, {"progress": 1, "novelty": 2, "dialog": 2})
    # (0.4 * 0.5 - 0.1 * 1) / 0.5; dialog is known of one only.
    assert counters_margin(one, other) == pytest.approx(0.2)
