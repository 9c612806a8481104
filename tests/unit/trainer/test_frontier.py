"""A frontier moves back with success, and towards the goal with failure."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlaif.trainer.play.frontier import MAX_TIME, PATIENCE, TOO_FAR, Frontier

OUTCOMES = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=300)
"""(tried from the frontier, reached the goal) of each attempt."""


@given(places=st.integers(1, 40), tries=st.integers(1, 12), outcomes=OUTCOMES)
@settings(max_examples=200, deadline=None)
def test_it_moves_back_only_above_the_success_threshold(
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
def test_constant_success_masters_it_in_logarithmically_many_moves(places: int, tries: int) -> None:
    frontier = Frontier(places, tries=tries, success=0.5)
    moves = 0
    while not frontier.is_mastered:
        before = frontier.at
        frontier.note(before, success=True)
        moves += frontier.at != before
    assert frontier.at == 0
    assert moves <= places.bit_length()


@pytest.mark.parametrize("known", range(30))
def test_too_long_a_stride_is_halved_down_to_the_last_success(
    known: int,
) -> None:
    frontier = Frontier(30, tries=4, success=0.5)
    for _ in range(400):
        frontier.note(frontier.at, success=frontier.at >= known)
    # From the last place that succeeds it tries the next one, which fails.
    assert frontier.at in (max(0, known - 1), known)


@pytest.mark.parametrize("known", range(1, 30))
@pytest.mark.parametrize("mastered", [0, 3, 17])
def test_forgotten_places_are_relearned_from_the_last_success(known: int, mastered: int) -> None:
    frontier = Frontier(30, tries=4, success=0.5)
    for _ in range(400):
        frontier.note(frontier.at, success=frontier.at >= mastered)
    for _ in range(PATIENCE * 4 * 8):  # strides of 1, 2, 4, 8 and 16, and some halves of them
        frontier.note(frontier.at, success=frontier.at >= known)
    assert frontier.at in (known - 1, known)


def test_a_failing_place_is_left_only_after_several_windows() -> None:
    frontier = Frontier(10, tries=4, success=0.5)
    for _ in range(4):
        frontier.note(9, success=True)
    for _ in range(PATIENCE * 4 - 1):
        frontier.note(8, success=False)
    assert frontier.at == 8
    frontier.note(8, success=False)
    assert frontier.at == 9


def test_a_place_decided_by_chance_is_skipped_and_not_mastered() -> None:
    frontier = Frontier(10, tries=4, success=0.5, undecided=20)
    for turn in range(3 + 20):  # the fourth completes the first window
        assert frontier.at == 9
        frontier.note(9, success=turn % 2 == 0)
    assert frontier.at == 8
    assert not frontier.is_mastered
    assert frontier.time == 1


def test_chance_at_the_beginning_extends_the_time_up_to_a_limit() -> None:
    frontier = Frontier(1, tries=4, success=0.5, undecided=20)
    times = []
    for turn in range(3 + 100):
        frontier.note(0, success=turn % 2 == 0)
        times.append(frontier.time)
    assert [times.index(time) for time in (1, 2, 4)] == [0, 22, 42]
    assert times[-1] == MAX_TIME == 4
    was_home = [frontier.is_mastered]
    for _ in range(4):
        frontier.note(0, success=True)
    assert [*was_home, frontier.is_mastered] == [False, True]
    assert frontier.time == 4  # the factor at which it was mastered


def test_failure_behind_a_chance_place_returns_to_it() -> None:
    frontier = Frontier(10, tries=4, success=0.5, undecided=20)
    for turn in range(3 + 20):
        frontier.note(9, success=turn % 2 == 0)
    for _ in range(PATIENCE * 4):
        frontier.note(8, success=False)
    assert frontier.at == 9


def test_attempts_from_other_places_are_ignored() -> None:
    frontier = Frontier(10, tries=2, success=0.5)
    for place in range(9):
        for _ in range(5):
            frontier.note(place, success=True)
    assert frontier.at == 9
    assert frontier.success is None


def test_mastery_is_lost_when_attempts_fail() -> None:
    frontier = Frontier(1, tries=2, success=0.5)
    was_home = []
    for success in (True, True, False, False):
        frontier.note(0, success=success)
        was_home.append(frontier.is_mastered)
    assert was_home == [False, True, False, False]
    assert frontier.at == 0


@given(outcomes=OUTCOMES, later=OUTCOMES)
@settings(max_examples=50, deadline=None)
def test_a_restored_frontier_continues(
    outcomes: list[tuple[bool, bool]], later: list[tuple[bool, bool]]
) -> None:
    def play(frontier: Frontier, tried: list[tuple[bool, bool]]) -> list[Any]:
        for at_frontier, success in tried:
            frontier.note(frontier.at if at_frontier else -1, success=success)
        return [frontier.at, frontier.is_mastered, frontier.success, frontier.time]

    first, second = (Frontier(12, tries=3, success=0.5, undecided=9) for _ in range(2))
    play(first, outcomes)
    second.load_state_dict(first.state_dict())
    assert play(first, later) == play(second, later)


def test_a_frontier_of_another_number_of_places_is_rejected() -> None:
    with pytest.raises(ValueError, match="with 3 places, not 4"):
        Frontier(4, tries=2, success=0.5).load_state_dict(
            Frontier(3, tries=2, success=0.5).state_dict()
        )
