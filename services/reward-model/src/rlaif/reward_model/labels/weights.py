"""How much each label counts: more where the policy is often, never more for one stuffed episode.

Near-duplicates are one label (`duplicates.py`). What is seen in many episodes is what the policy
does, so such a label counts more, by the logarithm of their number. Copies within one episode count
once: standing still for an hour says nothing that a minute of it does not.

No episode has more than a share of the whole weight, however many segments were captured of it:
episodes are what varies independently, and one that could outvote the others would decide the fit.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rlaif.reward_model.labels.labels import LabelledSegment

MOST_OF_A_LABEL = 4.0
"""Weight of a label that was seen in eight episodes or more; 1 is that of a label seen in one."""

MOST_OF_AN_EPISODE = 0.1
"""Share of the whole weight; twice an equal share while there are fewer than twenty episodes."""

_ROUNDS = 50


def label_weights(segments: Sequence[LabelledSegment]) -> NDArray[np.float64]:
    """`[N]`, above 0 and at most `MOST_OF_A_LABEL`: how much each label counts in the fit."""
    return _by_spread(segments) * episode_factors(segments)


def episode_factors(segments: Sequence[LabelledSegment]) -> NDArray[np.float64]:
    """`[N]` in (0, 1]: below 1 for labels of episodes that have more than their share."""
    if not segments:
        return np.empty(0)
    names, place = np.unique([item.episode_id for item in segments], return_inverse=True)
    totals = np.bincount(place, _by_spread(segments))
    share = max(MOST_OF_AN_EPISODE, min(1.0, 2.0 / len(names)))
    capped = totals
    # Cutting one episode lowers the whole, and with it what the others may have.
    for _ in range(_ROUNDS):
        capped = np.minimum(totals, share * capped.sum())
    factors: NDArray[np.float64] = (capped / totals)[place]
    return factors


def _by_spread(segments: Sequence[LabelledSegment]) -> NDArray[np.float64]:
    seen_in = np.array([item.seen_in for item in segments], np.float64)
    return np.minimum(MOST_OF_A_LABEL, 1.0 + np.log2(seen_in))
