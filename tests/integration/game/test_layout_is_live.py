"""Every slot of the observation layout says something in the embedded game."""

from rlaif.contracts.game.observation import LAYOUT


def test_every_slot_changes_somewhere_in_the_walkthrough(walked):
    still = [slot.name for slot in LAYOUT if walked.low[slot.index] == walked.high[slot.index]]
    assert still == []
