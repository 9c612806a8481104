import pytest

from rlaif.judge.trust.agreement import Confusion, upper_bound_of_share


def _of(*votes: tuple[int, int, int]) -> Confusion:
    confusion = Confusion()
    for known, voted, times in votes:
        confusion.count(known, voted, times)
    return confusion


def test_a_perfect_judge_is_right_beyond_chance() -> None:
    perfect = _of((0, 0, 50), (1, 1, 30), (2, 2, 20))
    assert (perfect.accuracy, perfect.kappa) == (1.0, 1.0)


def test_a_constant_judge_is_accurate_by_luck_and_kappa_shows_it() -> None:
    constant = _of((0, 0, 90), (2, 0, 10))
    assert constant.accuracy == 0.9
    assert constant.kappa == pytest.approx(0.0)


def test_nothing_is_said_without_votes_or_without_a_difference() -> None:
    assert (Confusion().accuracy, Confusion().kappa) == (None, None)
    assert _of((1, 1, 5)).kappa is None


def test_the_error_of_kappa_is_that_of_the_textbook() -> None:
    # Fleiss, Levin, Paik, Statistical Methods for Rates and Proportions, 3rd ed., table 18.1:
    # kappa 0.68, standard error 0.087.
    confusion = Confusion()
    for known, row in enumerate([(75, 1, 4), (5, 4, 1), (0, 0, 10)]):
        for voted, times in enumerate(row):
            confusion.count(known, voted, times)
    assert confusion.kappa == pytest.approx(0.68, abs=0.005)
    assert confusion.kappa_error == pytest.approx(0.087, abs=0.001)


def test_a_judge_that_always_says_the_same_is_surely_at_chance() -> None:
    confusion = Confusion()
    for known, times in ((0, 10), (1, 4), (2, 6)):
        confusion.count(known, 0, times)
    assert (confusion.kappa, confusion.kappa_error) == (0.0, 0.0)
    assert Confusion().kappa_error is None


def test_a_few_wrong_answers_leave_room_for_a_better_judge() -> None:
    assert upper_bound_of_share(0, 2, z=1.645) > 0.55
    assert upper_bound_of_share(0, 4, z=1.645) < 0.45
    assert upper_bound_of_share(8, 8, z=1.645) == 1.0
    assert upper_bound_of_share(30, 100, z=1.645) == pytest.approx(0.38, abs=0.01)
