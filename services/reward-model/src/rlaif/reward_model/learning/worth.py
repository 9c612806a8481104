"""One number a segment: what its labels say it is worth, as the pairs have it."""

import numpy as np
from numpy.typing import NDArray

from rlaif.reward_model.labels.preferences import PairTable
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_model.learning.split_halves import Side


def worths(side: Side, settings: CandidateSettings) -> NDArray[np.float64]:
    """`[N]`: the mean margin of each segment over all others; NaN where nothing is comparable.

    Where every criterion was judged this is the label less its mean, so differences of two of them
    are the margins of the pairs.
    """
    table = PairTable(side.segments, settings.pairs)
    count = len(side.segments)
    others = np.arange(count)
    found = np.full(count, np.nan)
    for at in range(count):
        margin = table.compare(np.full(count, at), others).margin
        usable = np.isfinite(margin) & (others != at)
        if usable.any():
            found[at] = margin[usable].mean()
    return found
