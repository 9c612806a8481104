"""Weight of each label: more if it was seen in many episodes, limited per episode.

Near-duplicates are one label (`duplicates.py`). A label seen in many episodes shows what the policy
does, so its weight grows with the logarithm of their number. Copies within one episode count once.
Episodes are the independent units, so none has more than a share of the whole weight.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rlaif.reward_model.labels.labels import LabelledSegment

MAX_LABEL_WEIGHT = 4.0
"""Reached by a label seen in eight episodes; a label seen in one has weight 1."""

MAX_EPISODE_SHARE = 0.1
"""Of the whole weight; twice an equal share while there are fewer than twenty episodes."""

_ROUNDS = 50


def label_weights(segments: Sequence[LabelledSegment]) -> NDArray[np.float64]:
    """`[N]` in (0, `MAX_LABEL_WEIGHT`]: weight of each label in the fit."""
    return _by_spread(segments) * episode_factors(segments)


def episode_factors(segments: Sequence[LabelledSegment]) -> NDArray[np.float64]:
    """`[N]` in (0, 1]: below 1 for episodes with more than their share."""
    if not segments:
        return np.empty(0)
    names, place = np.unique([item.episode_id for item in segments], return_inverse=True)
    totals = np.bincount(place, _by_spread(segments))
    share = max(MAX_EPISODE_SHARE, min(1.0, 2.0 / len(names)))
    capped = totals
    # Capping one episode lowers the total and thereby the limit of the others.
    for _ in range(_ROUNDS):
        capped = np.minimum(totals, share * capped.sum())
    factors: NDArray[np.float64] = (capped / totals)[place]
    return factors


def _by_spread(segments: Sequence[LabelledSegment]) -> NDArray[np.float64]:
    seen_in = np.array([item.seen_in for item in segments], np.float64)
    return np.minimum(MAX_LABEL_WEIGHT, 1.0 + np.log2(seen_in))
