"""Every slot of the observation layout says something in the embedded game."""

import numpy as np

from rlaif.contracts.game.observation import LAYOUT


def test_every_slot_changes_somewhere_in_the_walkthrough(walked):
    still = [slot.name for slot in LAYOUT if walked.low[slot.index] == walked.high[slot.index]]
    assert still == []


def test_every_slot_stays_between_0_and_1(walked):
    assert np.isfinite(walked.low).all()
    assert walked.low.min() >= 0.0
    assert walked.high.max() <= 1.0
