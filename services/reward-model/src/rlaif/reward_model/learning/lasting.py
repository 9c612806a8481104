"""Which numbers of an observation a potential may read, and how far a step in each of them is."""

import numpy as np
from numpy.typing import NDArray

from rlaif.contracts.observation import LASTING_SLOTS, LAYOUT, LAYOUT_VERSION, OBSERVATION_SIZE

_PLACE = {"player_x": 3.0, "player_y": 3.0}
_ROOM = 2.0
_MOST_TO_BE_HAD = {"rupees": 20.0, "bombs": 5.0, "max_health": 5.0}
"""What a count is stretched by where a game shows but a small part of its scale."""


def is_known_layout(layout_version: str, inputs: int) -> bool:
    """Whether this program knows what each number of the layout means."""
    return (layout_version, inputs) == (LAYOUT_VERSION, OBSERVATION_SIZE)


def lasting_slots(layout_version: str, inputs: int) -> NDArray[np.int64]:
    """Indices of the slots that last; all of them in a layout that this program does not know."""
    if is_known_layout(layout_version, inputs):
        return np.array(LASTING_SLOTS, np.int64)
    return np.arange(inputs)


def input_gains(layout_version: str, inputs: int) -> NDArray[np.float64]:
    """`[inputs]`: by how much each number is stretched to compare observations; 0 is not read.

    Slots are scaled to the most that a game can show, so that twenty coins are 0.02 and a room lies
    within 0.7. Stretched, one more of what is counted is about 1, as a flag is, and a walk through
    a room about 3. A fit folds them into its first weights: no reader has to know of them.
    """
    gains = np.zeros(inputs)
    for at in lasting_slots(layout_version, inputs):
        gains[at] = 1.0
        if is_known_layout(layout_version, inputs):
            slot = LAYOUT[at]
            counted = slot.scale if slot.scale <= _LARGEST_COUNT else 1.0
            gains[at] = _PLACE.get(
                slot.name,
                _MOST_TO_BE_HAD.get(slot.name, _ROOM if slot.group == "room" else counted),
            )
    return gains


_LARGEST_COUNT = 16.0
