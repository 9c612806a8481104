"""Which pairs of segments judges should compare next: labels and members' answers in, pairs out.

Most pairs are to teach. They are of the training side, near to how the policy plays now (pairs that
are merely informative are often of play that the policy has left behind, and do not help it), and
such that the members of the ensemble disagree about the order. The rest are to measure: of the
held-out side and drawn from all of its pairs alike, so that the accuracy on them is not that of
hard pairs only. Pairs across the split could do neither.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlaif.contracts.comparisons import WantedPair, WhyCompared
from rlaif.reward_model.labels.labels import LabelledSegment, in_order

MOST_PAIRS = 64
"""Of one list; judges compare some 10 a minute, and the next training writes the next list."""

_UNIFORM_EVERY = 5
"""Every fifth pair of a list is one to measure: judges begin at its head."""

_DRAWN = 4096
_DOUBLINGS = 4.0
"""The newest segment is drawn 2^4 times as often as the oldest."""
_MOST_OF_A_SEGMENT = 2
_TIMES_AN_EQUAL_SHARE = 2.0
"""An episode may take part in so many times its equal share of the pairs."""
_LEAST_OF_AN_EPISODE = 4

Ids = tuple[str, str]


@dataclass(frozen=True)
class Answers:
    """The segments of one side, and how far each member says that the potential rose in each.

    `rises` is `[members, N]`: what the trainer would pay if that member were alone.
    """

    segments: Sequence[LabelledSegment]
    rises: NDArray[np.float64]


def wanted_pairs(
    train: Answers, heldout: Answers, compared: Collection[Ids], rng: np.random.Generator
) -> tuple[WantedPair, ...]:
    """At most `MOST_PAIRS` pairs, most wanted first; none twice, and none of `compared`.

    Segments that a person labelled are left out: a comparison counts for judges' scores only. Both
    sides are without near-duplicates.
    """
    known = {_ids(a, b) for a, b in compared}
    measuring = _spread(heldout, _uniform(heldout, rng), known, "uniform")
    room = MOST_PAIRS - min(len(measuring), MOST_PAIRS // _UNIFORM_EVERY)
    teaching = _spread(train, _disputed(train, rng), known, "uncertain")[:room]
    measuring = measuring[: MOST_PAIRS - len(teaching)]
    return tuple(_interleaved(teaching, measuring))


def uncertainty(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    """`[P]` in [0, 1] of `[members, P]`: 0 where all agree, 1 where they are half against half.

    A member to whom both are alike has no say; where all are, nobody disagrees.
    """
    higher, lower = (differences > 0).mean(axis=0), (differences < 0).mean(axis=0)
    shares: NDArray[np.float64] = 2.0 * np.minimum(higher, lower)
    return shares


@dataclass(frozen=True)
class _Drawn:
    """Pairs in the order in which they are wanted: `[P, 2]` indices, and `[P]` uncertainties."""

    pairs: NDArray[np.int64]
    uncertainty: NDArray[np.float64]


def _disputed(answers: Answers, rng: np.random.Generator) -> _Drawn:
    """New pairs about which the members disagree, the most disputed first.

    Where all members say nearly nothing, their order is noise and no dispute: of the drawn pairs
    the half with the smaller spread of answers is left out.
    """
    pairs = draw_pairs(recency(answers.segments), rng)
    differences = answers.rises[:, pairs[:, 0]] - answers.rises[:, pairs[:, 1]]
    shares, spread = uncertainty(differences), differences.std(axis=0)
    good = np.flatnonzero((shares > 0) & (spread >= np.median(spread)) if len(pairs) else [])
    best = good[np.argsort(-shares[good], kind="stable")]
    return _Drawn(pairs[best], shares[best])


def _uniform(answers: Answers, rng: np.random.Generator) -> _Drawn:
    """Pairs drawn from all alike."""
    pairs = draw_pairs(np.ones(len(answers.segments)), rng)
    differences = answers.rises[:, pairs[:, 0]] - answers.rises[:, pairs[:, 1]]
    return _Drawn(pairs, uncertainty(differences))


def draw_pairs(weights: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """`[P, 2]`: pairs of two segments, each drawn by its weight."""
    if len(weights) < 2:
        return np.empty((0, 2), np.int64)
    drawn = rng.choice(len(weights), size=(_DRAWN, 2), p=weights / weights.sum())
    pairs: NDArray[np.int64] = drawn[drawn[:, 0] != drawn[:, 1]]
    return pairs


def recency(segments: Sequence[LabelledSegment]) -> NDArray[np.float64]:
    """`[N]`: how often each is drawn; from the oldest to the newest it doubles some times."""
    place = {item.segment_id: at for at, item in enumerate(in_order(segments))}
    ages = np.array([place[item.segment_id] for item in segments], np.float64)
    return np.exp2(_DOUBLINGS * ages / max(1, len(segments) - 1))


def _spread(
    answers: Answers, drawn: _Drawn, known: Collection[Ids], why: WhyCompared
) -> list[WantedPair]:
    """The first of the drawn pairs, no segment and no episode too often."""
    segments = answers.segments
    episodes = len({item.episode_id for item in segments})
    share = _TIMES_AN_EQUAL_SHARE * 2 * MOST_PAIRS / max(1, episodes)
    most_of_an_episode = max(_LEAST_OF_AN_EPISODE, round(share))
    of_segment: Counter[str] = Counter()
    of_episode: Counter[str] = Counter()
    chosen: dict[Ids, WantedPair] = {}
    for (a, b), doubt in zip(drawn.pairs.tolist(), drawn.uncertainty.tolist(), strict=True):
        ends = segments[a], segments[b]
        ids = _ids(ends[0].segment_id, ends[1].segment_id)
        asked = ids in known or ends[1].segment_id in ends[0].preferred
        if asked or ids in chosen or any(item.revision for item in ends):
            continue
        if any(of_segment[name] >= _MOST_OF_A_SEGMENT for name in ids):
            continue
        if any(of_episode[item.episode_id] >= most_of_an_episode for item in ends):
            continue
        of_segment.update(ids)
        of_episode.update(item.episode_id for item in ends)
        chosen[ids] = WantedPair(first=ids[0], second=ids[1], why=why, uncertainty=doubt)
        if len(chosen) == MOST_PAIRS:
            break
    return list(chosen.values())


def _interleaved(teaching: list[WantedPair], measuring: list[WantedPair]) -> list[WantedPair]:
    """Four to teach, one to measure, and so on; then what is left."""
    found: list[WantedPair] = []
    left, others = iter(teaching), iter(measuring)
    for at in range(len(teaching) + len(measuring)):
        one, other = (others, left) if at % _UNIFORM_EVERY == _UNIFORM_EVERY - 1 else (left, others)
        pair = next(one, None) or next(other, None)
        if pair is not None:
            found.append(pair)
    return found


def _ids(a: str, b: str) -> Ids:
    return (a, b) if a < b else (b, a)
