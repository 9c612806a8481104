"""Simple rankings of segments: by the best single slot, and by a linear fit of all slots.

Both use the rise of each slot over the segment and its mean, are fitted to all folds but one, and
rank the segments of that one, as the networks do. They expose labels that merely repeat one slot.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlaif.contracts.game.observation import LAYOUT
from rlaif.reward_model.learning.fit.inputs import is_known_layout
from rlaif.reward_model.learning.fit.sides import Side
from rlaif.reward_model.learning.gate.evaluation import even_weights
from rlaif.reward_model.learning.gate.folds import Folds

_PENALTIES = np.geomspace(0.1, 1000.0, 9)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Baselines:
    """Statistics of each segment, `[N]`, from labels of other folds.

    Attributes:
        slot: The best single feature; only pairs inside a fold can be compared.
        ridge: The linear fit.
        slot_name: The feature that most folds chose, such as `rise of rupees`.
    """

    slot: Floats
    ridge: Floats
    slot_name: str


def fit_baselines(folds: Folds) -> Baselines:
    """Fit both, fold by fold."""
    features = _features(folds.side)
    slot, columns = _best_slot(features, folds)
    most_chosen = max(columns, key=columns.count)
    return Baselines(slot, _ridge(features, folds), _name(folds.side, most_chosen))


def _features(side: Side) -> Floats:
    """`[N, 2 * inputs]`: rise of each slot over the segment, then its mean."""
    mean = np.stack([item.observations.mean(axis=0) for item in side.segments])
    return np.concatenate([side.ends[:, 1] - side.ends[:, 0], mean], axis=1).astype(np.float64)


def _best_slot(features: Floats, folds: Folds) -> tuple[Floats, list[int]]:
    """(`[N]` the chosen feature with its sign, its column in each fold)."""
    side, fold = folds.side, folds.fold
    ends = np.array([(i.a, i.b) for i in side.decided], np.int64).reshape(-1, 2)
    margin = np.array([i.margin for i in side.decided])
    weight = even_weights(side.episode_numbers)[ends].prod(axis=1)
    agreement = np.sign((features[ends[:, 0]] - features[ends[:, 1]]) * margin[:, None])
    found, columns = np.zeros(len(features)), []
    for part in range(fold.max() + 1):
        known = fold[ends[:, 0]] != part
        score = (weight[known, None] * agreement[known]).sum(axis=0)
        best = int(np.argmax(np.abs(score)))
        inside = fold == part
        found[inside] = np.sign(score[best]) * features[inside, best]
        columns.append(best)
    return found, columns


def _name(side: Side, column: int) -> str:
    inputs = side.ends.shape[2]
    kind, slot = ("rise", column) if column < inputs else ("mean", column - inputs)
    known = is_known_layout(side.segments[0].layout_version, inputs)
    return f"{kind} of {LAYOUT[slot].name if known else f'slot {slot}'}"


def _ridge(features: Floats, folds: Folds) -> Floats:
    """`[N]`: linear predictions of the label value; the penalty is chosen inside other folds."""
    values, fold = folds.side.values, folds.fold
    parts = int(fold.max()) + 1
    usable = np.isfinite(values)
    found = np.zeros(len(features))
    for part in range(parts):
        known = usable & (fold != part)
        errors = np.zeros(len(_PENALTIES))
        for inner in range(parts):
            tested, learned = known & (fold == inner), known & (fold != inner)
            if tested.any() and learned.any():
                guesses = _linear(features[learned], values[learned], features[tested])
                errors += [float(np.square(guess - values[tested]).sum()) for guess in guesses]
        if known.any():
            best = int(np.argmin(errors))
            every = list(_linear(features[known], values[known], features[fold == part]))
            found[fold == part] = every[best]
    return found


def _linear(learned: Floats, values: Floats, asked: Floats) -> Iterator[Floats]:
    """`[M]` predictions for `[M, F]` rows, one per penalty."""
    centre, mean = learned.mean(axis=0), float(values.mean())
    rows = learned - centre
    eigenvalues, basis = np.linalg.eigh(rows.T @ rows)
    target = basis.T @ (rows.T @ (values - mean))
    turned = (asked - centre) @ basis
    for penalty in _PENALTIES:
        yield turned @ (target / (np.maximum(eigenvalues, 0.0) + penalty)) + mean
