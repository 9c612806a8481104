"""Cross-fitting: every episode is ranked by a network that was fitted to other episodes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlaif.reward_model.labels.labels import LabelledSegment, in_order
from rlaif.reward_model.labels.preferences import PairTable, Preference, sample_preferences
from rlaif.reward_model.learning.fit.bradley_terry import fit_parts
from rlaif.reward_model.learning.fit.sides import HELDOUT_STREAM, Side, position
from rlaif.reward_model.learning.gate.evaluation import (
    Accuracy,
    Calibration,
    accuracy_on,
    calibrate,
    differences,
)
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_net.potential import PotentialFunction

MAX_FOLDS = 5
MAX_SEGMENTS = 640
"""Newest segments that are used; more only take longer."""

_NEW_SHARE = 0.25
_SEED_OFFSET = 104729
"""Check fits start from other weights than the candidate."""


@dataclass(frozen=True)
class Folds:
    """The newest segments of both sides, divided by episode.

    Attributes:
        side: Pairs are inside a fold: networks of different folds have no common scale.
        fold: `[N]`: fold of each segment.
    """

    side: Side
    fold: NDArray[np.int64]


@dataclass(frozen=True)
class CrossFit(Folds):
    """Folds with the statistics of their networks.

    Attributes:
        statistics: `[N]`: shaping reward of each segment by the network of the other folds, in
            units of the scale.
        forward: Newest quarter of the episodes, ranked by a network fitted to the older ones.
        calibration: Fitted on the training episodes; see `temperature`.
        spread: Mean spread of the networks.
    """

    statistics: NDArray[np.float64]
    forward: Accuracy
    calibration: Calibration
    spread: float

    def temperature(self, spread: float) -> float:
        """The calibration's temperature for a network with another spread."""
        return self.calibration.temperature * spread / self.spread


def make_folds(train: Side, heldout: Side, settings: CandidateSettings) -> Folds:
    """Divide the newest episodes of both sides into folds of equally many episodes, by hash."""
    newest = in_order([*train.segments, *heldout.segments])[-MAX_SEGMENTS:]
    segments = sorted(newest, key=lambda item: item.segment_id)
    episodes = sorted({item.episode_id for item in segments}, key=position)
    count = max(2, min(MAX_FOLDS, len(episodes) // 2))
    number = {episode: place % count for place, episode in enumerate(episodes)}
    fold = np.array([number[item.episode_id] for item in segments])
    table = PairTable(segments)
    pairs: list[Preference] = []
    for at in range(count):
        rng = np.random.default_rng([settings.seed, HELDOUT_STREAM])
        pairs += sample_preferences(table, rng=rng, inside=np.flatnonzero(fold == at))
    return Folds(Side("crossfit", segments, table, pairs), fold)


def cross_fit(folds: Folds, train: Side, settings: CandidateSettings) -> CrossFit:
    """Fit one network per fold, and one to the older episodes."""
    side, fold = folds.side, folds.fold
    newer = _in_newest_episodes(side.segments)
    parts = [*(fold != at for at in range(int(fold.max()) + 1)), ~newer]
    *nets, forward = fit_parts(side, parts, settings, seed=settings.seed + _SEED_OFFSET)
    statistics = np.zeros(len(fold))
    spreads = []
    for at, net in enumerate(nets):
        if net is not None:
            inside = fold == at
            statistics[inside] = side.pay(PotentialFunction(net))[inside] / net.spec.scale
            spreads.append(net.spec.spread)
    spread = float(np.mean(spreads)) if spreads else 1.0
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
        forward=Accuracy()
        if forward is None
        else accuracy_on(side.pay(PotentialFunction(forward)), new_side, seed=settings.seed),
        calibration=calibrate(*differences(statistics * spread, pairs)),
        spread=spread,
    )


def _in_newest_episodes(segments: Sequence[LabelledSegment]) -> NDArray[np.bool_]:
    """`[N]`: in the newest quarter of the episodes, by the middle of each episode."""
    places: dict[str, list[int]] = {}
    for place, item in enumerate(in_order(segments)):
        places.setdefault(item.episode_id, []).append(place)
    by_age = sorted(places, key=lambda name: sum(places[name]) / len(places[name]))
    newest = set(by_age[-max(1, int(len(by_age) * _NEW_SHARE)) :])
    return np.array([item.episode_id in newest for item in segments])
