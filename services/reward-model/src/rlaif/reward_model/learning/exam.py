"""One exam: what is learned, what tests it, and the gate's verdict.

    train ──┬── fit ── freeze ── calibrate ──┐
            ├── folds, forward, control ─────┼── measure ── gate
    heldout ┴────────────────────────────────┘

`take` fits a network and examines it; `examine` takes any network, so that a planted bad one meets
the same gate.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from rlaif.reward_model.labels.labels import in_order
from rlaif.reward_model.learning.calibration import Calibration
from rlaif.reward_model.learning.crossfit import CrossfitEvidence, gather_evidence
from rlaif.reward_model.learning.evaluation import (
    Accuracy,
    Potential,
    differences,
    expected_calibration_error,
    highest_gain,
    negative_log_likelihood,
    rank_correlation,
)
from rlaif.reward_model.learning.gate import (
    faults_of_network,
    faults_of_potential,
    newest_quarter,
    shortcomings,
)
from rlaif.reward_model.learning.measurements import AgainstChampion, Measurements
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_model.learning.split_halves import (
    Side,
    accuracy_on,
    bootstrap_rng,
    fit_side,
    side_statistics,
    spaced_observations,
)
from rlaif.reward_net.network import RewardNet
from rlaif.reward_net.potential import PotentialFunction


@dataclass(frozen=True)
class ExamResult:
    """A network, what was measured of it, and why the gate refuses it: empty when it passed."""

    net: RewardNet
    measurements: Measurements
    reasons: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether it may go live."""
        return not self.reasons


@dataclass(frozen=True)
class Exam:
    """What all networks of one attempt are taught and asked.

    Attributes:
        heldout: What no network of the attempt sees; at least one segment.
        champion: The potential that is live; None when there is none that reads this layout.
    """

    train: Side
    heldout: Side
    settings: CandidateSettings
    evidence: CrossfitEvidence
    champion: Potential | None = None

    @classmethod
    def prepare(
        cls,
        train: Side,
        heldout: Side,
        settings: CandidateSettings,
        *,
        champion: Potential | None = None,
    ) -> "Exam":
        """The exam over two sides with decided pairs; gathers the evidence, which takes fits."""
        evidence = gather_evidence(train, heldout, settings)
        return cls(train, heldout, settings, evidence, champion)

    def take(self, start: RewardNet | None = None) -> ExamResult:
        """Fit a network, from the weights of `start` or from fresh ones, and examine it."""
        return self.examine(self.calibrated(fit_side(self.train, self.settings, start=start)))

    def calibrated(self, net: RewardNet) -> RewardNet:
        """The network with the evidence's calibration in its spec."""
        calibration = self.evidence.calibration
        return net.with_spec(
            net.spec.model_copy(
                update={"temperature": calibration.temperature, "lapse": calibration.lapse}
            )
        )

    def examine(self, net: RewardNet) -> ExamResult:
        """Measure a network and ask the gate."""
        known = known_before_a_fit(self.heldout)
        faults = faults_of_network(net, layout_version=self.heldout.segments[0].layout_version)
        if faults:
            return ExamResult(net, known, tuple(faults))
        potential = PotentialFunction(net)
        everywhere = potential(spaced_observations([*self.train.segments, *self.heldout.segments]))
        faults = faults_of_potential(everywhere / net.spec.scale)
        if faults:
            return ExamResult(net, known, tuple(faults))
        measured = replace(
            self._measure(net, potential), largest_potential=float(np.abs(everywhere).max())
        )
        return ExamResult(net, measured, tuple(shortcomings(measured, self.settings.gate)))

    def _measure(self, net: RewardNet, potential: Potential) -> Measurements:
        statistics = side_statistics(potential, self.heldout, self.settings)
        folds = self.evidence.folds
        found, wanted = differences(statistics, self.heldout.preferences)
        likely = probability(net, found)
        return Measurements(
            heldout=self._accuracy(statistics, self.heldout),
            heldout_episodes=self.heldout.episodes,
            train=self._accuracy(side_statistics(potential, self.train, self.settings), self.train),
            newest=self._accuracy(statistics, _newest_pairs(self.heldout)),
            crossfit=folds.beside(self.heldout, statistics).accuracy(self.settings),
            folds=folds.accuracy(self.settings),
            forward=self.evidence.forward,
            control=self.evidence.control,
            champion=self._against_champion(potential, statistics),
            heldout_nll=negative_log_likelihood(likely, wanted),
            heldout_ece=expected_calibration_error(likely, wanted),
            disagreement=_disagreement(net, self.heldout),
        )

    def _accuracy(self, statistics: NDArray[np.float64], side: Side) -> Accuracy:
        return accuracy_on(statistics, side.preferences, self.settings)

    def _against_champion(
        self, potential: Potential, statistics: NDArray[np.float64]
    ) -> AgainstChampion | None:
        if self.champion is None:
            return None
        theirs = side_statistics(self.champion, self.heldout, self.settings)
        probes = spaced_observations(self.heldout.segments)
        return AgainstChampion(
            accuracy=self._accuracy(theirs, self.heldout).value,
            highest_gain=highest_gain(
                statistics,
                theirs,
                self.heldout.preferences,
                confidence=self.settings.gate.confidence,
                rng=bootstrap_rng(self.settings),
            ),
            probe_correlation=rank_correlation(potential(probes), self.champion(probes)),
        )


def known_before_a_fit(heldout: Side) -> Measurements:
    """What a held-out side says of itself."""
    return Measurements(
        heldout=Accuracy(None, None, None, pairs=heldout.decided), heldout_episodes=heldout.episodes
    )


def predictions(net: RewardNet, side: Side, settings: CandidateSettings) -> NDArray[np.float64]:
    """`[P]` P(A better) of every pair of a side, as the network's calibration has it."""
    statistics = side_statistics(PotentialFunction(net), side, settings)
    return probability(
        net, np.array([statistics[item.a] - statistics[item.b] for item in side.preferences])
    )


def probability(net: RewardNet, difference: NDArray[np.float64]) -> NDArray[np.float64]:
    """`[P]` P(A better) for differences of the potential's statistic, `[P]`."""
    in_logits = difference * net.spec.spread / net.spec.scale
    return Calibration(net.spec.temperature, net.spec.lapse).probability(in_logits)


def _disagreement(net: RewardNet, heldout: Side) -> float | None:
    """How far the members are apart on what they never saw, in units of the observations' spread.

    None for a single network.
    """
    if net.spec.members == 1:
        return None
    with torch.inference_mode():
        logits = net.member_logits(torch.from_numpy(spaced_observations(heldout.segments)))
    between = float(logits.mean(dim=0).std())
    return float(logits.std(dim=0).mean()) / between if between > 0 else None


def _newest_pairs(side: Side) -> Side:
    """The side with only those pairs that have a segment of the newest quarter."""
    place = {item.segment_id: at for at, item in enumerate(in_order(side.segments))}
    order = [place[item.segment_id] for item in side.segments]
    from_place = newest_quarter(order)
    pairs = [i for i in side.preferences if max(order[i.a], order[i.b]) >= from_place]
    return Side("newest", side.segments, pairs)
