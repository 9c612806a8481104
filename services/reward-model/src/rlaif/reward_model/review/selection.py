"""Selects pairs that people should compare.

Two of three pairs are in dispute: the networks of the ensemble disagree, the judges' votes hardly
order the two, or the reward model ranks them against the judges. Every third pair is uniform over
the held-out side: agreement on hard pairs only would say nothing about the judges.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlaif.contracts.judging.reviews import WhyReviewed
from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.learning.fit.sides import Side, split_sides
from rlaif.reward_model.learning.pair_selection import (
    Ids,
    Limits,
    Ranked,
    clear,
    disagreement,
    draw_pairs,
    interleave,
    member_rises,
    recency,
    take,
)
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_net.network import RewardNet

MAX_PAIRS = 48
"""Half an hour of a person's time; the next training replaces the list."""

_LIMITS = Limits(MAX_PAIRS, per_segment=1, per_episode=4)
_STREAM = 101


@dataclass(frozen=True)
class ReviewPair:
    """Two segments, `first` with the smaller id.

    `information` is 0 where nothing is in dispute, at most 1.
    """

    first: str
    second: str
    why: WhyReviewed
    information: float

    @property
    def ids(self) -> Ids:
        return self.first, self.second


def pairs_to_review(
    labels: Sequence[LabelledSegment],
    net: RewardNet | None,
    known: Collection[Ids],
    settings: CandidateSettings,
) -> tuple[ReviewPair, ...]:
    """At most `MAX_PAIRS` distinct pairs, most wanted first; none of `known`.

    Without a network only the judges' disagreement counts. No pair consists of near-duplicates or
    contains a segment that a person scored. Equal arguments give equal pairs.
    """
    if len(labels) < 2:
        return ()
    train, heldout = split_sides(labels, settings)
    rng = np.random.default_rng([settings.seed, _STREAM, len(labels), len(known)])
    disputed = _review_pairs(train, _disputed(train, net, rng), known)
    uniform = _review_pairs(heldout, _uniform(heldout, rng), known)
    if not disputed:
        disputed = _review_pairs(train, _uniform(train, rng), known)
    return tuple(interleave(disputed, uniform, every=3))[:MAX_PAIRS]


def dispute(
    side: Side, net: RewardNet | None, pairs: NDArray[np.int64]
) -> tuple[NDArray[np.float64], list[WhyReviewed]]:
    """(`[P]` how much each of the `[P, 2]` pairs is in dispute, the main reason of each)."""
    a, b = pairs[:, 0], pairs[:, 1]
    compared = side.table.compare(a, b)
    margin = np.nan_to_num(compared.margin)
    parts: list[tuple[WhyReviewed, NDArray[np.float64]]] = [
        ("judges", _wrong_order(margin, compared.deviation))
    ]
    if net is not None:
        rises = member_rises(net, side)
        differences = rises[:, a] - rises[:, b]
        parts.append(("networks", disagreement(differences) * clear(differences)))
        against = np.sign(differences.mean(axis=0)) * np.sign(margin) < 0
        certainty = np.abs(2.0 * compared.target - 1.0) * compared.decided
        parts.append(("judges_against_model", certainty * against))
    table = np.stack([part for _, part in parts])
    return table.max(axis=0), [parts[at][0] for at in table.argmax(axis=0).tolist()]


def _wrong_order(
    margin: NDArray[np.float64], deviation: NDArray[np.float64]
) -> NDArray[np.float64]:
    """`[P]` in [0, 1]: twice the probability that the votes' order is wrong."""
    distance = np.abs(margin) / np.where(deviation > 0, deviation, 1.0)
    doubt = np.array([math.erfc(value / math.sqrt(2.0)) for value in distance.tolist()])
    return np.where(deviation > 0, doubt, 0.0)


def _disputed(side: Side, net: RewardNet | None, rng: np.random.Generator) -> Ranked[WhyReviewed]:
    pairs = draw_pairs(recency(side.segments), rng)
    if not len(pairs):
        return Ranked(pairs, np.empty(0), [])
    information, why = dispute(side, net, pairs)
    order = np.argsort(-information, kind="stable")
    order = order[information[order] > 0]
    return Ranked(pairs[order], information[order], [why[at] for at in order.tolist()])


def _uniform(side: Side, rng: np.random.Generator) -> Ranked[WhyReviewed]:
    pairs = draw_pairs(np.ones(len(side.segments)), rng)
    return Ranked(pairs, np.zeros(len(pairs)), ["uniform"] * len(pairs))


def _review_pairs(
    side: Side, ranked: Ranked[WhyReviewed], known: Collection[Ids]
) -> list[ReviewPair]:
    return [ReviewPair(*ids, why, value) for ids, value, why in take(side, ranked, known, _LIMITS)]
