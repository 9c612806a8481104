"""What simpler judges of a segment reach: one number of the observation, and a linear fit.

Both are fitted to all folds but one and rank the segments of that one, as the networks do. Each
comes in two kinds. As potentials they have what a potential may be paid for, how far each number
that lasts rose: what a simpler reward would be worth. As judges they have all numbers and their
means over the segment, so that labels which only repeat one number are found out, whatever it is.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlaif.contracts.observation import LAYOUT, LAYOUT_VERSION
from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.labels.preferences import Preference
from rlaif.reward_model.learning.evaluation import even_weights
from rlaif.reward_model.learning.lasting import lasting_slots

_PENALTIES = np.geomspace(0.1, 1000.0, 9)


@dataclass(frozen=True)
class Baselines:
    """What the simple judges say of each segment, from labels of other folds.

    Attributes:
        slot: `[N]`: the best single number; pairs inside a fold can be compared.
        ridge: `[N]`: the linear fit.
        paid_slot: `[N]`: the best rise of a single number that lasts.
        paid_ridge: `[N]`: the linear fit of the rises of those.
        slot_name: The number that most folds chose, such as `rise of rupees`.
    """

    slot: NDArray[np.float64]
    ridge: NDArray[np.float64]
    paid_slot: NDArray[np.float64]
    paid_ridge: NDArray[np.float64]
    slot_name: str


def simple_judges(
    segments: list[LabelledSegment],
    worth: NDArray[np.float64],
    pairs: list[Preference],
    fold: NDArray[np.int64],
) -> Baselines:
    """Fit both, fold by fold.

    Args:
        segments: N of them, of one layout.
        worth: `[N]`; NaN where it is not known.
        pairs: Inside the folds.
        fold: `[N]`.
    """
    features = _features(segments)
    layout, inputs = segments[0].layout_version, features.shape[1] // 2
    # No potential may read more: a bar that nothing could be paid for would measure nothing.
    rises = features[:, lasting_slots(layout, inputs)]
    names = _names(layout, inputs)
    slot, chosen = _best_slot(features, pairs, fold, segments)
    paid_slot, _ = _best_slot(rises, pairs, fold, segments)
    return Baselines(
        slot=slot,
        ridge=_ridge(features, worth, fold),
        paid_slot=paid_slot,
        paid_ridge=_ridge(rises, worth, fold),
        slot_name=names[max(chosen, key=chosen.count)],
    )


def _features(segments: list[LabelledSegment]) -> NDArray[np.float64]:
    """`[N, 2 * inputs]`: how far each number rose over the segment, then its mean."""
    rise = np.stack([item.observations[-1] - item.observations[0] for item in segments])
    mean = np.stack([item.observations.mean(axis=0) for item in segments])
    return np.concatenate([rise, mean], axis=1).astype(np.float64)


def _best_slot(
    features: NDArray[np.float64],
    pairs: list[Preference],
    fold: NDArray[np.int64],
    segments: list[LabelledSegment],
) -> tuple[NDArray[np.float64], list[int]]:
    """(`[N]` the chosen number with its sign, its column for each fold)."""
    _, numbers = np.unique([item.episode_id for item in segments], return_inverse=True)
    ends = np.array([(i.a, i.b) for i in pairs if i.decided], np.int64).reshape(-1, 2)
    margin = np.array([i.margin for i in pairs if i.decided])
    weight = even_weights(numbers.astype(np.int64))[ends].prod(axis=1)
    agreement = np.sign((features[ends[:, 0]] - features[ends[:, 1]]) * margin[:, None])
    found, chosen = np.zeros(len(features)), []
    for part in range(fold.max() + 1):
        known = fold[ends[:, 0]] != part
        score = (weight[known, None] * agreement[known]).sum(axis=0)
        best = int(np.argmax(np.abs(score)))
        inside = fold == part
        found[inside] = np.sign(score[best]) * features[inside, best]
        chosen.append(best)
    return found, chosen


def _names(layout_version: str, inputs: int) -> list[str]:
    known = layout_version == LAYOUT_VERSION and inputs == len(LAYOUT)
    slots = [LAYOUT[at].name if known else f"slot {at}" for at in range(inputs)]
    return [f"{what} of {name}" for what in ("rise", "mean") for name in slots]


def _ridge(
    features: NDArray[np.float64], worth: NDArray[np.float64], fold: NDArray[np.int64]
) -> NDArray[np.float64]:
    """`[N]`: linear predictions of the worth; the penalty is chosen inside the other folds."""
    parts = int(fold.max()) + 1
    usable = np.isfinite(worth)
    found = np.zeros(len(features))
    for part in range(parts):
        known = usable & (fold != part)
        errors = np.zeros(len(_PENALTIES))
        for inner in range(parts):
            tested = known & (fold == inner)
            learned = known & (fold != inner)
            if not tested.any() or not learned.any():
                continue
            guesses = _linear(features[learned], worth[learned], features[tested])
            errors += [float(np.square(guess - worth[tested]).sum()) for guess in guesses]
        if known.any():
            best = int(np.argmin(errors))
            every = _linear(features[known], worth[known], features[fold == part])
            found[fold == part] = next(guess for at, guess in enumerate(every) if at == best)
    return found


def _linear(
    learned: NDArray[np.float64], worth: NDArray[np.float64], asked: NDArray[np.float64]
) -> Iterator[NDArray[np.float64]]:
    """`[M]` predictions for `[M, F]` asked rows, one for each penalty."""
    centre, mean = learned.mean(axis=0), float(worth.mean())
    rows = learned - centre
    values, basis = np.linalg.eigh(rows.T @ rows)
    target = basis.T @ (rows.T @ (worth - mean))
    turned = (asked - centre) @ basis
    for penalty in _PENALTIES:
        yield turned @ (target / (np.maximum(values, 0.0) + penalty)) + mean
