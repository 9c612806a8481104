"""Shares of the selection rules."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlaif.trainer.search.shares import MIN_SHARE, Shares

RULES = {"level": 0.75, "rated": 0.25}


def played(shares: Shares, rates: dict[str, float], starts: int, seed: int = 0) -> Counter[str]:
    """Rules of some starts, of which each finds a flag with the probability of its rule."""
    rng, used = np.random.default_rng(seed), Counter[str]()
    for _ in range(starts):
        rule = shares.choose(rates, rng)
        used[rule] += 1
        shares.record(rule, float(rng.random() < rates[rule]))
    return used


def test_fixed_shares_do_not_follow_the_finds():
    used = played(Shares(RULES), {"level": 0.0, "rated": 0.1}, 2000)
    assert used["rated"] / 2000 == pytest.approx(0.25, abs=0.03)


def test_a_rule_that_finds_more_gets_most_starts():
    used = played(Shares(RULES, learned=True), {"level": 0.002, "rated": 0.02}, 6000)
    assert used["rated"] > 4500


def test_a_rule_that_finds_nothing_keeps_about_its_minimum_share():
    shares = Shares(RULES, learned=True)
    played(shares, {"level": 0.02, "rated": 0.0}, 4000)
    used = played(shares, {"level": 0.02, "rated": 0.0}, 4000, seed=1)
    assert MIN_SHARE * 0.7 < used["rated"] / 4000 < MIN_SHARE * 3


def test_shares_follow_a_change_of_what_the_rules_find():
    shares = Shares(RULES, learned=True)
    played(shares, {"level": 0.02, "rated": 0.0}, 6000)
    played(shares, {"level": 0.0, "rated": 0.02}, 6000, seed=1)
    assert shares.used["rated"] > 0.6


def test_the_share_of_a_rule_that_cannot_be_used_goes_to_the_others():
    for learned in (False, True):
        assert set(played(Shares(RULES, learned=learned), {"level": 0.01}, 100)) == {"level"}


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_equal_seed_and_state_give_equal_rules(seed: int, learned: bool):
    first, second = Shares(RULES, learned=learned), Shares(RULES, learned=learned)
    played(first, {"level": 0.1, "rated": 0.3}, 50, seed)
    second.load_state_dict(first.state_dict())
    rates = {"level": 0.1, "rated": 0.3}
    assert played(first, rates, 50, seed) == played(second, rates, 50, seed)
