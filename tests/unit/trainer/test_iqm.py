"""Interquartile means and their bootstrap intervals, as the report of trained policies has them."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

_PATH = Path(__file__).parents[3] / "benchmarks/iqm.py"
_SPEC = importlib.util.spec_from_file_location("iqm", _PATH)
assert _SPEC is not None
assert _SPEC.loader is not None
iqm_module = importlib.util.module_from_spec(_SPEC)
sys.modules["iqm"] = iqm_module
_SPEC.loader.exec_module(iqm_module)
iqm, interval = iqm_module.iqm, iqm_module.interval
paired_ratio = iqm_module.paired_ratio
paired_difference = iqm_module.paired_difference

VALUES = st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=12)


def test_of_three_the_outer_two_count_a_quarter_each():
    assert iqm([0, 0, 6]) == pytest.approx(6 * 0.25 / 1.5)


def test_of_many_it_is_the_mean_of_the_middle_half():
    values = list(range(100))
    assert iqm(values) == np.mean(values[25:75])


@given(values=VALUES)
def test_it_lies_between_the_quartiles_whatever_their_order(values):
    found = iqm(values)
    assert min(values) - 1e-9 <= found <= max(values) + 1e-9
    assert iqm(values[::-1]) == pytest.approx(found)


def test_an_interval_holds_its_figure_and_grows_with_what_seeds_differ_by():
    alike = interval([[4, 6] * 8, [5] * 16, [6, 4] * 8], resamples=500)
    apart = interval([[0, 2] * 8, [5] * 16, [10, 8] * 8], resamples=500)
    assert alike.low <= alike.value <= alike.high
    assert alike.value == 5
    assert apart.high - apart.low > 2 * (alike.high - alike.low)


def test_one_seed_still_has_the_chance_of_its_episodes():
    found = interval([[0, 10] * 10], resamples=500)
    assert found.low < found.value < found.high


def test_a_ratio_of_pairs_ignores_what_both_have_in_common():
    """Worlds differ a hundredfold here, and one arm needs half of the other's frames in each."""
    slow = [1.0, 3.0, 10.0, 30.0, 100.0]
    found = paired_ratio([each / 2 for each in slow], slow)
    assert found == (pytest.approx(0.5), pytest.approx(0.5), pytest.approx(0.5))


def test_a_difference_is_over_pairs_of_seeds():
    """What seeds have in common, and it is most here, does not widen the interval."""
    common = np.arange(0, 40, 5.0)
    first, second = common + [1, 2] * 4, common
    found = paired_difference(first, second, resamples=500)
    assert 1 <= found.low <= found.value <= found.high <= 2
    assert found.value == pytest.approx(iqm(first) - iqm(second))
