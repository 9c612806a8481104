"""What comes later counts less: game frames of a decision in, its discount out.

gamma^(frames / 4): as much for a second that passes in one long decision as in fifteen short ones
(a semi-Markov decision process; Sutton, Precup & Singh 1999). Where every decision is one step, as
the seeds have it, each discounts by gamma once, whatever it waited for.
"""

import numpy as np
import numpy.typing as npt

from rlaif.trainer.settings.game import STEP_FRAMES

Float32 = npt.NDArray[np.float32]
Int32 = npt.NDArray[np.int32]


def discounts(frames: Int32 | None, gamma: float) -> float | Float32:
    """Discount of what follows each decision; one number for all where `frames` is None.

    Args:
        frames: `[T, N] int32`, game frames of each decision.
        gamma: Discount of four frames, above 0.
    """
    if frames is None:
        return gamma
    powers: Float32 = np.power(gamma, frames / STEP_FRAMES).astype(np.float32)
    return powers


def discount_of(frames: int, gamma: float) -> float:
    """That of so many frames."""
    return float(gamma ** (frames / STEP_FRAMES))
