"""Numbers on command lines: what is accepted, and errors that name the range."""

import argparse

import pytest

from rlaif.files.options import finite, whole


@pytest.mark.parametrize("text", ["", "x", "nan", "1.5", "-1", "17", "1e3", "9" * 5000])
def test_anything_but_a_whole_number_in_the_range_is_refused_with_the_range(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="from 0 to 16"):
        whole(maximum=16)(text)


def test_both_ends_of_the_range_are_in_it() -> None:
    assert [whole(1, 16)(text) for text in ("1", "16")] == [1, 16]


@pytest.mark.parametrize("text", ["", "x", "nan", "inf", "-inf", "-0.5", "1e999", "1e308"])
def test_anything_but_a_finite_number_from_zero_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="not a number from 0"):
        finite()(text)


def test_zero_may_be_refused_too() -> None:
    assert (finite()("0"), finite(above_zero=True)("0.5")) == (0, 0.5)
    with pytest.raises(argparse.ArgumentTypeError, match="above 0"):
        finite(above_zero=True)("0")


def test_the_largest_number_can_be_lowered() -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=r"from 0 to 1,000$"):
        finite(maximum=1000)("1001")
