"""Merges near-duplicates: segments with nearly equal observations become one weighted label.

An agent that stands still or stays in a menu produces the same segment repeatedly. Such segments
would fill the pairs, and one on each side of the split would leak held-out labels. A label that was
seen in many episodes is typical of the policy, so its weight grows with the logarithm of their
number; copies within one episode count once. Episodes are the independent units, so the share of
each in the total weight is limited.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rlaif.reward_model.labels.labels import LabelledSegment

HASH_BITS = 64
MAX_DIFFERENT_BITS = 2
"""Bits by which near-duplicates may differ: an angle of about 6 degrees. Half a tile of wall that
differs throughout the segment makes 7 bits."""

MAX_LABEL_WEIGHT = 4.0
"""Weight of a label seen in eight or more episodes; a label seen in one has weight 1."""

MAX_EPISODE_SHARE = 0.1
"""Of the total weight; twice an equal share while there are fewer than twenty episodes."""

_ROUNDS = 50
_ROWS = 8
_PLANES_SEED = 1717


def simhashes(segments: Sequence[LabelledSegment]) -> NDArray[np.uint64]:
    """`[N]`: SimHash of each segment's observations."""
    places = [np.linspace(0, len(i.observations) - 1, _ROWS).round().astype(int) for i in segments]
    features = np.stack(
        [item.observations[at].ravel() for item, at in zip(segments, places, strict=True)]
    )
    planes = np.random.default_rng(_PLANES_SEED).standard_normal(
        (features.shape[1], HASH_BITS), dtype=np.float32
    )
    bits = features @ planes > 0
    return np.packbits(bits, axis=1).view(np.uint64).ravel()


def merge_duplicates(segments: Sequence[LabelledSegment]) -> list[LabelledSegment]:
    """One label per group of near-duplicates; all are of one observation layout.

    The first of a group represents it, with the group's mean values over the judged criteria. A
    person's score is not averaged with those of judges. A comparison of any member counts for the
    group; several of the same two groups are averaged.
    """
    if not segments:
        return []
    hashes = simhashes(segments)
    free = np.ones(len(segments), bool)
    groups: list[list[LabelledSegment]] = []
    for index in range(len(segments)):
        if not free[index]:
            continue
        distance = _bits(hashes ^ hashes[index])
        near = np.flatnonzero(free & (distance <= MAX_DIFFERENT_BITS))
        near = near[near >= index]
        free[near] = False
        groups.append([segments[place] for place in near.tolist()])
    if len(groups) == len(segments):
        return [group[0] for group in groups]
    representative = {item.segment_id: group[0].segment_id for group in groups for item in group}
    return [_merged(group, representative) for group in groups]


def _merged(group: list[LabelledSegment], representative: Mapping[str, str]) -> LabelledSegment:
    first = group[0]
    decided = max(item.revision for item in group)
    trusted = [item for item in group if item.revision == decided] if decided else group
    preferred = _gathered(first, (item.preferred for item in trusted), representative)
    voted = _gathered(first, (item.voted for item in group), representative)
    first = replace(
        first,
        preferred={other: float(np.mean(each)) for other, each in preferred.items()},
        voted={other: sum(each) for other, each in voted.items()},
    )
    if len(group) == 1:
        return first
    usable = [item for item in trusted if item.weights == first.weights] or [first]
    names = [name for name in first.weights if any(name in item.values for item in usable)]
    means = {
        name: float(np.mean([item.values[name] for item in usable if name in item.values]))
        for name in names
    }
    episodes = {item.episode_id for item in group}
    return replace(first, values=means, revision=decided, copies=len(group), seen_in=len(episodes))


def _gathered(
    first: LabelledSegment,
    answers: Iterable[Mapping[str, float]],
    representative: Mapping[str, str],
) -> dict[str, list[float]]:
    """Representative of another group → all answers about the two groups."""
    found: dict[str, list[float]] = {}
    for row in answers:
        for other, value in row.items():
            found.setdefault(representative.get(other, other), []).append(value)
    found.pop(first.segment_id, None)
    return found


def label_weights(segments: Sequence[LabelledSegment]) -> NDArray[np.float64]:
    """`[N]` in (0, `MAX_LABEL_WEIGHT`]: weight of each label in the fit."""
    return _by_spread(segments) * episode_factors(segments)


def episode_factors(segments: Sequence[LabelledSegment]) -> NDArray[np.float64]:
    """`[N]` in (0, 1]: below 1 for episodes with more than their share."""
    if not segments:
        return np.empty(0)
    names, place = np.unique([item.episode_id for item in segments], return_inverse=True)
    totals = np.bincount(place, _by_spread(segments))
    share = max(MAX_EPISODE_SHARE, min(1.0, 2.0 / len(names)))
    capped = totals
    # Capping one episode lowers the total and thereby the limit of the others.
    for _ in range(_ROUNDS):
        capped = np.minimum(totals, share * capped.sum())
    factors: NDArray[np.float64] = (capped / totals)[place]
    return factors


def _by_spread(segments: Sequence[LabelledSegment]) -> NDArray[np.float64]:
    seen_in = np.array([item.seen_in for item in segments], np.float64)
    return np.minimum(MAX_LABEL_WEIGHT, 1.0 + np.log2(seen_in))


def _bits(words: NDArray[np.uint64]) -> NDArray[np.int64]:
    bits = np.unpackbits(words.view(np.uint8).reshape(-1, 8), axis=1)
    counts: NDArray[np.int64] = bits.sum(axis=1, dtype=np.int64)
    return counts
