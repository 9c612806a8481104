"""One exam: what is learned, what tests it, and the gate's verdict.

    train ──┬── fit ── freeze ── calibrate ──┐
            ├── evidence ────────────────────┼── measure ── gate
    heldout ┴────────────────────────────────┘

`take` fits a network and examines it; `examine` takes any network, so that a planted bad one meets
the same gate.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from rlaif.reward_model.labels.labels import in_order
from rlaif.reward_model.learning.bars import (
    faults_of_calibration,
    faults_of_network,
    faults_of_potential,
)
from rlaif.reward_model.learning.calibration import Calibration
from rlaif.reward_model.learning.evaluation import (
    Accuracy,
    Gain,
    Potential,
    differences,
    expected_calibration_error,
    measure_gain,
    negative_log_likelihood,
    rank_correlation,
)
from rlaif.reward_model.learning.evidence import Evidence, gather_evidence
from rlaif.reward_model.learning.gate import LIKELY, newest_quarter, shortcomings
from rlaif.reward_model.learning.measurements import (
    AgainstChampion,
    AgainstSimple,
    Measurements,
)
from rlaif.reward_model.learning.referee import referee_side
from rlaif.reward_model.learning.responses import Responses, compare
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_model.learning.spending import LABELS_BETWEEN_LOOKS, level_of_look
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

_LEAST_REFITS = 3


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
class ChampionToBeat:
    """The model that is live, as far as a candidate meets it.

    Attributes:
        potential: What it pays by.
        proved: It passed by the same settings on labels of the same judges. What was sure of the
            labels then need only be likely of those that continue them: each look asks anew, and
            a bar that is asked for at every look refuses one in three that are as good as before.
    """

    potential: Potential
    proved: bool = False


@dataclass(frozen=True)
class Exam:
    """What all networks of one attempt are taught and asked.

    Attributes:
        heldout: What no network of the attempt sees; at least one segment.
        champion: None when there is none that reads this layout.
        level: What the labels' permutation test must not exceed.
    """

    train: Side
    heldout: Side
    settings: CandidateSettings
    evidence: Evidence
    champion: ChampionToBeat | None = None
    level: float = 0.0

    @classmethod
    def prepare(
        cls,
        train: Side,
        heldout: Side,
        settings: CandidateSettings,
        *,
        champion: ChampionToBeat | None = None,
        new_labels: int = LABELS_BETWEEN_LOOKS,
    ) -> "Exam":
        """The exam over two sides with decided pairs; gathers the evidence, which takes fits.

        `new_labels` are those since the look before: what may be spent depends on them.
        """
        evidence = gather_evidence(train, heldout, settings)
        labels = len(train.segments) + len(heldout.segments)
        level = level_of_look(labels, new_labels, level=settings.gate.level)
        return cls(train, heldout, settings, evidence, champion, level)

    def take(self) -> ExamResult:
        """Fit a network and examine it."""
        return self.examine(self.calibrated(fit_side(self.train, self.settings)))

    def calibrated(self, net: RewardNet) -> RewardNet:
        """The network with the evidence's calibration in its spec."""
        evidence = self.evidence
        return net.with_spec(
            net.spec.model_copy(
                update={
                    "temperature": evidence.temperature_of(net),
                    "lapse": evidence.calibration.lapse,
                }
            )
        )

    def examine(self, net: RewardNet) -> ExamResult:
        """Measure a network and ask the gate."""
        known = known_before_a_fit(self.heldout)
        faults = faults_of_network(
            net,
            layout_version=self.heldout.segments[0].layout_version,
            settings=self.settings,
        )
        if faults:
            return ExamResult(net, known, tuple(faults))
        potential = PotentialFunction(net)
        labelled = spaced_observations([*self.train.segments, *self.heldout.segments])
        everywhere = potential(labelled)
        faults = [
            *faults_of_potential(
                everywhere / net.spec.scale,
                potential.normalised(labelled).mean(axis=0),
                spread=net.spec.spread,
            ),
            *faults_of_calibration(net.spec, self.evidence.temperature_of(net)),
        ]
        if faults:
            return ExamResult(net, known, tuple(faults))
        measured = replace(
            self._measure(net, potential),
            largest_potential=float(np.abs(everywhere).max()),
            responses=self._responses(net),
        )
        return ExamResult(net, measured, tuple(shortcomings(measured, self.settings.gate)))

    def _responses(self, net: RewardNet) -> Responses | None:
        """Where there are no labels; None when the labels allow no two refits."""
        refits = [*self.evidence.folds.nets, self.evidence.refit]
        if len(refits) < _LEAST_REFITS:
            return None
        return compare(net, refits, self.evidence.probes)

    def _measure(self, net: RewardNet, potential: Potential) -> Measurements:
        statistics = side_statistics(potential, self.heldout, self.settings)
        evidence = self.evidence
        found, wanted = differences(statistics, self.heldout.preferences)
        likely = probability(net, found)
        return Measurements(
            heldout=self._accuracy(statistics, self.heldout),
            heldout_episodes=self.heldout.episodes,
            train=self._accuracy(side_statistics(potential, self.train, self.settings), self.train),
            newest=self._accuracy(statistics, _newest_pairs(self.heldout)),
            crossfit=evidence.folds.accuracy(self.settings),
            simple=self._against_simple(),
            permutation_p=evidence.permutation.p if evidence.permutation else None,
            permutation_level=self.level,
            over_refit=self._gain_over(PotentialFunction(evidence.refit), statistics),
            forward=evidence.forward,
            backward=evidence.backward,
            control=evidence.control,
            ram=self._accuracy(statistics, referee_side(self.heldout)),
            champion=self._against_champion(potential, statistics),
            heldout_nll=negative_log_likelihood(likely, wanted),
            heldout_ece=expected_calibration_error(likely, wanted),
            disagreement=_disagreement(net, self.heldout),
        )

    def _against_simple(self) -> AgainstSimple:
        evidence, settings = self.evidence, self.settings
        simple, side = evidence.baselines, evidence.folds.side
        proved = self.champion is not None and self.champion.proved
        sure = LIKELY if proved else settings.gate.confidence
        return AgainstSimple(
            slot=accuracy_on(simple.slot, side, settings),
            slot_name=simple.slot_name,
            ridge=accuracy_on(simple.ridge, side, settings),
            gain_over_slot=evidence.over(simple.slot, settings, confidence=LIKELY),
            gain_over_ridge=evidence.over(simple.ridge, settings, confidence=LIKELY),
            gain_over_paid_slot=evidence.over(simple.paid_slot, settings, confidence=sure),
            gain_over_paid_ridge=evidence.over(simple.paid_ridge, settings, confidence=sure),
            confidence_over_paid=sure,
        )

    def _gain_over(self, other: Potential, statistics: NDArray[np.float64]) -> Gain | None:
        """How much better `[N]` held-out statistics are than those of another potential."""
        return measure_gain(
            statistics,
            side_statistics(other, self.heldout, self.settings),
            self.heldout.preferences,
            self.heldout.episode_numbers,
            confidence=self.settings.gate.confidence,
            rng=bootstrap_rng(self.settings),
        )

    def _accuracy(self, statistics: NDArray[np.float64], side: Side) -> Accuracy:
        return accuracy_on(statistics, side, self.settings)

    def _against_champion(
        self, potential: Potential, statistics: NDArray[np.float64]
    ) -> AgainstChampion | None:
        if self.champion is None:
            return None
        champion = self.champion.potential
        theirs = side_statistics(champion, self.heldout, self.settings)
        probes = spaced_observations(self.heldout.segments)
        return AgainstChampion(
            accuracy=self._accuracy(theirs, self.heldout).value,
            gain=self._gain_over(champion, statistics),
            probe_correlation=rank_correlation(potential(probes), champion(probes)),
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
