"""Which numbers of an observation a potential may read."""

import numpy as np
from numpy.typing import NDArray

from rlaif.contracts.observation import LASTING_SLOTS, LAYOUT_VERSION, OBSERVATION_SIZE


def lasting_slots(layout_version: str, inputs: int) -> NDArray[np.int64]:
    """Indices of the slots that last; all of them in a layout that this program does not know."""
    if layout_version == LAYOUT_VERSION and inputs == OBSERVATION_SIZE:
        return np.array(LASTING_SLOTS, np.int64)
    return np.arange(inputs)
