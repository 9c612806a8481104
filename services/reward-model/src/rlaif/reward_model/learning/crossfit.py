"""Every episode ranked by a network that never saw it, so that all episodes are evidence."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rlaif.reward_model.labels.labels import LabelledSegment, in_order
from rlaif.reward_model.labels.preferences import Preference
from rlaif.reward_model.labels.split import position
from rlaif.reward_model.learning.evaluation import Accuracy
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_model.learning.split_halves import (
    HELDOUT_STREAM,
    Side,
    accuracy_on,
    chosen,
    make_side,
    side_statistics,
)
from rlaif.reward_net.network import RewardNet
from rlaif.reward_net.potential import PotentialFunction

MOST_FOLDS = 5
"""Parts into which all episodes are divided, of two episodes at least."""

MOST_SEGMENTS = 640
"""Newest segments that are looked at; with more the answer is sure anyway, only slower."""


@dataclass(frozen=True)
class Crossfit:
    """All episodes, each ranked by a network of the others.

    Attributes:
        side: The newest segments of both sides. Its pairs are inside a fold: networks of different
            folds have no common scale.
        fold: `[N]`: the part that each segment is in.
        statistics: `[N]`: what the network of the other parts says of each, in units of the scale.
        nets: The networks that were fitted.
    """

    side: Side
    fold: NDArray[np.int64]
    statistics: NDArray[np.float64]
    nets: tuple[RewardNet, ...]

    @property
    def spread(self) -> float:
        """Logits in one unit of the statistics, the mean of the networks."""
        return float(np.mean([net.spec.spread for net in self.nets])) if self.nets else 1.0

    def accuracy(self, settings: CandidateSettings) -> Accuracy:
        """Over all decided pairs."""
        return accuracy_on(self.statistics, self.side, settings)


@dataclass(frozen=True)
class Parts:
    """Whole episodes, dealt to parts; nothing is fitted yet.

    Attributes:
        side: The newest segments of both sides. Its pairs are inside a part.
        fold: `[N]`: the part that each segment is in.
        asked: A part's own segments and pairs, part by part.
    """

    side: Side
    fold: NDArray[np.int64]
    asked: tuple[Side, ...]


def deal_episodes(train: Side, heldout: Side, settings: CandidateSettings) -> Parts:
    """Deal the newest episodes of both sides to parts."""
    segments = newest([*train.segments, *heldout.segments])
    fold = _folds([item.episode_id for item in segments])
    asked: list[Side] = []
    pairs: list[Preference] = []
    for part in range(fold.max() + 1):
        inside = chosen(segments, fold == part)
        places = np.flatnonzero(fold == part)
        asked.append(make_side("part", inside, settings, stream=HELDOUT_STREAM))
        pairs += [
            replace(item, a=int(places[item.a]), b=int(places[item.b]))
            for item in asked[-1].preferences
        ]
    return Parts(Side("crossfit", segments, pairs), fold, tuple(asked))


def cross_fit(
    parts: Parts, nets: Sequence[RewardNet | None], settings: CandidateSettings
) -> Crossfit:
    """Rank each part by the network of the others; without one it says 0 of each segment."""
    statistics = np.zeros(len(parts.fold))
    for part, (asked, net) in enumerate(zip(parts.asked, nets, strict=True)):
        if net is not None:
            found = side_statistics(PotentialFunction(net), asked, settings) / net.spec.scale
            statistics[parts.fold == part] = found
    fitted = tuple(net for net in nets if net is not None)
    return Crossfit(parts.side, parts.fold, statistics, fitted)


def _folds(episode_ids: Sequence[str]) -> NDArray[np.int64]:
    """`[N]`: the part of each segment's episode, by hash, so that no label and no order has a say.

    The parts have equally many episodes, or one more.
    """
    episodes = sorted(set(episode_ids), key=position)
    parts = max(2, min(MOST_FOLDS, len(episodes) // 2))
    part = {episode: place % parts for place, episode in enumerate(episodes)}
    return np.array([part[name] for name in episode_ids], np.int64)


def newest(segments: Sequence[LabelledSegment]) -> list[LabelledSegment]:
    """The newest `MOST_SEGMENTS`, in the order of their ids."""
    return sorted(in_order(segments)[-MOST_SEGMENTS:], key=lambda item: item.segment_id)
