"""Selection of demonstrations in one order."""

from collections.abc import Callable

from rlaif.trainer.curriculum.demonstrations import Demonstration, of_one_order

Made = Callable[..., Demonstration]
FIRST = {4: "sword", 8: "rod", 14: "feather", 20: "flute"}


def kept(*demonstrations: Demonstration) -> list[str]:
    return [each.name for each in of_one_order(demonstrations)]


def test_a_demonstration_in_another_order_is_left_out_with_its_parts(made: Made) -> None:
    first = made(marks=FIRST)
    other = made("two", marks={4: "sword", 8: "feather", 14: "rod"})
    part = made("two-0-0", marks={8: "feather"}, part_of=("two", 8))
    assert kept(first, other, part) == ["one"]


def test_a_shorter_demonstration_or_one_with_other_optional_flags_is_kept(
    made: Made,
) -> None:
    first = made(marks=FIRST)
    shorter = made("two", marks={4: "sword", 8: "map", 14: "rod"})
    together = made("three", marks={4: "rod+sword", 14: "feather"})
    part = made("two-0-0", marks={4: "sword"}, part_of=("two", 4))
    assert kept(first, shorter, together, part) == ["one", "two", "three", "two-0-0"]


def test_optional_flags_of_the_first_demonstration_set_no_order(made: Made) -> None:
    """Two trajectories reach the same end, one without the map, which is thus no goal."""
    first = made(marks={4: "sword", 8: "map:1", 20: "flute"})
    other = made("two", marks={4: "sword", 20: "flute"})
    assert kept(first, other) == ["one", "two"]


def test_no_demonstrations_are_in_one_order() -> None:
    assert kept() == []
