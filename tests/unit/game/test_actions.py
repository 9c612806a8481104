import pytest

from rlaif.game.machine.actions import (
    ACTION_NAMES,
    Action,
    decode_actions,
    encode_actions,
)


def test_the_numbers_are_those_that_captures_store():
    assert ACTION_NAMES == ("UP", "DOWN", "LEFT", "RIGHT", "A", "B", "START", "NOP")


def test_actions_survive_the_way_through_digits():
    assert encode_actions(list(range(8))) == "01234567"
    assert decode_actions("0770") == [Action.UP, Action.NOP, Action.NOP, Action.UP]


@pytest.mark.parametrize("wrong", [-1, 8])
def test_an_action_out_of_range_is_refused(wrong):
    with pytest.raises(ValueError, match=str(wrong)):
        encode_actions([wrong])
