"""The game's RAM as a second referee: what it counts as progress must not be paid less.

RAM's levels are never taught. They are coarse, and a judge that knows the quest may know better, so
they ask for little: that segments which RAM puts at the top are not surely ranked below those which
it puts at the bottom.
"""

import numpy as np

from rlaif.reward_model.labels.preferences import Preference
from rlaif.reward_model.learning.split_halves import Side

_CRITERION = "progress"
_CLEAR = 2
"""Levels by which two segments must differ to differ clearly; there are three."""

_MOST_PAIRS = 4000
_SEED = 11


def referee_side(side: Side) -> Side:
    """The side with those pairs about which RAM has a clear opinion, between episodes."""
    levels = np.array([item.ram.get(_CRITERION, -1) for item in side.segments])
    more, less = np.flatnonzero(levels >= _CLEAR), np.flatnonzero(levels == 0)
    a, b = np.repeat(more, len(less)), np.tile(less, len(more))
    episodes = side.episode_numbers
    between = np.flatnonzero(episodes[a] != episodes[b])
    if len(between) > _MOST_PAIRS:
        between = np.random.default_rng(_SEED).choice(between, _MOST_PAIRS, replace=False)
    pairs = [
        Preference(int(a[at]), int(b[at]), margin=1.0, decided=True, target=1.0, weight=1.0)
        for at in between.tolist()
    ]
    return Side("ram", side.segments, pairs)
