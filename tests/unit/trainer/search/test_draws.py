"""Which cell is drawn next."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlaif.trainer.search.draws import Draws, DrawSettings

BY_LEVEL = DrawSettings(by_mark=0.0, by_place=0.0)
BY_MARK = DrawSettings(by_mark=1.0, by_place=0.0)
BY_PLACE = DrawSettings(by_mark=0.0, by_place=1.0)


def add(draws: Draws, cell: bytes, marks: frozenset[str], **changes: Any) -> None:
    """A cell, by default at a place of its own in a room of its own."""
    fields = {"room": int.from_bytes(cell, "big"), "place": b"at " + cell}
    draws.add(cell, marks, **{**fields, **changes})


def drawn(draws: Draws, times: int, seed: int = 0) -> Counter[bytes]:
    rng = np.random.default_rng(seed)
    return Counter(draws.draw(rng) for _ in range(times))


def test_without_a_cell_nothing_can_be_drawn():
    with pytest.raises(ValueError, match="no cell is known"):
        Draws().draw(np.random.default_rng(0))


def test_each_level_below_the_top_is_drawn_less_often():
    draws = Draws(BY_LEVEL)
    add(draws, b"low", frozenset())
    add(draws, b"middle", frozenset({"treasure:5"}))
    add(draws, b"top", frozenset({"treasure:5", "treasure:16"}))
    shares = drawn(draws, 4000)
    assert shares[b"middle"] / shares[b"top"] == pytest.approx(0.4, abs=0.06)
    assert shares[b"low"] / shares[b"middle"] == pytest.approx(0.4, abs=0.08)


def test_many_cells_of_one_progress_do_not_drown_another_of_the_same_level():
    draws = Draws(BY_LEVEL)
    for number in range(100):
        add(draws, b"many%d" % number, frozenset({"treasure:5"}))
    add(draws, b"one", frozenset({"treasure:16"}))
    assert drawn(draws, 1000)[b"one"] > 400


def test_cells_that_were_chosen_least_come_first():
    draws = Draws(BY_LEVEL)
    for number in range(10):
        add(draws, b"%d" % number, frozenset())
    counts = drawn(draws, 1000)
    assert min(counts.values()) > 70


def test_a_cell_with_more_left_to_try_is_drawn_more_often():
    draws = Draws(BY_LEVEL)
    add(draws, b"tried", frozenset())
    add(draws, b"untried", frozenset(), untried=9)
    counts = drawn(draws, 1000)
    assert counts[b"untried"] > 1.5 * counts[b"tried"]


def test_a_mark_that_was_seldom_drawn_is_drawn_though_others_are_farther():
    draws = Draws(BY_MARK)
    far = frozenset({"treasure:5", "treasure:7", "treasure:16", "treasure:19"})
    add(draws, b"far", far)
    drawn(draws, 500)
    add(draws, b"feather", frozenset({"treasure:5", "treasure:17"}))
    assert drawn(draws, 20)[b"feather"] > 14


def test_a_new_mark_does_not_keep_the_draws_for_ever():
    draws = Draws(BY_MARK)
    add(draws, b"far", frozenset({"treasure:5"}))
    drawn(draws, 500)
    add(draws, b"dug", frozenset({"room:0:78:01"}))
    drawn(draws, 1000)
    assert drawn(draws, 1000)[b"far"] > 300


def test_many_cells_of_one_room_do_not_drown_another_room():
    draws = Draws(BY_LEVEL)
    for number in range(50):
        add(draws, b"bush%d" % number, frozenset(), room=7)
    add(draws, b"cave", frozenset(), room=8)
    assert drawn(draws, 400)[b"cave"] > 120


def test_a_place_that_was_seldom_drawn_is_drawn_though_little_is_owned_there():
    draws = Draws(BY_PLACE)
    for number in range(5):
        add(draws, b"far%d" % number, frozenset({"treasure:5", "treasure:16"}))
    drawn(draws, 200)
    add(draws, b"half solved", frozenset({"treasure:5"}))
    assert drawn(draws, 30)[b"half solved"] > 15


def test_of_the_cells_of_a_place_the_farthest_are_drawn_most():
    draws = Draws(BY_PLACE)
    add(draws, b"far", frozenset({"treasure:5", "treasure:16"}), place=b"cave", room=1)
    add(draws, b"near", frozenset(), place=b"cave", room=1)
    shares = drawn(draws, 300)
    assert shares[b"far"] > shares[b"near"] > 20


def test_where_a_better_state_was_found_it_is_tried_again():
    draws = Draws(BY_LEVEL)
    for cell in (b"1", b"2"):
        add(draws, cell, frozenset(), room=1)
    drawn(draws, 400)
    draws.improve(b"1", untried=0)
    shares = drawn(draws, 60)
    assert shares[b"1"] > shares[b"2"]


def test_what_is_dropped_first_is_low_and_leads_nowhere():
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
def test_the_same_seed_and_cells_give_the_same_draws_also_after_a_stop(
    cells: list[frozenset[str]], seed: int
):
    first, second = Draws(), Draws()
    for draws in (first, second):
        for number, marks in enumerate(cells):
            add(draws, b"%d" % number, marks)
    rng = np.random.default_rng(seed)
    for _ in range(10):
        first.draw(rng)
    second.load_state_dict(first.state_dict())
    other = np.random.default_rng()
    other.bit_generator.state = rng.bit_generator.state
    assert [first.draw(rng) for _ in range(20)] == [second.draw(other) for _ in range(20)]


@given(CELLS, st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_a_cell_that_was_dropped_is_drawn_no_more(cells: list[frozenset[str]], seed: int):
    draws = Draws()
    for number, marks in enumerate(cells):
        add(draws, b"%d" % number, marks)
    add(draws, b"kept", frozenset())
    for number in range(len(cells)):
        draws.remove(b"%d" % number)
    assert set(drawn(draws, 20, seed)) == {b"kept"}
    assert draws.marks == frozenset()
