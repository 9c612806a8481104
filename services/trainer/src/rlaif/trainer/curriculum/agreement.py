"""Selects demonstrations that reach their goals in a consistent order.

A policy does not observe which demonstration it follows. If one takes a treasure first that another
takes second, the same decision in the same state would be correct for one and wrong for the other.
"""

from collections.abc import Iterable, Sequence

from rlaif.trainer.curriculum.demonstrations import Demonstration, segments
from rlaif.trainer.search.marks import Marks


def of_one_order(demonstrations: Sequence[Demonstration]) -> tuple[Demonstration, ...]:
    """Return the demonstrations that reach shared goals in the order of the first, and their parts.

    The first is the one with the highest level, as in a library.
    """
    whole = [each for each in demonstrations if each.part_of is None]
    if not whole:
        return tuple(demonstrations)
    goals = [each.goal for each in segments(whole[0], whole[0].needed(whole))]
    kept = {each.name for each in whole if _agrees((one.marks for one in each.reached), goals)}
    return tuple(
        each
        for each in demonstrations
        if (each.name if each.part_of is None else each.part_of[0]) in kept
    )


def _agrees(reached: Iterable[Marks], goals: Sequence[Marks]) -> bool:
    """Whether each goal is reached only after all goals before it."""
    turn = {mark: number for number, goal in enumerate(goals) for mark in goal}
    known: set[str] = set()
    for marks in reached:
        known |= marks
        latest = max((turn[mark] for mark in marks if mark in turn), default=0)
        if any(not goal <= known for goal in goals[:latest]):
            return False
    return True
