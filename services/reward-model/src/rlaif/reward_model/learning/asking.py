"""What a fitted ensemble wants to know: the pairs about whose pay its members disagree most."""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from rlaif.contracts.comparisons import WantedPair
from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.labels.wanted import Answers, Ids, wanted_pairs
from rlaif.reward_model.learning.candidate import split_sides
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_net.network import RewardNet
from rlaif.reward_net.pay import DISCOUNT, segment_pay
from rlaif.reward_net.potential import PotentialFunction

_STREAM = 99
"""Of random numbers, apart from those that a fit draws."""


def pairs_to_ask(
    net: RewardNet,
    labels: Sequence[LabelledSegment],
    compared: Collection[Ids],
    settings: CandidateSettings,
) -> tuple[WantedPair, ...]:
    """The pairs of `labels` that judges should compare, most wanted first.

    None from a single network, which cannot disagree. `labels` are those that `net` was fitted to,
    of its layout; pairs of `compared` were asked before. Equal arguments give equal pairs.
    """
    if net.spec.members == 1:
        return ()
    train, heldout = split_sides(labels, settings)
    rng = np.random.default_rng([settings.seed, _STREAM, len(labels), len(compared)])
    answers = [
        Answers(side.segments, member_rises(net, side.segments)) for side in (train, heldout)
    ]
    return wanted_pairs(answers[0], answers[1], compared, rng)


def member_rises(net: RewardNet, segments: Sequence[LabelledSegment]) -> NDArray[np.float64]:
    """`[members, N]`: what the trainer would pay for each segment if that member were alone."""
    if not segments:
        return np.empty((net.spec.members, 0))
    ends = np.concatenate([item.observations[[0, -1]] for item in segments])
    potentials = np.tanh(PotentialFunction(net).normalised(ends).astype(np.float64))
    steps = np.array([item.decision_steps - 1 for item in segments], np.float64)
    return segment_pay(potentials[:, 0::2], potentials[:, 1::2], steps=steps, gamma=DISCOUNT)
