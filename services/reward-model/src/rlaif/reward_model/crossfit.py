"""Is there a signal in the labels at all? Every label is predicted by a network that never saw it.

The held-out quarter alone is few segments, so its accuracy is uncertain, and a gate on it either
lets noise pass now and then (3 of 10 runs of pure noise within ten looks, at 95 % confidence) or
keeps a real signal waiting. Predicting every episode from the others gives four times the evidence
for three more fits: noise passes in 1 of 13 runs, and a signal passes earlier.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rlaif.reward_model.evaluation import Accuracy, measure
from rlaif.reward_model.labels import LabelledSegment
from rlaif.reward_model.sides import (
    BOOTSTRAP_STREAM,
    HELDOUT_STREAM,
    TRAIN_STREAM,
    CandidateSettings,
    Side,
    fit_side,
    make_side,
    side_statistics,
)
from rlaif.reward_model.split import position
from rlaif.reward_net.potential import PotentialFunction

FOLDS = 3
"""Parts into which the training episodes are divided; the held-out side is one more."""

MOST_SEGMENTS = 240
"""Newest segments that are divided; with more the answer is sure anyway, only slower."""


def cross_fit(
    train: Side,
    heldout: Side,
    heldout_statistics: NDArray[np.float64],
    settings: CandidateSettings,
) -> Accuracy:
    """Accuracy over the labels of both sides, each predicted from other episodes.

    Only pairs inside a fold are compared: potentials of different networks have no common scale.

    Args:
        train: Training side.
        heldout: Held-out side.
        heldout_statistics: `[N]` float64, what the candidate says of the held-out segments.
        settings: Those of the candidate.
    """
    statistics, preferences = [heldout_statistics], list(heldout.preferences)
    known = len(heldout.segments)
    everything = _newest([*train.segments, *heldout.segments])
    for episodes in _folds(train):
        inside = [item for item in everything if item.episode_id in episodes]
        outside = [item for item in everything if item.episode_id not in episodes]
        tested = make_side("tested", inside, settings, stream=HELDOUT_STREAM)
        learned = make_side("learned", outside, settings, stream=TRAIN_STREAM)
        if not learned.decided or not tested.decided:
            continue
        potential = PotentialFunction(fit_side(learned, settings))
        statistics.append(side_statistics(potential, tested, settings))
        preferences += [
            replace(item, a=item.a + known, b=item.b + known) for item in tested.preferences
        ]
        known += len(tested.segments)
    return measure(
        np.concatenate(statistics),
        preferences,
        confidence=settings.gate.confidence,
        rng=np.random.default_rng([settings.seed, BOOTSTRAP_STREAM]),
    )


def _folds(train: Side) -> list[set[str]]:
    """The training episodes in parts, by hash, so that no label and no order has a say."""
    episodes = sorted({item.episode_id for item in train.segments}, key=position)
    return [set(episodes[start::FOLDS]) for start in range(FOLDS)]


def _newest(segments: Sequence[LabelledSegment]) -> list[LabelledSegment]:
    """The newest `MOST_SEGMENTS`, in the order of their ids."""
    newest = sorted(segments, key=lambda item: (item.env_step, item.segment_id))[-MOST_SEGMENTS:]
    return sorted(newest, key=lambda item: item.segment_id)
