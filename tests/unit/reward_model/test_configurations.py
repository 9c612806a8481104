"""The newer judge configuration takes over when it can be trained on, and not before."""

import pytest

from rlaif.reward_model.labels.config_labels import Activity, choose_config, followed_configs

MINUTE = 60.0


def chosen(activities, *, enough=24, patience=15 * MINUTE):
    return choose_config(activities, enough=enough, patience=patience)


def of(began, last, labels):
    """An activity in minutes."""
    return Activity(began * MINUTE, last * MINUTE, labels)


def test_without_a_score_there_is_none():
    assert chosen({}) is None
    assert followed_configs({}, enough=1, patience=1) == []


def test_the_only_one_is_chosen_however_little_it_has():
    assert chosen({"one": of(0, 0, 1)}) == "one"


def test_the_newer_one_waits_until_it_has_enough():
    old = of(0, 100, 2000)
    assert chosen({"old": old, "new": of(99, 100, 23)}) == "old"
    assert chosen({"old": old, "new": of(99, 100, 24)}) == "new"


def test_who_scored_last_has_no_say_while_both_score():
    for old, new in ((100, 101), (101, 100)):
        both = {"old": of(0, old, 2000), "new": of(50, new, 30)}
        assert chosen(both) == "new"


def test_a_silent_one_is_left_for_one_that_scores():
    assert chosen({"old": of(0, 100, 2000), "new": of(115, 115, 1)}) == "old"
    assert chosen({"old": of(0, 100, 2000), "new": of(115, 115.1, 1)}) == "new"


def test_while_nobody_scores_nothing_changes():
    both = {"old": of(0, 100, 2000), "new": of(99, 101, 3)}
    assert chosen(both) == "old", "time is measured on the scores, not by a clock"


def test_a_configuration_that_comes_back_is_chosen_once_the_other_is_silent():
    back = {"first": of(0, 130, 2000), "second": of(50, 110, 500)}
    assert chosen(back) == "first"
    assert chosen(back, patience=30 * MINUTE) == "second"


def test_of_two_that_have_too_little_the_older_one_goes_on():
    assert chosen({"old": of(0, 3, 10), "new": of(1, 3, 12)}) == "old"


@pytest.mark.parametrize(
    ("activities", "followed"),
    [
        ({"old": of(0, 100, 2000), "new": of(99, 100, 3)}, ["old", "new"]),
        ({"old": of(0, 100, 2000), "new": of(99, 100, 24)}, ["new"]),
        ({"old": of(0, 100, 2000), "mid": of(98, 100, 3), "new": of(99, 100, 3)}, ["old", "new"]),
        ({"old": of(0, 10, 2000), "new": of(99, 100, 3)}, ["new"]),
    ],
)
def test_the_one_that_is_learned_and_the_newest_are_followed(activities, followed):
    assert followed_configs(activities, enough=24, patience=15 * MINUTE) == followed
