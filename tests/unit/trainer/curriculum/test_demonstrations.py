"""Subtasks of a demonstration: its needed flags, in one order with other demonstrations."""

import itertools
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from rlaif.trainer.curriculum.demonstrations import Demonstration, of_one_order, segments

Made = Callable[..., Demonstration]


def parts(demonstration: Demonstration, *others: Demonstration) -> list[tuple[int, int, str]]:
    return [
        (part.first, part.last, "+".join(sorted(part.goal)))
        for part in segments(demonstration, [demonstration, *others])
    ]


def test_a_subtask_ends_at_a_flag_where_the_next_one_begins(made: Made) -> None:
    assert parts(made(length=30)) == [(0, 8, "sword"), (8, 20, "shield")]


def test_consecutive_flags_form_one_goal(made: Made) -> None:
    assert parts(made(marks={8: "sword", 9: "door", 20: "shield"})) == [
        (0, 8, "sword"),
        (8, 20, "door+shield"),
    ]


def test_a_flag_without_which_another_trajectory_reached_the_same_end_is_no_goal(
    made: Made,
) -> None:
    with_dig = made(marks={5: "dig", 8: "sword", 20: "shield"})
    assert parts(with_dig, made("two")) == [(0, 8, "sword"), (8, 20, "shield")]
    shorter = made("two", marks={8: "sword"})
    assert parts(with_dig, shorter) == [(0, 5, "dig"), (5, 8, "sword"), (8, 20, "shield")]


def test_a_trajectory_ends_with_the_last_flag_of_full_weight(made: Made) -> None:
    """A search may fetch a map when it finds nothing else to do; that leads nowhere."""
    back = made(marks={8: "map:0", 12: "essence:0", 16: "room:5:1f:20", 20: "map:1"})
    assert parts(back) == [(0, 8, "map:0"), (8, 12, "essence:0")]
    with_nothing_else = made(marks={8: "map:0", 20: "map:1"})
    assert parts(with_nothing_else) == [(0, 8, "map:0"), (8, 20, "map:1")]


@given(at=st.sets(st.integers(1, 60), min_size=1, max_size=12))
def test_subtasks_are_contiguous_and_end_at_the_last_flag(made: Made, at: set[int]) -> None:
    demonstration = made(length=60, marks={place: f"mark{place}" for place in sorted(at)})
    found = segments(demonstration)
    assert found[0].first == 0
    assert found[-1].last == max(at)
    assert all(one.last == two.first for one, two in itertools.pairwise(found))
    assert frozenset().union(*(part.goal for part in found)) == demonstration.marks
    for number, part in enumerate(found):
        assert part.number == number
        starts = [demonstration.states[index].at for index in part.starts]
        assert starts == sorted(starts)
        assert part.first == starts[0] <= starts[-1] < part.last


FIRST = {4: "sword", 8: "rod", 14: "feather", 20: "flute"}


def kept(*demonstrations: Demonstration) -> list[str]:
    return [each.name for each in of_one_order(demonstrations)]


def test_a_demonstration_in_another_order_is_left_out_with_its_parts(made: Made) -> None:
    other = made("two", marks={4: "sword", 8: "feather", 14: "rod"})
    part = made("two-0-0", marks={8: "feather"}, part_of=("two", 8))
    assert kept(made(marks=FIRST), other, part) == ["one"]


def test_a_shorter_demonstration_or_one_with_other_optional_flags_is_kept(made: Made) -> None:
    shorter = made("two", marks={4: "sword", 8: "map", 14: "rod"})
    together = made("three", marks={4: "rod+sword", 14: "feather"})
    part = made("two-0-0", marks={4: "sword"}, part_of=("two", 4))
    found = kept(made(marks=FIRST), shorter, together, part)
    assert found == ["one", "two", "three", "two-0-0"]


def test_optional_flags_of_the_first_demonstration_set_no_order(made: Made) -> None:
    """Two trajectories reach the same end, one without the map, which is thus no goal."""
    first = made(marks={4: "sword", 8: "map:1", 20: "flute"})
    assert kept(first, made("two", marks={4: "sword", 20: "flute"})) == ["one", "two"]
