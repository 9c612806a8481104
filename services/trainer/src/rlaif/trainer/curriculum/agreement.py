"""Which demonstrations go the way of the first: goals in another order would contradict it.

A policy does not see which demonstration it follows. Where one takes a thing first that another
takes second, the same decision at the same moment would be the way here and a miss there.
"""

from collections.abc import Iterable, Sequence

from rlaif.trainer.curriculum.demonstrations import Demonstration, segments
from rlaif.trainer.search.marks import Marks


def of_one_order(demonstrations: Sequence[Demonstration]) -> tuple[Demonstration, ...]:
    """Those that reach what they share with the first one in its order, and their parts.

    The first is the one that came farthest, as a library lists them.
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
    """Whether all goals before one that is reached are reached by then."""
    turn = {mark: number for number, goal in enumerate(goals) for mark in goal}
    known: set[str] = set()
    for marks in reached:
        known |= marks
        latest = max((turn[mark] for mark in marks if mark in turn), default=0)
        if any(not goal <= known for goal in goals[:latest]):
            return False
    return True
