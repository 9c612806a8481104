"""Which pairs a person should be shown next: labels and a network in, pairs out.

A person gives few votes, so most pairs are those about which something is in dispute: the networks
of the ensemble disagree, the judges' votes hardly order the two, or the reward model ranks them
against the judges. They are of the training side, where a vote teaches. Every third pair is of the
held-out side and drawn from all of its pairs alike: agreement on hard pairs only would tell
nothing of the judges, and a vote there examines the next candidate.
"""

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlaif.contracts.votes import WhyReviewed
from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.labels.preferences import PairTable
from rlaif.reward_model.labels.wanted import Ids, draw_pairs, recency, uncertainty
from rlaif.reward_model.learning.asking import member_rises
from rlaif.reward_model.learning.candidate import split_sides
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_net.network import RewardNet

MOST_PAIRS = 48
"""Of one list: half an hour of a person's time. The next training writes the next list."""

_UNIFORM_EVERY = 3
_MOST_OF_A_SEGMENT = 1
_MOST_OF_AN_EPISODE = 4
_STREAM = 101
"""Of random numbers, apart from those that a fit draws."""


@dataclass(frozen=True)
class ReviewPair:
    """Two segments that a person should compare; `first` has the smaller id.

    `information` is 0 where nothing is in dispute and 1 where it could not be more.
    """

    first: str
    second: str
    why: WhyReviewed
    information: float

    @property
    def ids(self) -> Ids:
        """Both segments."""
        return self.first, self.second


def pairs_to_review(
    labels: Sequence[LabelledSegment],
    net: RewardNet | None,
    known: Collection[Ids],
    settings: CandidateSettings,
) -> tuple[ReviewPair, ...]:
    """At most `MOST_PAIRS` pairs, most wanted first; none twice, and none of `known`.

    `labels` are of the network's layout; without one only the judges are asked. No pair is of two
    near-duplicates, and none has a segment that a person scored. Equal arguments, equal pairs.
    """
    if len(labels) < 2:
        return ()
    train, heldout = split_sides(labels, settings)
    rng = np.random.default_rng([settings.seed, _STREAM, len(labels), len(known)])
    disputed = _taken(train.segments, *_disputed(train.segments, net, settings, rng), known)
    alike = _taken(heldout.segments, *_alike(heldout.segments, rng), known)
    if not disputed:  # nothing is known that could be in dispute
        disputed = _taken(train.segments, *_alike(train.segments, rng), known)
    return tuple(_in_turns(disputed, alike))[:MOST_PAIRS]


def dispute(
    segments: Sequence[LabelledSegment],
    net: RewardNet | None,
    pairs: NDArray[np.int64],
    settings: CandidateSettings,
) -> tuple[NDArray[np.float64], list[WhyReviewed]]:
    """(`[P]` how much each of the `[P, 2]` pairs is in dispute, and what of it most)."""
    a, b = pairs[:, 0], pairs[:, 1]
    compared = PairTable(segments, settings.pairs).compare(a, b)
    margin = np.nan_to_num(compared.margin)
    parts: list[tuple[WhyReviewed, NDArray[np.float64]]] = [
        ("judges", _hardly_ordered(margin, compared.deviation))
    ]
    if net is not None:
        rises = member_rises(net, segments)
        differences = rises[:, a] - rises[:, b]
        # Where all say nearly nothing, their order is noise and no dispute.
        loud = differences.std(axis=0) >= np.median(differences.std(axis=0))
        parts.append(("networks", uncertainty(differences) * loud))
        against = np.sign(differences.mean(axis=0)) * np.sign(margin) < 0
        sure = np.abs(2.0 * compared.target - 1.0) * compared.decided
        parts.append(("judges_against_model", sure * against))
    table = np.stack([part for _, part in parts])
    names = [name for name, _ in parts]
    return table.max(axis=0), [names[at] for at in table.argmax(axis=0).tolist()]


def _hardly_ordered(
    margin: NDArray[np.float64], deviation: NDArray[np.float64]
) -> NDArray[np.float64]:
    """`[P]` in [0, 1]: twice the probability that the votes' order is the wrong one."""
    distance = np.abs(margin) / np.where(deviation > 0, deviation, 1.0)
    doubt = np.array([math.erfc(value / math.sqrt(2.0)) for value in distance.tolist()])
    return np.where(deviation > 0, doubt, 0.0)


_Drawn = tuple[NDArray[np.int64], NDArray[np.float64], Sequence[WhyReviewed]]


def _disputed(
    segments: Sequence[LabelledSegment],
    net: RewardNet | None,
    settings: CandidateSettings,
    rng: np.random.Generator,
) -> _Drawn:
    pairs = draw_pairs(recency(segments), rng)
    if not len(pairs):
        return pairs, np.empty(0), []
    information, why = dispute(segments, net, pairs, settings)
    order = np.argsort(-information, kind="stable")
    order = order[information[order] > 0]
    return pairs[order], information[order], [why[at] for at in order.tolist()]


def _alike(segments: Sequence[LabelledSegment], rng: np.random.Generator) -> _Drawn:
    pairs = draw_pairs(np.ones(len(segments)), rng)
    return pairs, np.zeros(len(pairs)), ["uniform"] * len(pairs)


def _taken(
    segments: Sequence[LabelledSegment],
    pairs: NDArray[np.int64],
    information: NDArray[np.float64],
    why: Sequence[WhyReviewed],
    known: Collection[Ids],
) -> list[ReviewPair]:
    """The first of the drawn pairs, no segment and no episode too often."""
    asked = {tuple(sorted(ids)) for ids in known}
    of_segment: Counter[str] = Counter()
    of_episode: Counter[str] = Counter()
    found: list[ReviewPair] = []
    for (a, b), value, reason in zip(pairs.tolist(), information.tolist(), why, strict=True):
        ends = segments[a], segments[b]
        first, second = sorted(item.segment_id for item in ends)
        episodes = [item.episode_id for item in ends]
        if (first, second) in asked or any(item.revision for item in ends):
            continue
        if of_segment[first] >= _MOST_OF_A_SEGMENT or of_segment[second] >= _MOST_OF_A_SEGMENT:
            continue
        if any(of_episode[name] >= _MOST_OF_AN_EPISODE for name in episodes):
            continue
        of_segment.update((first, second))
        of_episode.update(episodes)
        found.append(ReviewPair(first, second, reason, value))
        if len(found) == MOST_PAIRS:
            break
    return found


def _in_turns(disputed: list[ReviewPair], alike: list[ReviewPair]) -> list[ReviewPair]:
    """Two in dispute, one of all alike, and so on; then what is left."""
    found: list[ReviewPair] = []
    some, others = iter(disputed), iter(alike)
    for at in range(len(disputed) + len(alike)):
        one, other = (others, some) if at % _UNIFORM_EVERY == _UNIFORM_EVERY - 1 else (some, others)
        pair = next(one, None) or next(other, None)
        if pair is not None:
            found.append(pair)
    return found
