"""The condition for the end of a part, and the quantities that the rest needs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlaif.game.captures.capture import pack_keyframe
from rlaif.game.memory.blocks import RamBlocks
from rlaif.testing.data.written_ram import written_ram
from rlaif.trainer.curriculum.verification import (
    Goal,
    Moment,
    Part,
    VerifiedTrajectory,
    sufficient,
)
from rlaif.trainer.search.tree import Node


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


def parts(*money: int) -> list[Part]:
    """Parts of a trajectory of one decision per node, with a new flag and so much money at each."""
    moments = [
        Moment((0, 1), (0,), frozenset(map(str, range(at))), (12, has))
        for at, has in enumerate(money)
    ]
    nodes = [
        Node(at, at - 1 if at else None, b"", 0, each.marks, 1.0, ((at, 1),), "0", at, str(at), at)
        for at, each in enumerate(moments)
    ]
    states = {at: pack_keyframe(b"%d" % at) for at in range(len(nodes))}
    return [*VerifiedTrajectory(nodes, moments, states).parts(moments[-1].marks)]


def test_a_part_is_another_one_if_a_later_part_spends_what_it_found() -> None:
    keeps, spends = parts(0, 5, 5), parts(0, 5, 5, 2)
    assert keeps[0].decisions == spends[0].decisions
    assert (keeps[0].goal.end.has, spends[0].goal.end.has) == ((6, 0), (6, 3))
    assert keeps[0].key != spends[0].key
    assert keeps[0].key == parts(0, 5, 6)[0].key, "nothing more is required"
