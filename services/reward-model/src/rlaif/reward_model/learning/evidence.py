"""What the labels can teach at all: the recipe tried on parts of them, apart from the candidate.

folds        Every episode, ranked by a network of the others; and by simpler judges, which the
             networks must surely beat.
permutation  Do the labels follow what was seen at all?
forward      Does it hold for what comes next? The newest episodes, by a network of older ones.
backward     Did it hold before? The oldest episodes, by a network of newer ones: a judge whose
             words change their meaning fails one of the two.
control      Is the measurement honest? The same recipe on shuffled labels, compared with shuffled
             held-out labels, must be right in half of the pairs. If it is better, the labels reach
             the network by another way, or the held-out side is not held out.
refit        The recipe once more on the training side, with other random numbers: what a candidate
             of these labels looks like, wherever it is asked.
probes       What nobody saw, to ask a candidate and its refits.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rlaif.reward_model.labels.labels import LabelledSegment, in_order
from rlaif.reward_model.learning.baselines import Baselines, simple_judges
from rlaif.reward_model.learning.calibration import Calibration, calibrate
from rlaif.reward_model.learning.counterfactuals import Probes, make_probes
from rlaif.reward_model.learning.crossfit import (
    Crossfit,
    Parts,
    cross_fit,
    deal_episodes,
    newest,
)
from rlaif.reward_model.learning.evaluation import (
    NOT_MEASURED,
    Accuracy,
    Gain,
    differences,
    measure_gain,
)
from rlaif.reward_model.learning.permutation import PermutationTest, permutation_test
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_model.learning.split_halves import (
    CONTROL_STREAM,
    HELDOUT_STREAM,
    PERMUTATION_STREAM,
    TRAIN_STREAM,
    Side,
    accuracy_on,
    bootstrap_rng,
    chosen,
    fit_parts,
    fit_side,
    make_side,
    side_statistics,
    spaced_observations,
)
from rlaif.reward_model.learning.worth import worths
from rlaif.reward_net.network import RewardNet
from rlaif.reward_net.potential import PotentialFunction

_NEW_SHARE = 0.25
_PARTS_SEED = 104729
"""Added to the seed of the settings for all fits but the candidate's and the control's."""


@dataclass(frozen=True)
class Evidence:
    """What the recipe shows on these labels; see the module."""

    folds: Crossfit
    baselines: Baselines
    permutation: PermutationTest | None
    forward: Accuracy
    backward: Accuracy
    control: Accuracy
    calibration: Calibration
    refit: RewardNet
    probes: Probes

    def over(
        self, simple: NDArray[np.float64], settings: CandidateSettings, *, confidence: float
    ) -> Gain | None:
        """How much better the networks rank all episodes than a simple judge, `[N]`."""
        return measure_gain(
            self.folds.statistics,
            simple,
            self.folds.side.preferences,
            self.folds.side.episode_numbers,
            confidence=confidence,
            rng=bootstrap_rng(settings),
        )

    def temperature_of(self, net: RewardNet) -> float:
        """The calibration's temperature for a network: its logits may be on another scale."""
        return self.calibration.temperature * net.spec.spread / self.folds.spread


def gather_evidence(train: Side, heldout: Side, settings: CandidateSettings) -> Evidence:
    """Try the recipe on two sides with decided pairs."""
    parts = deal_episodes(train, heldout, settings)
    segments = parts.side.segments
    older, newer = _by_age(segments)
    known = {item.segment_id for item in train.segments}
    inside = np.array([item.segment_id in known for item in segments])
    lessons = [*(parts.fold != at for at in range(len(parts.asked))), ~newer, ~older, inside]
    # With weights of its own to begin with: else all agree where nothing was seen.
    seed = settings.seed + _PARTS_SEED
    *folded, forward, backward, refit = fit_parts(segments, lessons, settings, seed=seed)
    if refit is None or inside.sum() < len(known):
        refit = fit_side(train, replace(settings, seed=seed), check=True)
    folds = cross_fit(parts, folded, settings)
    return Evidence(
        folds=folds,
        baselines=simple_judges(
            segments, worths(parts.side, settings), parts.side.preferences, folds.fold
        ),
        permutation=chance_of(parts, settings),
        forward=_predicted_accuracy(forward, chosen(segments, newer), settings),
        backward=_predicted_accuracy(backward, chosen(segments, older), settings),
        control=_control(train, heldout, settings),
        calibration=_calibration(folds, train),
        refit=refit,
        probes=make_probes(
            spaced_observations(heldout.segments),
            heldout.segments[0].layout_version,
            seed=settings.seed,
        ),
    )


def chance_of(parts: Parts, settings: CandidateSettings) -> PermutationTest | None:
    """Whether the labels may be chance; takes no fit."""
    return permutation_test(
        parts.side.segments,
        worths(parts.side, settings),
        parts.side.preferences,
        parts.fold,
        rng=np.random.default_rng([settings.seed, PERMUTATION_STREAM]),
    )


def _calibration(folds: Crossfit, train: Side) -> Calibration:
    """Fitted on the training episodes only: the held-out ones measure what it is worth."""
    known = {item.segment_id for item in train.segments}
    inside = [item.segment_id in known for item in folds.side.segments]
    pairs = [item for item in folds.side.preferences if inside[item.a] and inside[item.b]]
    return calibrate(*differences(folds.statistics * folds.spread, pairs))


def _by_age(
    segments: Sequence[LabelledSegment],
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """`[N]` each: in the oldest, in the newest quarter of the episodes, by the episodes' middle."""
    places: dict[str, list[int]] = {}
    for place, item in enumerate(in_order(segments)):
        places.setdefault(item.episode_id, []).append(place)
    by_age = sorted(places, key=lambda name: sum(places[name]) / len(places[name]))
    share = max(1, int(len(by_age) * _NEW_SHARE))
    old, new = set(by_age[:share]), set(by_age[-share:])
    return (
        np.array([item.episode_id in old for item in segments]),
        np.array([item.episode_id in new for item in segments]),
    )


def _control(train: Side, heldout: Side, settings: CandidateSettings) -> Accuracy:
    rng = np.random.default_rng([settings.seed, CONTROL_STREAM])
    everything = [*train.segments, *heldout.segments]
    order = rng.permutation(len(everything)).tolist()
    shuffled = [
        replace(item, values=everything[other].values, doubts=everything[other].doubts,
                weights=everything[other].weights, positions=everything[other].positions,
                preferred={}, voted={})
        for item, other in zip(everything, order, strict=True)
    ]  # fmt: skip
    learned = newest(shuffled[: len(train.segments)])
    known = make_side("learned", learned, settings, stream=TRAIN_STREAM)
    net = fit_side(known, settings, check=True) if known.decided else None
    return _predicted_accuracy(net, shuffled[len(train.segments) :], settings)


def _predicted_accuracy(
    net: RewardNet | None, tested: Sequence[LabelledSegment], settings: CandidateSettings
) -> Accuracy:
    """How a network that never saw them ranks these segments."""
    asked = make_side("tested", list(tested), settings, stream=HELDOUT_STREAM)
    if net is None or not asked.decided:
        return NOT_MEASURED
    return accuracy_on(side_statistics(PotentialFunction(net), asked, settings), asked, settings)
