"""What a demonstration is cut into, and which of its marks count."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlaif.trainer.curriculum.demonstrations import Demonstration, segments

Made = Callable[..., Demonstration]


def parts(demonstration: Demonstration, *others: Demonstration) -> list[tuple[int, int, str]]:
    needed = demonstration.needed([demonstration, *others])
    return [
        (part.first, part.last, "+".join(sorted(part.goal)))
        for part in segments(demonstration, needed)
    ]


def test_a_segment_ends_where_a_mark_is_reached_and_the_next_one_begins_there(made: Made) -> None:
    assert parts(made()) == [(0, 8, "sword"), (8, 20, "shield")]


def test_what_comes_after_the_last_mark_belongs_to_no_segment(made: Made) -> None:
    assert parts(made(length=30)) == [(0, 8, "sword"), (8, 20, "shield")]


def test_marks_that_come_right_after_each_other_are_one_goal(made: Made) -> None:
    assert parts(made(marks={8: "sword", 9: "door", 20: "shield"})) == [
        (0, 8, "sword"),
        (8, 20, "door+shield"),
    ]


def test_a_mark_that_another_did_without_is_no_goal(made: Made) -> None:
    with_dig = made(marks={5: "dig", 8: "sword", 20: "shield"})
    assert parts(with_dig, made("two")) == [(0, 8, "sword"), (8, 20, "shield")]


def test_a_mark_stays_a_goal_when_who_lacks_it_did_not_come_as_far(made: Made) -> None:
    far = made(marks={8: "sword", 20: "shield"})
    assert parts(far, made("two", marks={8: "dig"})) == [(0, 8, "sword"), (8, 20, "shield")]


def test_a_way_ends_with_the_last_mark_that_counts_whole(made: Made) -> None:
    """It may go back for a map where it found nothing else to do; that leads nowhere."""
    back = made(marks={8: "map:0", 12: "essence:0", 16: "room:5:1f:20", 20: "map:1"})
    assert parts(back) == [(0, 8, "map:0"), (8, 12, "essence:0")]
    with_nothing_else = made(marks={8: "map:0", 20: "map:1"})
    assert parts(with_nothing_else) == [(0, 8, "map:0"), (8, 20, "map:1")]


def test_who_came_to_the_same_end_without_a_mark_shows_it_taken_along(made: Made) -> None:
    back = made(marks={4: "dig", 8: "sword", 12: "essence:0", 20: "map:1"})
    other = made("two", marks={8: "sword", 20: "essence:0"})
    assert parts(back, other) == [(0, 8, "sword"), (8, 12, "essence:0")]


def test_starts_of_a_segment_are_the_states_before_its_goal(made: Made) -> None:
    demonstration = made()
    for part in segments(demonstration, demonstration.marks):
        at = [demonstration.states[index].at for index in part.starts]
        assert at == sorted(at)
        assert at[0] == part.first
        assert at[-1] < part.last


@given(at=st.sets(st.integers(1, 60), min_size=1, max_size=12))
def test_segments_follow_each_other_without_a_gap_and_end_at_the_last_mark(
    made: Made, at: set[int]
) -> None:
    demonstration = made(length=60, marks={place: f"mark{place}" for place in sorted(at)})
    found = segments(demonstration, demonstration.marks)
    assert found[0].first == 0
    assert found[-1].last == max(at)
    assert all(one.last == two.first for one, two in itertools.pairwise(found))
    assert frozenset().union(*(part.goal for part in found)) == demonstration.marks
    assert [part.number for part in found] == list(range(len(found)))


@pytest.mark.parametrize(
    ("changes", "why"),
    [({"frames": [1, 2]}, "2 rows of frames"), ({"marks": {30: "late"}}, "lies outside")],
)
def test_a_demonstration_that_contradicts_itself_is_refused(
    made: Made, changes: dict[str, Any], why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        made(**changes)
