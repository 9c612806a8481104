"""Selection of the next start cell."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlaif.trainer.search.draws import Draws, DrawSettings

BY_LEVEL = DrawSettings(shares={"level": 1.0})
BY_FLAG = DrawSettings(shares={"flag": 1.0})
BY_PLACE = DrawSettings(shares={"place": 1.0})


BY_RATING = DrawSettings(shares={"rated": 1.0})
RATED_AND_LEARNED = DrawSettings(
    shares={"place": 1.0, "flag": 1.0, "level": 1.0, "rated": 1.0, "uniform": 1.0}, learned=True
)


def add(draws: Draws, cell: bytes, marks: frozenset[str], **changes: Any) -> None:
    """A cell, by default at a place of its own in a room of its own."""
    fields = {"room": int.from_bytes(cell, "big"), "place": b"at " + cell}
    draws.add(cell, marks, **{**fields, **changes})


def drawn(draws: Draws, times: int, seed: int = 0) -> Counter[bytes]:
    rng = np.random.default_rng(seed)
    return Counter(draws.draw(rng)[0] for _ in range(times))


def test_a_draw_without_cells_raises():
    with pytest.raises(ValueError, match="no cells"):
        Draws().draw(np.random.default_rng(0))


def test_lower_levels_are_drawn_less_often():
    draws = Draws(BY_LEVEL)
    add(draws, b"low", frozenset())
    add(draws, b"middle", frozenset({"treasure:5"}))
    add(draws, b"top", frozenset({"treasure:5", "treasure:16"}))
    shares = drawn(draws, 4000)
    assert shares[b"middle"] / shares[b"top"] == pytest.approx(0.4, abs=0.06)
    assert shares[b"low"] / shares[b"middle"] == pytest.approx(0.4, abs=0.08)


def test_many_cells_with_one_set_of_flags_do_not_crowd_out_another_set_of_that_level():
    draws = Draws(BY_LEVEL)
    for number in range(100):
        add(draws, b"many%d" % number, frozenset({"treasure:5"}))
    add(draws, b"one", frozenset({"treasure:16"}))
    assert drawn(draws, 1000)[b"one"] > 400


def test_rarely_drawn_cells_are_preferred():
    draws = Draws(BY_LEVEL)
    for number in range(10):
        add(draws, b"%d" % number, frozenset())
    counts = drawn(draws, 1000)
    assert min(counts.values()) > 70


def test_a_cell_with_more_untried_proposals_is_drawn_more_often():
    draws = Draws(BY_LEVEL)
    add(draws, b"tried", frozenset())
    add(draws, b"untried", frozenset(), untried=9)
    counts = drawn(draws, 1000)
    assert counts[b"untried"] > 1.5 * counts[b"tried"]


def test_a_rarely_drawn_flag_is_drawn_despite_higher_levels():
    draws = Draws(BY_FLAG)
    far = frozenset({"treasure:5", "treasure:7", "treasure:16", "treasure:19"})
    add(draws, b"far", far)
    drawn(draws, 500)
    add(draws, b"feather", frozenset({"treasure:5", "treasure:17"}))
    assert drawn(draws, 20)[b"feather"] > 14


def test_a_new_flag_does_not_dominate_the_draws_permanently():
    draws = Draws(BY_FLAG)
    add(draws, b"far", frozenset({"treasure:5"}))
    drawn(draws, 500)
    add(draws, b"dug", frozenset({"room:0:78:01"}))
    drawn(draws, 1000)
    assert drawn(draws, 1000)[b"far"] > 300


def test_many_cells_of_one_room_do_not_crowd_out_another_room():
    draws = Draws(BY_LEVEL)
    for number in range(50):
        add(draws, b"bush%d" % number, frozenset(), room=7)
    add(draws, b"cave", frozenset(), room=8)
    assert drawn(draws, 400)[b"cave"] > 120


def test_a_rarely_drawn_place_is_drawn_despite_a_low_level():
    draws = Draws(BY_PLACE)
    for number in range(5):
        add(draws, b"far%d" % number, frozenset({"treasure:5", "treasure:16"}))
    drawn(draws, 200)
    add(draws, b"half solved", frozenset({"treasure:5"}))
    assert drawn(draws, 30)[b"half solved"] > 15


def test_within_a_place_the_highest_level_is_drawn_most():
    draws = Draws(BY_PLACE)
    add(draws, b"far", frozenset({"treasure:5", "treasure:16"}), place=b"cave", room=1)
    add(draws, b"near", frozenset(), place=b"cave", room=1)
    shares = drawn(draws, 300)
    assert shares[b"far"] > shares[b"near"] > 20


def test_a_better_state_makes_its_cell_more_likely():
    draws = Draws(BY_LEVEL)
    for cell in (b"1", b"2"):
        add(draws, cell, frozenset(), room=1)
    drawn(draws, 400)
    draws.improve(b"1", untried=0)
    shares = drawn(draws, 60)
    assert shares[b"1"] > shares[b"2"]


def rated(*ratings: float) -> Draws:
    """A cell in each of some rooms with these ratings."""
    draws = Draws(BY_RATING)
    for room, rating in enumerate(ratings, 1):
        add(draws, b"%d" % room, frozenset(), room=room)
        draws.rate(frozenset(), room, rating)
    return draws


def test_a_group_that_is_rated_higher_is_drawn_more_often():
    shares = drawn(rated(2.8, 3.0), 300)
    assert shares[b"2"] > 1.4 * shares[b"1"]


def test_a_group_is_drawn_less_often_the_longer_it_leads_to_nothing():
    draws, shares, rng = rated(3.0, 3.0), Counter[bytes](), np.random.default_rng(0)
    for _ in range(300):
        cell, _ = draws.draw(rng)
        shares[cell] += 1
        draws.rewarded(b"1")
    assert shares[b"1"] > 2 * shares[b"2"]


def test_a_wrong_rating_cannot_keep_another_group_from_being_drawn():
    assert drawn(rated(1.0, 1.5), 3000)[b"1"] > 300


def test_a_uniform_draw_takes_all_cells_alike():
    draws = Draws(DrawSettings(shares={"uniform": 1.0}))
    add(draws, b"top", frozenset({"treasure:5"}), untried=9)
    add(draws, b"low", frozenset())
    assert drawn(draws, 1000)[b"low"] == pytest.approx(500, abs=60)


def test_low_and_fruitless_cells_are_dropped_first():
    draws = Draws(BY_LEVEL)
    add(draws, b"top", frozenset({"treasure:5"}))
    add(draws, b"fruitful", frozenset())
    add(draws, b"fruitless", frozenset())
    drawn(draws, 50)
    draws.rewarded(b"fruitful")
    assert draws.worst(2) == [b"fruitless", b"fruitful"]


MARKS = st.frozensets(st.sampled_from([f"treasure:{n:x}" for n in range(6)]), max_size=6)
CELLS = st.lists(MARKS, min_size=1, max_size=20)


@given(CELLS, st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_equal_seed_and_cells_give_equal_draws_also_after_a_restart(
    cells: list[frozenset[str]], seed: int
):
    first, second = Draws(RATED_AND_LEARNED), Draws(RATED_AND_LEARNED)
    for draws in (first, second):
        for number, marks in enumerate(cells):
            add(draws, b"%d" % number, marks)
            draws.rate(marks, number + ord("0"), len(marks))
    rng = np.random.default_rng(seed)
    for number in range(10):
        _, rule = first.draw(rng)
        first.shares.record(rule, number % 3 == 0)
    second.load_state_dict(first.state_dict())
    other = np.random.default_rng()
    other.bit_generator.state = rng.bit_generator.state
    assert [first.draw(rng) for _ in range(20)] == [second.draw(other) for _ in range(20)]


@given(CELLS, st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_a_dropped_cell_is_no_longer_drawn(cells: list[frozenset[str]], seed: int):
    draws = Draws()
    for number, marks in enumerate(cells):
        add(draws, b"%d" % number, marks)
    add(draws, b"kept", frozenset())
    for number in range(len(cells)):
        draws.remove(b"%d" % number)
    assert set(drawn(draws, 20, seed)) == {b"kept"}
    assert draws.marks == frozenset()
