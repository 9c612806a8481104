"""A frontier moves back where play succeeds or luck decides, towards the goal where play fails."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlaif.trainer.play.frontier import MAX_TIME, PATIENCE, TOO_FAR, Frontier

OUTCOMES = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=300)
"""(tried from the frontier, reached the goal) of each try."""


@given(places=st.integers(1, 40), tries=st.integers(1, 12), outcomes=OUTCOMES)
@settings(max_examples=200, deadline=None)
def test_it_moves_back_only_when_more_than_half_of_its_last_tries_reached_the_goal(
    places: int, tries: int, outcomes: list[tuple[bool, bool]]
) -> None:
    frontier = Frontier(places, tries=tries, success=0.5)
    last: list[bool] = []
    for at_frontier, success in outcomes:
        before = frontier.at
        frontier.note(before if at_frontier else before + 1, success=success)
        last = ([*last, success])[-tries:] if at_frontier else last
        assert 0 <= frontier.at < places
        if frontier.at < before:
            assert at_frontier
            assert len(last) == tries
            assert sum(last) / tries > 0.5
        if frontier.at > before:
            assert at_frontier
            assert len(last) == tries
            assert sum(last) / tries <= TOO_FAR
        if frontier.at != before:
            last = []


@given(places=st.integers(1, 200), tries=st.integers(1, 12))
@settings(max_examples=50, deadline=None)
def test_whoever_always_succeeds_comes_home_in_as_many_moves_as_the_way_has_binary_digits(
    places: int, tries: int
) -> None:
    frontier = Frontier(places, tries=tries, success=0.5)
    moves = 0
    while not frontier.is_home:
        before = frontier.at
        frontier.note(before, success=True)
        moves += frontier.at != before
    assert frontier.at == 0
    assert moves <= places.bit_length()


@pytest.mark.parametrize("known", range(30))
def test_a_stride_that_was_too_long_is_halved_until_the_last_place_that_succeeds_is_found(
    known: int,
) -> None:
    frontier = Frontier(30, tries=4, success=0.5)
    for _ in range(400):
        frontier.note(frontier.at, success=frontier.at >= known)
    # From the last place that succeeds it looks one place further, and finds nothing there.
    assert frontier.at in (max(0, known - 1), known)


@pytest.mark.parametrize("known", range(1, 30))
@pytest.mark.parametrize("mastered", [0, 3, 17])
def test_what_was_forgotten_is_learned_again_from_the_last_place_that_still_succeeds(
    known: int, mastered: int
) -> None:
    frontier = Frontier(30, tries=4, success=0.5)
    for _ in range(400):
        frontier.note(frontier.at, success=frontier.at >= mastered)
    for _ in range(PATIENCE * 4 * 8):  # strides of 1, 2, 4, 8 and 16, and some halves of them
        frontier.note(frontier.at, success=frontier.at >= known)
    assert frontier.at in (known - 1, known)


def test_a_place_that_fails_has_a_while_to_be_learned_before_the_frontier_leaves_it() -> None:
    frontier = Frontier(10, tries=4, success=0.5)
    for _ in range(4):
        frontier.note(9, success=True)
    for _ in range(PATIENCE * 4 - 1):
        frontier.note(8, success=False)
    assert frontier.at == 8
    frontier.note(8, success=False)
    assert frontier.at == 9


def test_a_place_where_a_try_succeeds_now_and_then_is_not_left() -> None:
    frontier = Frontier(10, tries=4, success=0.5)
    for _ in range(4):
        frontier.note(9, success=True)
    for turn in range(100):
        frontier.note(8, success=turn % 4 == 0)
    assert frontier.at == 8


def test_a_place_of_half_success_stays_the_frontier() -> None:
    frontier = Frontier(10, tries=4, success=0.5)
    for turn in range(100):
        frontier.note(9, success=turn % 2 == 0)
    assert frontier.at == 9


def test_a_place_where_luck_decides_is_passed_after_many_tries_and_is_not_home() -> None:
    frontier = Frontier(10, tries=4, success=0.5, undecided=20)
    for turn in range(3 + 20):  # the first window is whole with the fourth
        assert frontier.at == 9
        frontier.note(9, success=turn % 2 == 0)
    assert frontier.at == 8
    assert not frontier.is_home
    assert frontier.time == 1


def test_where_luck_decides_at_the_beginning_tries_get_more_time_and_no_end_of_it() -> None:
    frontier = Frontier(1, tries=4, success=0.5, undecided=20)
    times = []
    for turn in range(3 + 100):
        frontier.note(0, success=turn % 2 == 0)
        times.append(frontier.time)
    assert [times.index(time) for time in (1, 2, 4)] == [0, 22, 42]
    assert times[-1] == MAX_TIME == 4
    was_home = [frontier.is_home]
    for _ in range(4):
        frontier.note(0, success=True)
    assert [*was_home, frontier.is_home] == [False, True]
    assert frontier.time == 4  # what it took to come home


def test_who_fails_behind_a_place_of_luck_goes_back_to_it() -> None:
    frontier = Frontier(10, tries=4, success=0.5, undecided=20)
    for turn in range(3 + 20):
        frontier.note(9, success=turn % 2 == 0)
    for _ in range(PATIENCE * 4):
        frontier.note(8, success=False)
    assert frontier.at == 9


def test_tries_from_elsewhere_decide_nothing() -> None:
    frontier = Frontier(10, tries=2, success=0.5)
    for place in range(9):
        for _ in range(5):
            frontier.note(place, success=True)
    assert frontier.at == 9
    assert frontier.success is None


def test_home_is_lost_when_play_there_no_longer_succeeds() -> None:
    frontier = Frontier(1, tries=2, success=0.5)
    was_home = []
    for success in (True, True, False, False):
        frontier.note(0, success=success)
        was_home.append(frontier.is_home)
    assert was_home == [False, True, False, False]
    assert frontier.at == 0


@given(outcomes=OUTCOMES, later=OUTCOMES)
@settings(max_examples=50, deadline=None)
def test_a_saved_frontier_goes_on_as_it_would_have(
    outcomes: list[tuple[bool, bool]], later: list[tuple[bool, bool]]
) -> None:
    def play(frontier: Frontier, tried: list[tuple[bool, bool]]) -> list[Any]:
        for at_frontier, success in tried:
            frontier.note(frontier.at if at_frontier else -1, success=success)
        return [frontier.at, frontier.is_home, frontier.success, frontier.time]

    first, second = (Frontier(12, tries=3, success=0.5, undecided=9) for _ in range(2))
    play(first, outcomes)
    second.load_state_dict(first.state_dict())
    assert play(first, later) == play(second, later)


def test_a_frontier_of_another_number_of_places_is_refused() -> None:
    with pytest.raises(ValueError, match="of 3 places, not of 4"):
        Frontier(4, tries=2, success=0.5).load_state_dict(
            Frontier(3, tries=2, success=0.5).state_dict()
        )


@pytest.mark.parametrize(("places", "tries", "success"), [(0, 2, 0.5), (2, 0, 0.5), (2, 2, 1.0)])
def test_a_frontier_without_sense_is_refused(places: int, tries: int, success: float) -> None:
    with pytest.raises(ValueError, match="give at least one place"):
        Frontier(places, tries=tries, success=success)
