"""Subtasks of a demonstration, and its needed flags."""

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


def test_a_subtask_ends_at_a_flag_where_the_next_one_begins(made: Made) -> None:
    assert parts(made()) == [(0, 8, "sword"), (8, 20, "shield")]


def test_nothing_after_the_last_flag_belongs_to_a_subtask(made: Made) -> None:
    assert parts(made(length=30)) == [(0, 8, "sword"), (8, 20, "shield")]


def test_consecutive_flags_form_one_goal(made: Made) -> None:
    assert parts(made(marks={8: "sword", 9: "door", 20: "shield"})) == [
        (0, 8, "sword"),
        (8, 20, "door+shield"),
    ]


def test_a_flag_that_another_trajectory_lacks_is_not_a_goal(made: Made) -> None:
    with_dig = made(marks={5: "dig", 8: "sword", 20: "shield"})
    assert parts(with_dig, made("two")) == [(0, 8, "sword"), (8, 20, "shield")]


def test_a_flag_stays_a_goal_if_only_shorter_trajectories_lack_it(made: Made) -> None:
    far = made(marks={8: "sword", 20: "shield"})
    assert parts(far, made("two", marks={8: "dig"})) == [(0, 8, "sword"), (8, 20, "shield")]


def test_a_trajectory_ends_with_the_last_flag_of_full_weight(made: Made) -> None:
    """A search may fetch a map when it finds nothing else to do; that leads nowhere."""
    back = made(marks={8: "map:0", 12: "essence:0", 16: "room:5:1f:20", 20: "map:1"})
    assert parts(back) == [(0, 8, "map:0"), (8, 12, "essence:0")]
    with_nothing_else = made(marks={8: "map:0", 20: "map:1"})
    assert parts(with_nothing_else) == [(0, 8, "map:0"), (8, 20, "map:1")]


def test_an_equal_end_without_a_flag_makes_it_optional(made: Made) -> None:
    back = made(marks={4: "dig", 8: "sword", 12: "essence:0", 20: "map:1"})
    other = made("two", marks={8: "sword", 20: "essence:0"})
    assert parts(back, other) == [(0, 8, "sword"), (8, 12, "essence:0")]


def test_starts_of_a_subtask_are_the_states_before_its_goal(made: Made) -> None:
    demonstration = made()
    for part in segments(demonstration, demonstration.marks):
        at = [demonstration.states[index].at for index in part.starts]
        assert at == sorted(at)
        assert at[0] == part.first
        assert at[-1] < part.last


@given(at=st.sets(st.integers(1, 60), min_size=1, max_size=12))
def test_subtasks_are_contiguous_and_end_at_the_last_flag(made: Made, at: set[int]) -> None:
    demonstration = made(length=60, marks={place: f"mark{place}" for place in sorted(at)})
    found = segments(demonstration, demonstration.marks)
    assert found[0].first == 0
    assert found[-1].last == max(at)
    assert all(one.last == two.first for one, two in itertools.pairwise(found))
    assert frozenset().union(*(part.goal for part in found)) == demonstration.marks
    assert [part.number for part in found] == list(range(len(found)))


@pytest.mark.parametrize(
    ("changes", "why"),
    [({"frames": [1, 2]}, "2 rows of frames"), ({"marks": {30: "late"}}, "is outside")],
)
def test_an_inconsistent_demonstration_is_rejected(
    made: Made, changes: dict[str, Any], why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        made(**changes)
