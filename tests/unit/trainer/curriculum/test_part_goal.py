"""The condition for the end of a part."""

import pytest

from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import SAVEFILE_STRING, address
from rlaif.game.memory.predicates import has_control
from rlaif.trainer.curriculum.verification import Goal, Moment

CONTROL = {"wGameState": 2, "wCutsceneIndex": 1, "w1Link.state": 1}


def ram(**changes: int) -> RamBlocks:
    """A player with control in room 4-1c of a dungeon whose first switch is pulled."""
    values = {
        "wActiveGroup": 4,
        "wActiveRoom": 0x1C,
        "wSwitchState": 1,
        "wToggleBlocksState": 1,
        "wRoomStateModifier": 2,
        "wLinkHealth": 8,
        "wObtainedTreasureFlags": 0x20,
        **CONTROL,
    }
    wram = bytearray(0x2000)
    at = address("wSavefileString") - 0xC000
    wram[at : at + len(SAVEFILE_STRING)] = SAVEFILE_STRING
    for name, value in (values | changes).items():
        wram[address(name) - 0xC000] = value
    return RamBlocks(bytes(wram))


AT_THE_END = ram()
GOAL = Goal(frozenset({"map:1"}), Moment.of(AT_THE_END))
SEEN = frozenset({"map:1", "treasure:33"})


def test_a_part_may_end_as_the_search_ended_it() -> None:
    assert has_control(AT_THE_END)
    assert GOAL.is_reached(AT_THE_END, SEEN)
    assert GOAL.is_reached(ram(wLinkHealth=12), SEEN)


@pytest.mark.parametrize(
    "changed",
    [
        {"wActiveRoom": 0x1D},
        {"wActiveGroup": 5},
        {"wSwitchState": 0},
        {"wSwitchState": 3},
        {"wToggleBlocksState": 0},
        {"wRoomStateModifier": 3},
        {"wLinkHealth": 7},
        {"wObtainedTreasureFlags": 0},
        {"wGameState": 0},
    ],
    ids=lambda changed: "-".join(f"{name}-{value}" for name, value in changed.items()),
)
def test_a_part_may_not_end_in_another_state_than_the_next_one_needs(
    changed: dict[str, int],
) -> None:
    """Each differs from the state in which the next part begins."""
    assert not GOAL.is_reached(ram(**changed), SEEN)


def test_a_part_may_not_end_before_its_flags_were_seen() -> None:
    assert not GOAL.is_reached(AT_THE_END, frozenset({"treasure:33"}))
