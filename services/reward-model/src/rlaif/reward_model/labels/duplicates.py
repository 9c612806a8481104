"""Near-duplicates: segments that show nearly the same all along become one label.

An agent that stands still or sits in a menu makes the same segment again and again. Left in, such
segments fill the pairs, and one on each side of the split tells the held-out side's answers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rlaif.reward_model.labels.labels import LabelledSegment

HASH_BITS = 64
MOST_DIFFERENT_BITS = 2
"""Bits by which two segments may differ. Of 64 random planes that is an angle of about 6 degrees;
one half tile of wall that differs through the whole segment makes 7."""

_ROWS = 8
_PLANES_SEED = 1717


def simhashes(segments: Sequence[LabelledSegment]) -> NDArray[np.uint64]:
    """`[N]` uint64: the SimHash of the observations of at least one segment; no label has a say."""
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
    """One label for each group of near-duplicates; all are of one observation layout.

    The first of a group stands for it, in the order given: its values are the group's means over
    the criteria that were judged; `copies` says how many they are, and `seen_in` of how many
    episodes. A label that a person gave is not averaged with those of judges. A comparison of
    any of a group counts for the group, several of the same two groups as their mean.
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
        near = np.flatnonzero(free & (distance <= MOST_DIFFERENT_BITS))
        near = near[near >= index]
        free[near] = False
        groups.append([segments[place] for place in near.tolist()])
    if len(groups) == len(segments):
        return [group[0] for group in groups]
    stands_for = {item.segment_id: group[0].segment_id for group in groups for item in group}
    return [_together(group, stands_for) for group in groups]


def _together(group: list[LabelledSegment], stands_for: Mapping[str, str]) -> LabelledSegment:
    first = group[0]
    decided = max(item.revision for item in group)
    trusted = [item for item in group if item.revision == decided] if decided else group
    first = replace(
        first,
        preferred=_preferred(first, trusted, stands_for),
        voted=_voted(first, group, stands_for),
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


def _preferred(
    first: LabelledSegment, group: list[LabelledSegment], stands_for: Mapping[str, str]
) -> dict[str, float]:
    """What was said of any of the group beside others; a group is not compared with itself."""
    said: dict[str, list[float]] = {}
    for item in group:
        for other, share in item.preferred.items():
            said.setdefault(stands_for.get(other, other), []).append(share)
    said.pop(first.segment_id, None)
    return {other: float(np.mean(shares)) for other, shares in said.items()}


def _voted(
    first: LabelledSegment, group: list[LabelledSegment], stands_for: Mapping[str, str]
) -> dict[str, float]:
    """What people said of any of the group beside others, likewise."""
    said: dict[str, float] = {}
    for item in group:
        for other, lean in item.voted.items():
            name = stands_for.get(other, other)
            said[name] = said.get(name, 0.0) + lean
    said.pop(first.segment_id, None)
    return said


def _bits(words: NDArray[np.uint64]) -> NDArray[np.int64]:
    """How many bits are set in each word."""
    bits = np.unpackbits(words.view(np.uint8).reshape(-1, 8), axis=1)
    counts: NDArray[np.int64] = bits.sum(axis=1, dtype=np.int64)
    return counts
