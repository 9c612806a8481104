"""Cross-fitting: every episode is ranked by a network that was fitted to other episodes."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rlaif.reward_model.labels.labels import LabelledSegment, in_order
from rlaif.reward_model.labels.preferences import sample_preferences
from rlaif.reward_model.learning.fit.bradley_terry import fit_parts
from rlaif.reward_model.learning.fit.sides import HELDOUT_STREAM, Side
from rlaif.reward_model.learning.gate.evaluation import (
    NOT_MEASURED,
    accuracy_on,
    calibrate,
    differences,
)
from rlaif.reward_model.learning.gate.folds import CrossFit, Folds
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_net.potential import PotentialFunction

_NEW_SHARE = 0.25
_SEED_OFFSET = 104729
"""Offset of the seed of check fits: their initial weights differ from the candidate's."""


def cross_fit(folds: Folds, train: Side, settings: CandidateSettings) -> CrossFit:
    """Fit one network per fold, and one to the older episodes."""
    side, fold = folds.side, folds.fold
    newer = _in_newest_episodes(side.segments)
    parts = [*(fold != at for at in range(int(fold.max()) + 1)), ~newer]
    *nets, forward = fit_parts(side, parts, settings, seed=settings.seed + _SEED_OFFSET)
    statistics = np.zeros(len(fold))
    for at, net in enumerate(nets):
        if net is not None:
            inside = fold == at
            unit = net.spec.spread / net.spec.scale
            statistics[inside] = side.pay(PotentialFunction(net))[inside] * unit
    known = {item.segment_id for item in train.segments}
    inside_train = [item.segment_id in known for item in side.segments]
    pairs = [item for item in side.decided if inside_train[item.a] and inside_train[item.b]]
    asked = np.flatnonzero(newer)
    rng = np.random.default_rng([settings.seed, HELDOUT_STREAM])
    new_side = side.with_pairs(sample_preferences(side.table, rng=rng, inside=asked))
    return CrossFit(
        side,
        fold,
        statistics,
        forward=NOT_MEASURED
        if forward is None
        else accuracy_on(side.pay(PotentialFunction(forward)), new_side, seed=settings.seed),
        calibration=calibrate(*differences(statistics, pairs)),
    )


def _in_newest_episodes(segments: Sequence[LabelledSegment]) -> NDArray[np.bool_]:
    """`[N]`: in the newest quarter of the episodes, by the middle of each episode."""
    places: dict[str, list[int]] = {}
    for place, item in enumerate(in_order(segments)):
        places.setdefault(item.episode_id, []).append(place)
    by_age = sorted(places, key=lambda name: sum(places[name]) / len(places[name]))
    newest = set(by_age[-max(1, int(len(by_age) * _NEW_SHARE)) :])
    return np.array([item.episode_id in newest for item in segments])
