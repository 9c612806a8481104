"""The folds of a cross-fit and its results: every episode in one fold."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlaif.contracts.reward_model_rest import MeasuredAccuracy
from rlaif.reward_model.labels.labels import in_order
from rlaif.reward_model.labels.preferences import PairTable, Preference, sample_preferences
from rlaif.reward_model.learning.fit.sides import HELDOUT_STREAM, Side, position
from rlaif.reward_model.learning.gate.evaluation import Calibration
from rlaif.reward_model.learning.settings import CandidateSettings

MAX_FOLDS = 5
MAX_SEGMENTS = 640
"""Maximum number of segments, the newest; more would only take longer."""


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
            units of r: objectives, if judges gave positions.
        forward: Newest quarter of the episodes, ranked by a network fitted to the older ones.
        calibration: Fitted on the training episodes.
    """

    statistics: NDArray[np.float64]
    forward: MeasuredAccuracy
    calibration: Calibration


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
