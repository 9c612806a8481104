"""Selects pairs of segments that should be compared side by side, by judges or by people.

Most pairs teach: they are of the training side, near the present policy, and in dispute. Some pairs
measure: they are of the held-out side and drawn uniformly, so that the accuracy on them is not that
of hard pairs only. Pairs across the split could do neither.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from rlaif.contracts.judging.comparisons import WantedPair, WhyCompared
from rlaif.reward_model.labels.labels import LabelledSegment, in_order
from rlaif.reward_model.learning.fit.sides import Side, split_sides
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_net.network import RewardNet
from rlaif.reward_net.pay import DISCOUNT, segment_pay
from rlaif.reward_net.potential import PotentialFunction

MAX_WANTED = 64
"""Judges compare some 10 pairs per minute; the next training replaces the list."""

_STREAM = 99
_DRAWN = 4096
_DOUBLINGS = 4.0
"""The newest segment is drawn 2^4 times as often as the oldest."""

_EPISODE_SHARE = 2.0
_MIN_PER_EPISODE = 4

Ids = tuple[str, str]
Reason = TypeVar("Reason", bound=str)
T = TypeVar("T")


@dataclass(frozen=True)
class Ranked(Generic[Reason]):
    """Pairs in order of preference: `[P, 2]` indices, `[P]` information in [0, 1], reasons."""

    pairs: NDArray[np.int64]
    information: NDArray[np.float64]
    reasons: Sequence[Reason]


@dataclass(frozen=True)
class Limits:
    """How many pairs are taken, and how many may share a segment or an episode."""

    pairs: int
    per_segment: int
    per_episode: int


def pairs_to_compare(
    net: RewardNet,
    labels: Sequence[LabelledSegment],
    compared: Collection[Ids],
    settings: CandidateSettings,
) -> tuple[WantedPair, ...]:
    """At most `MAX_WANTED` pairs for judges, most wanted first; none of `compared`.

    Pairs that the members of the ensemble disagree about, and every fifth one uniform. None for a
    single network. Equal arguments give equal pairs.
    """
    if net.spec.members == 1:
        return ()
    train, heldout = split_sides(labels, settings)
    known = {*compared, *((i.segment_id, other) for i in labels for other in i.preferred)}
    rng = np.random.default_rng([settings.seed, _STREAM, len(labels), len(compared)])
    found = []
    rankings = (_uniform(heldout, net, rng), _disputed(train, net, rng))
    for side, ranked in zip((heldout, train), rankings, strict=True):
        share = _EPISODE_SHARE * 2 * MAX_WANTED / max(1, side.episodes)
        limits = Limits(MAX_WANTED, 2, max(_MIN_PER_EPISODE, round(share)))
        found.append(
            [
                WantedPair(first=ids[0], second=ids[1], why=why, uncertainty=value)
                for ids, value, why in take(side, ranked, known, limits)
            ]
        )
    measuring, teaching = found
    teaching = teaching[: MAX_WANTED - min(len(measuring), MAX_WANTED // 5)]
    return tuple(interleave(teaching, measuring[: MAX_WANTED - len(teaching)], every=5))


def member_rises(net: RewardNet, side: Side) -> NDArray[np.float64]:
    """`[members, N]`: shaping reward of each segment by each member alone."""
    if not side.segments:
        return np.empty((net.spec.members, 0))
    ends = side.ends.reshape(-1, side.ends.shape[2])
    potentials = np.tanh(PotentialFunction(net).normalised(ends).astype(np.float64))
    steps = np.array([item.decision_steps - 1 for item in side.segments], np.float64)
    return segment_pay(potentials[:, 0::2], potentials[:, 1::2], steps=steps, gamma=DISCOUNT)


def disagreement(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    """`[P]` in [0, 1] of `[members, P]`: 0 if all members agree, 1 if they are split in half."""
    higher, lower = (differences > 0).mean(axis=0), (differences < 0).mean(axis=0)
    shares: NDArray[np.float64] = 2.0 * np.minimum(higher, lower)
    return shares


def clear(differences: NDArray[np.float64]) -> NDArray[np.bool_]:
    """`[P]`: the half with the larger spread; where members say nearly nothing, order is noise."""
    spread = differences.std(axis=0)
    found: NDArray[np.bool_] = spread >= (np.median(spread) if len(spread) else 0.0)
    return found


def draw_pairs(weights: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """`[P, 2]`: pairs of two segments, each drawn by its weight."""
    if len(weights) < 2:
        return np.empty((0, 2), np.int64)
    drawn = rng.choice(len(weights), size=(_DRAWN, 2), p=weights / weights.sum())
    pairs: NDArray[np.int64] = drawn[drawn[:, 0] != drawn[:, 1]]
    return pairs


def recency(segments: Sequence[LabelledSegment]) -> NDArray[np.float64]:
    """`[N]`: draw weight of each segment; it doubles some times from the oldest to the newest."""
    place = {item.segment_id: at for at, item in enumerate(in_order(segments))}
    ages = np.array([place[item.segment_id] for item in segments], np.float64)
    return np.exp2(_DOUBLINGS * ages / max(1, len(segments) - 1))


def take(
    side: Side, ranked: Ranked[Reason], known: Collection[Ids], limits: Limits
) -> list[tuple[Ids, float, Reason]]:
    """The first ranked pairs that are not known and within the limits; ids in order.

    Segments that a person scored are left out: a comparison counts for judges' scores only.
    """
    asked = {(min(ids), max(ids)) for ids in known}
    of_segment: Counter[str] = Counter()
    of_episode: Counter[str] = Counter()
    found: list[tuple[Ids, float, Reason]] = []
    rows = zip(ranked.pairs.tolist(), ranked.information.tolist(), ranked.reasons, strict=True)
    for (a, b), value, reason in rows:
        ends = side.segments[a], side.segments[b]
        first, second = sorted(item.segment_id for item in ends)
        ids, episodes = (first, second), [item.episode_id for item in ends]
        if ids in asked or any(item.revision for item in ends):
            continue
        if any(of_segment[name] >= limits.per_segment for name in ids):
            continue
        if any(of_episode[name] >= limits.per_episode for name in episodes):
            continue
        asked.add(ids)
        of_segment.update(ids)
        of_episode.update(episodes)
        found.append((ids, value, reason))
        if len(found) == limits.pairs:
            break
    return found


def interleave(most: Sequence[T], others: Sequence[T], *, every: int) -> list[T]:
    """`most` with one of `others` at every n-th place, then the rest."""
    found: list[T] = []
    left, rest = iter(most), iter(others)
    for at in range(len(most) + len(others)):
        one, other = (rest, left) if at % every == every - 1 else (left, rest)
        item = next(one, None)
        item = next(other, None) if item is None else item
        if item is not None:
            found.append(item)
    return found


def _disputed(side: Side, net: RewardNet, rng: np.random.Generator) -> Ranked[WhyCompared]:
    pairs = draw_pairs(recency(side.segments), rng)
    rises = member_rises(net, side)
    differences = rises[:, pairs[:, 0]] - rises[:, pairs[:, 1]]
    shares = disagreement(differences)
    good = np.flatnonzero((shares > 0) & clear(differences))
    best = good[np.argsort(-shares[good], kind="stable")]
    return Ranked(pairs[best], shares[best], ["uncertain"] * len(best))


def _uniform(side: Side, net: RewardNet, rng: np.random.Generator) -> Ranked[WhyCompared]:
    pairs = draw_pairs(np.ones(len(side.segments)), rng)
    rises = member_rises(net, side)
    differences = rises[:, pairs[:, 0]] - rises[:, pairs[:, 1]]
    return Ranked(pairs, disagreement(differences), ["uniform"] * len(pairs))
