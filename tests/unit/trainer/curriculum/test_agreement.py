"""Of several demonstrations those are followed that go the way of the first."""

from collections.abc import Callable

from rlaif.trainer.curriculum.agreement import of_one_order
from rlaif.trainer.curriculum.demonstrations import Demonstration

Made = Callable[..., Demonstration]
FIRST = {4: "sword", 8: "rod", 14: "feather", 20: "flute"}


def kept(*demonstrations: Demonstration) -> list[str]:
    return [each.name for each in of_one_order(demonstrations)]


def test_one_that_takes_things_in_another_order_is_left_out_with_its_parts(made: Made) -> None:
    first = made(marks=FIRST)
    other = made("two", marks={4: "sword", 8: "feather", 14: "rod"})
    part = made("two-0-0", marks={8: "feather"}, part_of=("two", 8))
    assert kept(first, other, part) == ["one"]


def test_one_that_ends_sooner_or_takes_other_things_along_is_kept_with_its_parts(
    made: Made,
) -> None:
    first = made(marks=FIRST)
    shorter = made("two", marks={4: "sword", 8: "map", 14: "rod"})
    together = made("three", marks={4: "rod+sword", 14: "feather"})
    part = made("two-0-0", marks={4: "sword"}, part_of=("two", 4))
    assert kept(first, shorter, together, part) == ["one", "two", "three", "two-0-0"]


def test_what_the_first_took_along_sets_no_order(made: Made) -> None:
    """Two ways came to the same end, and one of them without the map: it is no goal."""
    first = made(marks={4: "sword", 8: "map:1", 20: "flute"})
    other = made("two", marks={4: "sword", 20: "flute"})
    assert kept(first, other) == ["one", "two"]


def test_without_demonstrations_there_are_none() -> None:
    assert kept() == []
