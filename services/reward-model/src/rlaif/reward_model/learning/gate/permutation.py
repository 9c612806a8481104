"""Episode-level permutation test of whether labels are predictable from observations.

If they are not, exchanging the labels of two episodes changes nothing. The labels of whole episodes
are permuted, a model is fitted again to each permutation, and the accuracy of the true labels is
compared with those. Each permutation preserves the correlation of labels within an episode.

Fitting again makes the test exact. Networks cannot be fitted so often, but kernel ridge regression
is a matrix times the labels: a potential with a squared exponential kernel on the lasting slots,
fitted to the positions of the ends of segments, or to label values where judges gave no positions.
"""

import math

import numpy as np
from numpy.typing import NDArray

from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.learning.fit.inputs import input_gains
from rlaif.reward_model.learning.fit.sides import PERMUTATION_STREAM
from rlaif.reward_model.learning.gate.evaluation import even_weights
from rlaif.reward_model.learning.gate.folds import Folds

PERMUTATIONS = 200

_WIDTH = 3.0
"""Length scale of the kernel, in scaled inputs; a walk across a room is about 3."""

_RIDGE = 0.01
"""Noise variance over the variance of the potential."""

_MIN_POSITIONS = 0.5
"""Share of segments with positions from which on positions are fitted."""

Floats = NDArray[np.float64]


def permutation_p(folds: Folds, *, seed: int) -> float | None:
    """p-value of the labels; None if no pair with known label values is decided."""
    side, values = folds.side, folds.side.values
    usable = np.isfinite(values)
    pairs = [(i.a, i.b) for i in side.preferences if usable[i.a] and usable[i.b]]
    if not pairs or not side.decided:
        return None
    ends = np.array(pairs, np.int64)
    band = min(abs(item.margin) for item in side.decided)
    rng = np.random.default_rng([seed, PERMUTATION_STREAM])
    orders = np.concatenate([np.arange(len(values))[None], _permutations(side.segments, rng)])
    targets, smoother = _regression(folds)
    weight = even_weights(side.episode_numbers)[ends].prod(axis=1)
    known = np.where(usable, values, np.nanmean(values))
    predicted = targets[:, orders].transpose(1, 0, 2).reshape(len(orders), -1) @ smoother.T
    scores = _accuracies(predicted, known[orders], ends, weight, band)
    return _tail(float(scores[0]), scores[1:])


def _permutations(segments: list[LabelledSegment], rng: np.random.Generator) -> NDArray[np.int64]:
    """`[PERMUTATIONS, N]`: index of the segment whose label each segment gets.

    An episode gets the labels of another one in order, stretched to its own length.
    """
    blocks: dict[str, list[int]] = {}
    order = sorted(
        range(len(segments)), key=lambda at: (segments[at].start_step, segments[at].segment_id)
    )
    for place in order:
        blocks.setdefault(segments[place].episode_id, []).append(place)
    flat = np.concatenate([np.array(block) for block in blocks.values()])
    lengths = np.array([len(block) for block in blocks.values()])
    starts = np.cumsum(lengths) - lengths
    own = np.repeat(np.arange(len(lengths)), lengths)
    middle = np.arange(len(flat)) - starts[own] + 0.5
    found = np.zeros((PERMUTATIONS, len(segments)), np.int64)
    for row in found:
        given = rng.permutation(len(lengths))[own]
        row[flat] = flat[starts[given] + (middle * lengths[given] / lengths[own]).astype(np.int64)]
    return found


def _regression(folds: Folds) -> tuple[Floats, Floats]:
    """(`[K, N]` targets, `[N, K * N]` matrix from targets to out-of-fold predictions of rises).

    K is 2, the positions of both ends, if most segments have them; else 1, the label value.
    """
    side = folds.side
    gains = input_gains(side.segments[0].layout_version, side.ends.shape[2])
    ends = side.ends.astype(np.float64) * gains
    first, last = ends[:, 0], ends[:, 1]
    given = np.array([item.positions is not None for item in side.segments])
    if given.mean() >= _MIN_POSITIONS:
        positions = np.array([item.positions or (np.nan, np.nan) for item in side.segments]).T
        targets = np.where(given, positions - np.nanmean(positions), 0.0)
        points = np.concatenate([first, last])
        rises = _kernel(last, points) - _kernel(first, points)
        return targets, _smoother(_kernel(points, points), rises, np.tile(given, 2), folds.fold)
    usable = np.isfinite(side.values)
    targets = np.where(usable, side.values - np.nanmean(side.values), 0.0)[None]
    rises = _kernel(last, last) - _kernel(last, first) - _kernel(first, last)
    rises += _kernel(first, first)
    return targets, _smoother(rises, rises, usable, folds.fold)


def _smoother(
    among: Floats, towards: Floats, given: NDArray[np.bool_], fold: NDArray[np.int64]
) -> Floats:
    """`[N, M]` matrix from targets to predictions by the other folds.

    `among` `[M, M]` and `towards` `[N, M]` are kernel values, `given` `[M]` marks known targets; M
    is a multiple of N.
    """
    fold_of_target = np.tile(fold, len(given) // len(fold))
    found = np.zeros_like(towards)
    for part in range(fold.max() + 1):
        inside = np.flatnonzero(fold == part)
        known = np.flatnonzero(given & (fold_of_target != part))
        if len(known):
            system = among[np.ix_(known, known)] + _RIDGE * np.eye(len(known))
            solved = np.linalg.solve(system, towards[np.ix_(inside, known)].T).T
            found[np.ix_(inside, known)] = solved
    return found


def _kernel(one: Floats, other: Floats) -> Floats:
    square = np.square(one).sum(axis=1)[:, None] + np.square(other).sum(axis=1) - 2 * one @ other.T
    values: Floats = np.exp(-square / (2 * _WIDTH**2))
    return values


def _accuracies(
    predicted: Floats, labels: Floats, ends: NDArray[np.int64], weight: Floats, band: float
) -> Floats:
    """`[D]` accuracies on decided pairs; `predicted` and `labels` are `[D, N]`."""
    a, b = ends.T
    agreement = np.sign(predicted[:, a] - predicted[:, b])
    margin = labels[:, a] - labels[:, b]
    decided = weight * (np.abs(margin) >= band - 1e-9)
    total = decided.sum(axis=1)
    right = (agreement * np.sign(margin) * decided).sum(axis=1)
    scores: Floats = 0.5 + 0.5 * right / np.where(total > 0, total, 1.0)
    return scores


def _tail(score: float, permuted: Floats) -> float:
    """P(accuracy >= score): by counting, and a normal tail beyond all permutations."""
    above = int((permuted >= score - 1e-12).sum())
    counted = (above + 1) / (len(permuted) + 1)
    deviation = float(permuted.std())
    if above or deviation == 0.0:
        return counted
    normal = 0.5 * math.erfc((score - float(permuted.mean())) / deviation / math.sqrt(2.0))
    return min(counted, normal)
