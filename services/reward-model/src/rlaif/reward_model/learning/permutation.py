"""Do the labels follow what was seen at all? An exact test, with whole episodes as its unit.

If they do not, the labels of two episodes can be exchanged and nothing changes. So their blocks
are dealt to other episodes, 2,000 times; all is learned again from each deal, and the figure
of the true labels is put beside those. What the labels of one episode have in common, they have
in common in each deal too.

Learning again is what makes it exact. With the predictions left as they were, the folds' networks
and their tests share labels, and chance looks surer than it is by up to a factor of 2 in variance.
Networks cannot be fitted 2,000 times, but a potential that is a Gaussian process can: what it
predicts is a matrix times the labels. Phi has a squared exponential kernel on the slots that last;
it is taught where judges put the ends of segments on the quest, or else what each rise is worth.
So this speaks of the labels, not of a network; each network has to show besides that it learned
them.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.labels.preferences import Preference
from rlaif.reward_model.learning.evaluation import even_weights
from rlaif.reward_model.learning.lasting import input_gains

DEALS = 2000
_WIDTH = 3.0
"""Length of the kernel, in stretched inputs: another room is as far as a walk through one."""

_NOISE = 0.01
"""Variance of a label over that of the potential."""

_CHUNK = 250

_MOSTLY = 0.5
"""Share of the segments whose positions must be told to be taught."""


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
    taught, smoother = _learner(segments, worth, fold)
    _, numbers = np.unique([item.episode_id for item in segments], return_inverse=True)
    weight = even_weights(numbers.astype(np.int64))[ends].prod(axis=1)
    known = np.where(usable, worth, np.nanmean(worth))
    scores = np.concatenate(
        [
            _scores(
                taught[:, chunk].transpose(1, 0, 2).reshape(len(chunk), -1) @ smoother.T,
                known[chunk],
                ends,
                weight,
                min(decided),
            )
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
    flat = np.concatenate([np.array(block) for block in blocks.values()])
    lengths = np.array([len(block) for block in blocks.values()])
    starts = np.cumsum(lengths) - lengths
    mine = np.repeat(np.arange(len(lengths)), lengths)
    way = np.arange(len(flat)) - starts[mine] + 0.5
    deals = np.zeros((DEALS, len(segments)), np.int64)
    for deal in deals:
        given = rng.permutation(len(lengths))[mine]
        deal[flat] = flat[starts[given] + (way * lengths[given] / lengths[mine]).astype(np.int64)]
    return deals


def _moment(item: LabelledSegment) -> tuple[int, str]:
    return item.start_step, item.segment_id


def _learner(
    segments: list[LabelledSegment], worth: NDArray[np.float64], fold: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(`[K, N]` what is taught of each segment, `[N, K * N]` the matrix that makes rises of it).

    K is 2, the positions of both ends, where judges told most of them; else 1, the worth.
    """
    gains = input_gains(segments[0].layout_version, segments[0].observations.shape[1])
    ends = np.stack([item.observations[[0, -1]] for item in segments]).astype(np.float64) * gains
    first, last = ends[:, 0], ends[:, 1]
    told = np.array([item.positions is not None for item in segments])
    if told.mean() >= _MOSTLY:
        positions = np.array([item.positions or (np.nan, np.nan) for item in segments]).T
        taught = np.where(told, positions - np.nanmean(positions), 0.0)
        moments = np.concatenate([first, last])
        rises = _kernel(last, moments) - _kernel(first, moments)
        return taught, _smoother(_kernel(moments, moments), rises, np.tile(told, 2), fold)
    usable = np.isfinite(worth)
    taught = np.where(usable, worth - np.nanmean(worth), 0.0)[None]
    # Covariance of two rises of one potential.
    rises = _kernel(last, last) - _kernel(last, first) - _kernel(first, last)
    rises += _kernel(first, first)
    return taught, _smoother(rises, rises, usable, fold)


def _smoother(
    among: NDArray[np.float64],
    towards: NDArray[np.float64],
    told: NDArray[np.bool_],
    fold: NDArray[np.int64],
) -> NDArray[np.float64]:
    """`[N, M]`: times what is taught it is what the other folds say of each segment.

    Args:
        among: `[M, M]` covariance of what is taught.
        towards: `[N, M]` covariance of the segments' rises with it.
        told: `[M]`: whether it is known.
        fold: `[N]`; M is a multiple of N.
    """
    of_taught = np.tile(fold, len(told) // len(fold))
    found = np.zeros_like(towards)
    for part in range(fold.max() + 1):
        inside, known = np.flatnonzero(fold == part), np.flatnonzero(told & (of_taught != part))
        if not len(known):
            continue
        system = among[np.ix_(known, known)] + _NOISE * np.eye(len(known))
        found[np.ix_(inside, known)] = np.linalg.solve(system, towards[np.ix_(inside, known)].T).T
    return found


def _kernel(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    square = np.square(one).sum(axis=1)[:, None] + np.square(other).sum(axis=1) - 2 * one @ other.T
    values: NDArray[np.float64] = np.exp(-square / (2 * _WIDTH**2))
    return values


def _scores(
    said: NDArray[np.float64],
    labels: NDArray[np.float64],
    ends: NDArray[np.int64],
    weight: NDArray[np.float64],
    band: float,
) -> NDArray[np.float64]:
    """`[D]`: share of the decided pairs that are ranked right; `said` and `labels` `[D, N]`."""
    a, b = ends.T
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
