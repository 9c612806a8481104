"""Selects pairs of segments that should be compared side by side, by judges or by people.

Most are disputed pairs of the training side, near the current policy, from which the model learns.
Some are drawn uniformly from the held-out side for measurements, so that the accuracy on them is
not that of hard pairs only. Pairs across the split would serve neither purpose.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rlaif.contracts.judging.comparisons import WantedPair
from rlaif.contracts.judging.reviews import WhyReviewed
from rlaif.reward_model.labels.labels import LabelledSegment, in_order
from rlaif.reward_model.learning.fit.sides import Side, split_sides
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_net.pay import DISCOUNT, segment_pay
from rlaif.reward_net.potential import PotentialFunction
from rlaif.reward_net.weights import Weighted

MAX_WANTED = 64
"""Judges compare some 10 pairs per minute; the next training replaces the list."""

MAX_REVIEWED = 48
"""Half an hour of a person's time; the next training replaces the list."""

_DRAWN = 4096
_DOUBLINGS = 4.0
"""The newest segment is drawn 2^4 times as often as the oldest."""

_EPISODE_SHARE = 2.0
_MIN_PER_EPISODE = 4

Ids = tuple[str, str]
Floats = NDArray[np.float64]
Dispute = Callable[[Side, NDArray[np.int64]], tuple[Floats, list[WhyReviewed]]]
"""(`[P]` how much each of the `[P, 2]` pairs of a side is in dispute, the main reason of each)."""


class SelectedPair(NamedTuple):
    """Two segments, the smaller id first; `information` is 0 without dispute, at most 1."""

    ids: Ids
    why: WhyReviewed
    information: float


@dataclass(frozen=True)
class _Plan:
    """Number of pairs, and how many may share a segment; every n-th is uniform."""

    pairs: int
    per_segment: int
    every: int
    stream: int


_FOR_JUDGES = _Plan(MAX_WANTED, per_segment=2, every=5, stream=99)
_FOR_PEOPLE = _Plan(MAX_REVIEWED, per_segment=1, every=3, stream=101)


def pairs_to_compare(
    net: Weighted,
    labels: Sequence[LabelledSegment],
    compared: Collection[Ids],
    settings: CandidateSettings,
) -> tuple[WantedPair, ...]:
    """At most `MAX_WANTED` pairs for judges, most wanted first; none of `compared`.

    The members of the ensemble disagree about them, or they are uniform. None for a single network.
    Equal arguments give equal pairs.
    """
    if net.spec.members == 1:
        return ()
    known = {*compared, *((i.segment_id, other) for i in labels for other in i.preferred)}
    found = _select(labels, known, settings, _FOR_JUDGES, lambda s, p: _networks(net, s, p))
    return tuple(
        WantedPair(
            first=ids[0],
            second=ids[1],
            why="uniform" if why == "uniform" else "uncertain",
            uncertainty=value,
        )
        for ids, why, value in found
    )


def pairs_to_review(
    labels: Sequence[LabelledSegment],
    net: Weighted | None,
    known: Collection[Ids],
    settings: CandidateSettings,
) -> list[SelectedPair]:
    """At most `MAX_REVIEWED` distinct pairs for people, most wanted first; none of `known`.

    Without a network only the judges' disagreement counts. No pair consists of near-duplicates or
    contains a segment that a person scored. Equal arguments give equal pairs.
    """
    if len(labels) < 2:
        return []
    return _select(labels, known, settings, _FOR_PEOPLE, lambda s, p: dispute(s, net, p))


def dispute(
    side: Side, net: Weighted | None, pairs: NDArray[np.int64]
) -> tuple[Floats, list[WhyReviewed]]:
    """How much pairs are in dispute; see `Dispute`.

    The networks disagree, the judges' votes are nearly tied, or the reward model contradicts the
    judges.
    """
    a, b = pairs[:, 0], pairs[:, 1]
    compared = side.table.compare(a, b)
    margin = np.nan_to_num(compared.margin)
    parts: list[tuple[WhyReviewed, Floats]] = [("judges", _wrong_order(margin, compared.deviation))]
    if net is not None:
        rises = member_rises(net, side)
        against = np.sign((rises[:, a] - rises[:, b]).mean(axis=0)) * np.sign(margin) < 0
        certainty = np.abs(2.0 * compared.target - 1.0) * compared.decided
        parts.append(("networks", _networks(net, side, pairs)[0]))
        parts.append(("judges_against_model", certainty * against))
    table = np.stack([part for _, part in parts])
    return table.max(axis=0), [parts[at][0] for at in table.argmax(axis=0).tolist()]


def member_rises(net: Weighted, side: Side) -> Floats:
    """`[members, N]`: shaping reward of each segment by each member alone."""
    ends = side.ends.reshape(-1, side.ends.shape[2])
    potentials = np.tanh(PotentialFunction(net).normalised(ends).astype(np.float64))
    steps = np.array([item.decision_steps - 1 for item in side.segments], np.float64)
    return segment_pay(potentials[:, 0::2], potentials[:, 1::2], steps=steps, gamma=DISCOUNT)


def disagreement(differences: Floats) -> Floats:
    """`[P]` in [0, 1] of `[members, P]`: 0 if all members agree, 1 if they are split in half."""
    higher, lower = (differences > 0).mean(axis=0), (differences < 0).mean(axis=0)
    shares: Floats = 2.0 * np.minimum(higher, lower)
    return shares


def clear(differences: Floats) -> NDArray[np.bool_]:
    """`[P]`: the half with the larger spread; for smaller spreads the order is noise."""
    spread = differences.std(axis=0)
    found: NDArray[np.bool_] = spread >= (np.median(spread) if len(spread) else 0.0)
    return found


def _networks(
    net: Weighted, side: Side, pairs: NDArray[np.int64]
) -> tuple[Floats, list[WhyReviewed]]:
    rises = member_rises(net, side)
    differences = rises[:, pairs[:, 0]] - rises[:, pairs[:, 1]]
    return disagreement(differences) * clear(differences), ["networks"] * len(pairs)


def _wrong_order(margin: Floats, deviation: Floats) -> Floats:
    """`[P]` in [0, 1]: twice the probability that the votes' order is wrong."""
    distance = np.abs(margin) / np.where(deviation > 0, deviation, 1.0)
    doubt = np.array([math.erfc(value / math.sqrt(2.0)) for value in distance.tolist()])
    return np.where(deviation > 0, doubt, 0.0)


def _select(
    labels: Sequence[LabelledSegment],
    known: Collection[Ids],
    settings: CandidateSettings,
    plan: _Plan,
    measure: Dispute,
) -> list[SelectedPair]:
    train, heldout = split_sides(labels, settings)
    rng = np.random.default_rng([settings.seed, plan.stream, len(labels), len(known)])

    def drawn(side: Side, *, uniform: bool) -> list[SelectedPair]:
        pairs = _draw(np.ones(len(side.segments)) if uniform else _recency(side.segments), rng)
        if not len(pairs):
            return []
        information, reasons = measure(side, pairs)
        order = np.argsort(-information, kind="stable")
        order = np.arange(len(pairs)) if uniform else order[information[order] > 0]
        why: list[WhyReviewed] = ["uniform"] * len(pairs) if uniform else reasons
        rows = [(pairs[at].tolist(), why[at], float(information[at])) for at in order.tolist()]
        return _take(side, rows, known, plan)

    measuring, teaching = drawn(heldout, uniform=True), drawn(train, uniform=False)
    teaching = teaching or drawn(train, uniform=True)
    found = []
    for at in range(plan.pairs):
        first, second = (
            (measuring, teaching) if at % plan.every == plan.every - 1 else (teaching, measuring)
        )
        if source := first or second:
            found.append(source.pop(0))
    return found


def _take(
    side: Side,
    rows: Sequence[tuple[tuple[int, int], WhyReviewed, float]],
    known: Collection[Ids],
    plan: _Plan,
) -> list[SelectedPair]:
    """The first pairs that are not known and within the limits.

    Segments that a person scored are left out: a comparison counts for judges' scores only.
    """
    per_episode = max(_MIN_PER_EPISODE, round(_EPISODE_SHARE * 2 * plan.pairs / side.episodes))
    asked = {(min(ids), max(ids)) for ids in known}
    taken: Counter[str] = Counter()
    found: list[SelectedPair] = []
    for (a, b), why, information in rows:
        first, second = sorted((side.segments[a], side.segments[b]), key=lambda i: i.segment_id)
        ids, episodes = (first.segment_id, second.segment_id), (first.episode_id, second.episode_id)
        if ids in asked or first.revision or second.revision:
            continue
        if any(taken[name] >= plan.per_segment for name in ids) or any(
            taken[name] >= per_episode for name in episodes
        ):
            continue
        asked.add(ids)
        taken.update((*ids, *episodes))
        found.append(SelectedPair(ids, why, information))
        if len(found) == plan.pairs:
            break
    return found


def _draw(weights: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
    """`[P, 2]`: pairs of two segments, each drawn by its weight."""
    if len(weights) < 2:
        return np.empty((0, 2), np.int64)
    drawn = rng.choice(len(weights), size=(_DRAWN, 2), p=weights / weights.sum())
    pairs: NDArray[np.int64] = drawn[drawn[:, 0] != drawn[:, 1]]
    return pairs


def _recency(segments: Sequence[LabelledSegment]) -> Floats:
    """`[N]`: draw weight; it doubles `_DOUBLINGS` times from the oldest to the newest segment."""
    place = {item.segment_id: at for at, item in enumerate(in_order(segments))}
    ages = np.array([place[item.segment_id] for item in segments], np.float64)
    return np.exp2(_DOUBLINGS * ages / max(1, len(segments) - 1))
