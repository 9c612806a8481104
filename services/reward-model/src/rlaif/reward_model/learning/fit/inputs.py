"""Which slots of an observation a potential may read, and how they are scaled for a fit."""

import numpy as np
from numpy.typing import NDArray

from rlaif.contracts.game.observation import LASTING_SLOTS, LAYOUT, LAYOUT_VERSION, OBSERVATION_SIZE

_GAINS = {"player_x": 3.0, "player_y": 3.0, "rupees": 20.0, "bombs": 5.0, "max_health": 5.0}
"""Gains of slots of which a game shows only a small part of the scale, and of positions."""

_ROOM_GAIN = 2.0
_MAX_COUNT = 16.0


def is_known_layout(layout_version: str, inputs: int) -> bool:
    """Whether the meaning of the slots is known."""
    return (layout_version, inputs) == (LAYOUT_VERSION, OBSERVATION_SIZE)


def lasting_slots(layout_version: str, inputs: int) -> NDArray[np.int64]:
    """Indices of slots whose value lasts; all slots of an unknown layout.

    A potential reads no others: changes of a transient slot (menu, text, facing) would be rewarded.
    """
    if is_known_layout(layout_version, inputs):
        return np.array(LASTING_SLOTS, np.int64)
    return np.arange(inputs)


def input_gains(layout_version: str, inputs: int) -> NDArray[np.float64]:
    """`[inputs]`: factor per slot that makes slots comparable; 0 for slots that are not read.

    Slots are scaled to the largest possible value, so twenty coins are 0.02. With the gains, one
    more of a counted thing is about 1, as a flag is, and a walk across a room about 3. A fit folds
    the gains into its first layer.
    """
    gains = np.zeros(inputs)
    for at in lasting_slots(layout_version, inputs):
        gains[at] = 1.0
        if is_known_layout(layout_version, inputs):
            slot = LAYOUT[at]
            counted = slot.scale if slot.scale <= _MAX_COUNT else 1.0
            gains[at] = _GAINS.get(slot.name, _ROOM_GAIN if slot.group == "room" else counted)
    return gains
