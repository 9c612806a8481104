"""Do the labels follow what was seen at all? An exact test, with whole episodes as its unit.

If they do not, the labels of two episodes can be exchanged and nothing changes. So their blocks
are dealt to other episodes, 2,000 times; all is learned again from each deal, and the figure
of the true labels is put beside those. What the labels of one episode have in common, they have
in common in each deal too.

Learning again is what makes it exact: with the predictions left as they were, the folds' networks
and their tests share labels, and chance looks surer than it is by up to a factor of 2 in variance.
Networks cannot be fitted 2,000 times, but a potential with a Gaussian process before it can: its
predictions are a matrix times the labels, worth = Phi(last) - Phi(first) with Phi from a squared
exponential kernel on the slots that last. So this speaks of the labels, not of a network; each
network has to show besides that it learned them.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.labels.preferences import Preference
from rlaif.reward_model.learning.evaluation import even_weights
from rlaif.reward_model.learning.lasting import lasting_slots

DEALS = 2000
_WIDTH = 1.0
"""Length of the kernel, in units of the observation; one bit of the room makes places differ."""

_NOISE = 0.1
"""Variance of a label over that of the potential."""

_CHUNK = 250


@dataclass(frozen=True)
class PermutationTest:
    """Attributes: accuracy: of the true labels; p: of it, or more, if labels were dealt."""

    accuracy: float
    p: float


def permutation_test(
    segments: list[LabelledSegment],
    worth: NDArray[np.float64],
    pairs: list[Preference],
    fold: NDArray[np.int64],
    *,
    rng: np.random.Generator,
) -> PermutationTest | None:
    """Test the labels of `segments`; None when no pair of a known worth is decided.

    Args:
        segments: N of them, of one layout.
        worth: `[N]`; NaN where it is not known.
        pairs: Inside the folds; which of them are decided tells the tie band's share.
        fold: `[N]`.
        rng: Deals.
    """
    usable = np.isfinite(worth)
    ends = np.array([(i.a, i.b) for i in pairs if usable[i.a] and usable[i.b]], np.int64)
    decided = [abs(i.margin) for i in pairs if i.decided]
    if not len(ends) or not decided:
        return None
    deals = np.concatenate([np.arange(len(worth))[None], _deals(segments, rng)])
    smoother = _smoother(segments, usable, fold)
    _, numbers = np.unique([item.episode_id for item in segments], return_inverse=True)
    weight = even_weights(numbers.astype(np.int64))[ends].prod(axis=1)
    known = np.where(usable, worth, np.nanmean(worth))
    scores = np.concatenate(
        [
            _scores(known[chunk], smoother, ends, weight, min(decided))
            for chunk in np.array_split(deals, math.ceil(len(deals) / _CHUNK))
        ]
    )
    return PermutationTest(float(scores[0]), _tail(float(scores[0]), scores[1:]))


def _deals(segments: list[LabelledSegment], rng: np.random.Generator) -> NDArray[np.int64]:
    """`[DEALS, N]`: whose label each segment gets.

    Each episode gets the block of another one, in its order; where they are not equally long, each
    segment gets the one that stands at its share of the way.
    """
    blocks: dict[str, list[int]] = {}
    for place in sorted(range(len(segments)), key=lambda at: _moment(segments[at])):
        blocks.setdefault(segments[place].episode_id, []).append(place)
    own = [np.array(block) for block in blocks.values()]
    spread = {
        (len(one), len(other)): ((np.arange(len(one)) + 0.5) * len(other) / len(one)).astype(int)
        for one in own
        for other in own
    }
    deals = np.zeros((DEALS, len(segments)), np.int64)
    for deal in deals:
        for mine, other in zip(own, rng.permutation(len(own)).tolist(), strict=True):
            given = own[other]
            deal[mine] = given[spread[len(mine), len(given)]]
    return deals


def _moment(item: LabelledSegment) -> tuple[int, str]:
    return item.start_step, item.segment_id


def _smoother(
    segments: list[LabelledSegment], usable: NDArray[np.bool_], fold: NDArray[np.int64]
) -> NDArray[np.float64]:
    """`[N, N]`: times the labels it is what the others' labels say of each segment."""
    read = lasting_slots(segments[0].layout_version, segments[0].observations.shape[1])
    first = np.stack([item.observations[0, read] for item in segments]).astype(np.float64)
    last = np.stack([item.observations[-1, read] for item in segments]).astype(np.float64)
    # Covariance of two rises of one potential.
    rises = _kernel(last, last) - _kernel(last, first) - _kernel(first, last)
    rises += _kernel(first, first)
    found = np.zeros_like(rises)
    for part in range(fold.max() + 1):
        inside, known = fold == part, usable & (fold != part)
        if not known.any():
            continue
        system = rises[np.ix_(known, known)] + _NOISE * np.eye(known.sum())
        found[np.ix_(inside, known)] = np.linalg.solve(system, rises[np.ix_(known, inside)]).T
    return found


def _kernel(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    square = np.square(one).sum(axis=1)[:, None] + np.square(other).sum(axis=1) - 2 * one @ other.T
    values: NDArray[np.float64] = np.exp(-square / (2 * _WIDTH**2))
    return values


def _scores(
    labels: NDArray[np.float64],
    smoother: NDArray[np.float64],
    ends: NDArray[np.int64],
    weight: NDArray[np.float64],
    band: float,
) -> NDArray[np.float64]:
    """`[D]`: share of the decided pairs that are ranked right, for `[D, N]` labels."""
    a, b = ends.T
    said = (labels @ smoother.T).astype(np.float32)
    agreement = np.sign(said[:, a] - said[:, b])
    margin = labels[:, a] - labels[:, b]
    decided = weight * (np.abs(margin) >= band - 1e-9)
    total = decided.sum(axis=1)
    right = (agreement * np.sign(margin) * decided).sum(axis=1)
    scores: NDArray[np.float64] = 0.5 + 0.5 * right / np.where(total > 0, total, 1.0)
    return scores


def _tail(score: float, dealt: NDArray[np.float64]) -> float:
    """P of `score` or more: counted, and beyond what can be counted by a normal tail."""
    above = int((dealt >= score - 1e-12).sum())
    counted = (above + 1) / (len(dealt) + 1)
    deviation = float(dealt.std())
    if above or deviation == 0.0:
        return counted
    normal = 0.5 * math.erfc((score - float(dealt.mean())) / deviation / math.sqrt(2.0))
    return min(counted, normal)
