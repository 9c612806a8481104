"""The picture of a question: the emulator's screen in, a JPEG for a language model out."""

import numpy as np
import numpy.typing as npt

from rlaif.game.machine.pictures import jpeg

QUALITY = 75
"""The seeds' own, as the size is: 320 by 288, each pixel of the game four."""

_SCALE = 2


def question_picture(screen: npt.NDArray[np.uint8]) -> bytes:
    """JPEG of 320 by 288 pixels from `[144, 160, 3] uint8` RGB; about a millisecond, 10 kB.

    Pixels are repeated and not smoothed: the game's edges stay edges.
    """
    larger = np.ascontiguousarray(screen.repeat(_SCALE, axis=0).repeat(_SCALE, axis=1))
    return jpeg(larger, quality=QUALITY)
