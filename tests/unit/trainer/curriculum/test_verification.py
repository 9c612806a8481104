"""The condition for the end of a part, and the quantities that the rest needs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlaif.game.memory.blocks import RamBlocks
from rlaif.testing.data.written_ram import written_ram
from rlaif.trainer.curriculum.verification import Goal, Moment, sufficient


def ram(**changes: int) -> RamBlocks:
    """A player with control in room 4-1c of a dungeon whose first switch is pulled."""
    values = {
        "wActiveGroup": 4,
        "wActiveRoom": 0x1C,
        "wSwitchState": 1,
        "wToggleBlocksState": 1,
        "wRoomStateModifier": 2,
        "wLinkHealth": 8,
        "wNumBombs": 3,
        "wObtainedTreasureFlags": 0x20,
    }
    return written_ram(*(values | changes).items())


GOAL = Goal(frozenset({"map:1"}), Moment.of(ram()))
SEEN = frozenset({"map:1", "treasure:33"})


def test_a_part_may_end_as_the_search_ended_it_or_with_more() -> None:
    assert GOAL.is_reached(ram(), SEEN)
    assert GOAL.is_reached(ram(wLinkHealth=12, wNumBombs=4), SEEN)


@pytest.mark.parametrize(
    "changed",
    [
        {"wActiveRoom": 0x1D},
        {"wActiveGroup": 5},
        {"wSwitchState": 3},
        {"wToggleBlocksState": 0},
        {"wRoomStateModifier": 3},
        {"wLinkHealth": 7},
        {"wNumBombs": 2},
        {"wObtainedTreasureFlags": 0},
        {"wGameState": 0},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_a_part_may_not_end_in_another_state_than_the_next_one_needs(
    changed: dict[str, int],
) -> None:
    assert not GOAL.is_reached(ram(**changed), SEEN)


def test_a_part_may_not_end_before_its_flags_were_seen() -> None:
    assert not GOAL.is_reached(ram(), frozenset({"treasure:33"}))


AMOUNTS = st.tuples(*[st.integers(0, 99)] * 5)


@given(along=st.lists(AMOUNTS, min_size=1, max_size=8))
def test_the_money_that_is_spent_and_one_of_each_used_supply_is_sufficient(
    along: list[tuple[int, ...]],
) -> None:
    health, *needed = sufficient(along)
    assert health == along[0][0] // 2
    spent = [along[0][kind] - min(each[kind] for each in along) for kind in range(1, 5)]
    # Nothing beyond that is required, so items found by chance need not be found again.
    assert needed == [*spent[:2], *(int(used > 0) for used in spent[2:])]
