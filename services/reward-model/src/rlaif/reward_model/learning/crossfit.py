"""What the labels can teach at all: the recipe tried on parts of them, apart from the candidate.

Three questions, each answered by small fits (one network, the newest segments):

fold      Is there a signal? Every training episode is predicted by a network that never saw it. The
          held-out quarter alone is few segments: a gate on it lets noise pass now and then (3 of 10
          runs of pure noise within ten looks, at 95 % confidence) or keeps a signal waiting.
forward   Does it hold for what comes next? The newest episodes, by a network fitted to older ones.
control   Is the measurement honest? The same recipe on shuffled labels, compared with shuffled
          held-out labels, must be right in half of the pairs. If it is better, the labels reach the
          network by another way, or the held-out side is not held out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rlaif.reward_model.labels.labels import LabelledSegment, in_order
from rlaif.reward_model.labels.preferences import Preference
from rlaif.reward_model.labels.split import position
from rlaif.reward_model.learning.calibration import Calibration, calibrate
from rlaif.reward_model.learning.evaluation import NOT_MEASURED, Accuracy, differences
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_model.learning.split_halves import (
    CONTROL_STREAM,
    HELDOUT_STREAM,
    TRAIN_STREAM,
    Side,
    accuracy_on,
    fit_side,
    make_side,
    side_statistics,
)
from rlaif.reward_net.potential import PotentialFunction

FOLDS = 3
"""Parts into which the training episodes are divided; the held-out side is one more."""

MOST_SEGMENTS = 320
"""Newest segments that are looked at; with more the answer is sure anyway, only slower."""

_NEW_SHARE = 0.25


@dataclass(frozen=True)
class CrossfitEvidence:
    """What the recipe shows on these labels; the folds' statistics are in logits."""

    folds: "FoldPairs"
    forward: Accuracy
    control: Accuracy
    calibration: Calibration


@dataclass(frozen=True)
class FoldPairs:
    """Statistics of segments and pairs among them; indices point into `statistics`."""

    statistics: NDArray[np.float64]
    preferences: list[Preference]

    def beside(self, side: Side, statistics: NDArray[np.float64]) -> "FoldPairs":
        """These pairs after those of another side, whose segments have `[N]` statistics.

        Only pairs inside a fold are compared: networks of different folds have no common scale.
        """
        known = len(side.segments)
        moved = [replace(item, a=item.a + known, b=item.b + known) for item in self.preferences]
        return FoldPairs(np.concatenate([statistics, self.statistics]), [*side.preferences, *moved])

    def accuracy(self, settings: CandidateSettings) -> Accuracy:
        """Accuracy over the pairs, each predicted from other episodes."""
        return accuracy_on(self.statistics, self.preferences, settings)


def gather_evidence(train: Side, heldout: Side, settings: CandidateSettings) -> CrossfitEvidence:
    """Answer the three questions; `heldout` helps to predict folds, and they never predict it."""
    folds = _predict_folds(train, heldout, settings)
    found, wanted = differences(folds.statistics, folds.preferences)
    return CrossfitEvidence(
        folds=folds,
        forward=_forward(train, heldout, settings),
        control=_control(train, heldout, settings),
        calibration=calibrate(found, wanted),
    )


def _predict_folds(train: Side, heldout: Side, settings: CandidateSettings) -> FoldPairs:
    statistics: list[NDArray[np.float64]] = []
    preferences: list[Preference] = []
    known = 0
    everything = _newest([*train.segments, *heldout.segments])
    for episodes in _folds(train):
        inside = [item for item in everything if item.episode_id in episodes]
        outside = [item for item in everything if item.episode_id not in episodes]
        predicted = _predict(outside, inside, settings)
        if predicted is None:
            continue
        tested, values = predicted
        statistics.append(values)
        preferences += [
            replace(item, a=item.a + known, b=item.b + known) for item in tested.preferences
        ]
        known += len(tested.segments)
    return FoldPairs(np.concatenate([np.empty(0), *statistics]), preferences)


def _forward(train: Side, heldout: Side, settings: CandidateSettings) -> Accuracy:
    """The newest quarter of the episodes, by their middle, by a network fitted to the others."""
    everything = in_order(_newest([*train.segments, *heldout.segments]))
    places: dict[str, list[int]] = {}
    for place, item in enumerate(everything):
        places.setdefault(item.episode_id, []).append(place)
    by_age = sorted(places, key=lambda name: sum(places[name]) / len(places[name]))
    new = set(by_age[-max(1, int(len(by_age) * _NEW_SHARE)) :])
    by_id = sorted(everything, key=lambda item: item.segment_id)
    older = [item for item in by_id if item.episode_id not in new]
    newer = [item for item in by_id if item.episode_id in new]
    return _predicted_accuracy(older, newer, settings)


def _control(train: Side, heldout: Side, settings: CandidateSettings) -> Accuracy:
    rng = np.random.default_rng([settings.seed, CONTROL_STREAM])
    everything = [*train.segments, *heldout.segments]
    order = rng.permutation(len(everything)).tolist()
    shuffled = [
        replace(item, values=everything[other].values, doubts=everything[other].doubts,
                weights=everything[other].weights, preferred={})
        for item, other in zip(everything, order, strict=True)
    ]  # fmt: skip
    learned = _newest(shuffled[: len(train.segments)])
    return _predicted_accuracy(learned, shuffled[len(train.segments) :], settings)


def _predicted_accuracy(
    learned: Sequence[LabelledSegment],
    tested: Sequence[LabelledSegment],
    settings: CandidateSettings,
) -> Accuracy:
    predicted = _predict(learned, tested, settings)
    if predicted is None:
        return NOT_MEASURED
    side, values = predicted
    return accuracy_on(values, side.preferences, settings)


def _predict(
    learned: Sequence[LabelledSegment],
    tested: Sequence[LabelledSegment],
    settings: CandidateSettings,
) -> tuple[Side, NDArray[np.float64]] | None:
    """(tested side, its statistics in logits by a network of the learned); None without pairs."""
    known = make_side("learned", list(learned), settings, stream=TRAIN_STREAM)
    asked = make_side("tested", list(tested), settings, stream=HELDOUT_STREAM)
    if not known.decided or not asked.decided:
        return None
    net = fit_side(known, settings, check=True)
    in_logits = net.spec.spread / net.spec.scale
    return asked, side_statistics(PotentialFunction(net), asked, settings) * in_logits


def _folds(train: Side) -> list[set[str]]:
    """The training episodes in parts, by hash, so that no label and no order has a say."""
    episodes = sorted({item.episode_id for item in train.segments}, key=position)
    return [set(episodes[start::FOLDS]) for start in range(FOLDS)]


def _newest(segments: Sequence[LabelledSegment]) -> list[LabelledSegment]:
    """The newest `MOST_SEGMENTS`, in the order of their ids."""
    return sorted(in_order(segments)[-MOST_SEGMENTS:], key=lambda item: item.segment_id)
