"""Measures a fitted network on the held-out side, and its training by cross-fitting."""

from dataclasses import asdict, dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from rlaif.contracts.reward_models import GateMetrics
from rlaif.reward_model.labels.preferences import Preference
from rlaif.reward_model.learning.fit.sides import Side, spaced_observations
from rlaif.reward_model.learning.gate.baselines import fit_baselines
from rlaif.reward_model.learning.gate.checks import SIMPLE_CONFIDENCE, Check, gate_checks
from rlaif.reward_model.learning.gate.evaluation import (
    accuracy_on,
    differences,
    expected_calibration_error,
    gain_on,
    probability,
)
from rlaif.reward_model.learning.gate.folds import CrossFit
from rlaif.reward_model.learning.gate.permutation import permutation_p
from rlaif.reward_model.learning.gate.slopes import slopes
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_net.network import RewardNet
from rlaif.reward_net.pay import Potential
from rlaif.reward_net.potential import PotentialFunction

_PROGRESS = "progress"
_CLEAR_LEVEL = 2
"""RAM levels are 0, 1 and 2; clearly different segments have 0 and 2."""

_MAX_RAM_PAIRS = 4000
_RAM_SEED = 11


@dataclass(frozen=True)
class Examination:
    """Train and held-out side with the cross-fit, against which a network is measured.

    Attributes:
        known: Metrics that are known before a fit.
        champion: Potential of the live model; None if there is none for this layout.
    """

    train: Side
    heldout: Side
    folds: CrossFit
    known: GateMetrics
    seed: int
    champion: Potential | None = None

    def calibrated(self, net: RewardNet) -> RewardNet:
        return net.with_spec(net.spec.model_copy(update=asdict(self.folds.calibration)))

    def examine(
        self, net: RewardNet, settings: CandidateSettings
    ) -> tuple[GateMetrics, tuple[Check, ...]]:
        """Measure a network and run the gate's checks; a diverged network is not evaluated."""
        finite = finite_check(net)
        if not finite.holds:
            return self.known, (finite,)
        metrics = self._measure(net)
        return metrics, (finite, *gate_checks(metrics, settings.gate))

    def _measure(self, net: RewardNet) -> GateMetrics:
        potential = PotentialFunction(net)
        disagreement = _disagreement(net, self.heldout)
        pay = self.heldout.pay(potential)
        difference, outcomes = differences(pay, self.heldout.decided)
        likely = probability(net, difference)
        heldout = accuracy_on(pay, self.heldout, seed=self.seed)
        train = accuracy_on(self.train.pay(potential), self.train, seed=self.seed)
        ram = accuracy_on(pay, ram_side(self.heldout), seed=self.seed)
        return self.known.model_copy(
            update={
                "train_accuracy": train.value,
                "heldout_accuracy": heldout.value,
                "heldout_accuracy_low": heldout.low,
                "heldout_accuracy_high": heldout.high,
                "paid_accuracy": heldout.value,
                "ram_accuracy": ram.value,
                "ram_accuracy_high": ram.high,
                "ram_pairs": ram.pairs,
                "heldout_ece": expected_calibration_error(likely, outcomes),
                "disagreement": disagreement,
                "slopes": slopes(self.folds, seed=self.seed),
                **self._of_recipe(),
                **self._against_champion(pay),
            }
        )

    def _of_recipe(self) -> dict[str, object]:
        """Cross-fitted accuracy, permutation test and baselines: properties of the labels."""
        folds, side = self.folds, self.folds.side
        crossfit = accuracy_on(folds.statistics, side, seed=self.seed)
        baselines = fit_baselines(folds)
        found: dict[str, object] = {
            "crossfit_accuracy": crossfit.value,
            "crossfit_accuracy_low": crossfit.low,
            "crossfit_pairs": crossfit.pairs,
            "permutation_p": permutation_p(folds, seed=self.seed),
            "forward_accuracy": folds.forward.value,
            "forward_accuracy_low": folds.forward.low,
            "forward_accuracy_high": folds.forward.high,
            "forward_pairs": folds.forward.pairs,
            "best_slot": baselines.slot_name,
            "best_slot_accuracy": accuracy_on(baselines.slot, side, seed=self.seed).value,
            "ridge_accuracy": accuracy_on(baselines.ridge, side, seed=self.seed).value,
        }
        for name, statistics in (("slot", baselines.slot), ("ridge", baselines.ridge)):
            gain = gain_on(
                folds.statistics, statistics, side, seed=self.seed, confidence=SIMPLE_CONFIDENCE
            )
            found[f"gain_over_{name}_low"] = gain.low if gain else None
        return found

    def _against_champion(self, pay: NDArray[np.float64]) -> dict[str, float | None]:
        if self.champion is None:
            return {}
        theirs = self.heldout.pay(self.champion)
        gain = gain_on(pay, theirs, self.heldout, seed=self.seed)
        return {
            "champion_heldout_accuracy": accuracy_on(theirs, self.heldout, seed=self.seed).value,
            "champion_gain_low": gain.low if gain else None,
            "champion_gain_high": gain.high if gain else None,
        }


def ram_side(side: Side) -> Side:
    """The side with pairs, between episodes, that clearly differ by the game's RAM.

    RAM levels are never trained on: they are coarse, and a judge that knows the quest may know
    better. The gate requires only that they are not ranked in reverse.
    """
    levels = np.array([item.ram.get(_PROGRESS, -1) for item in side.segments])
    more, less = np.flatnonzero(levels >= _CLEAR_LEVEL), np.flatnonzero(levels == 0)
    a, b = np.repeat(more, len(less)), np.tile(less, len(more))
    between = np.flatnonzero(side.episode_numbers[a] != side.episode_numbers[b])
    if len(between) > _MAX_RAM_PAIRS:
        rng = np.random.default_rng(_RAM_SEED)
        between = rng.choice(between, _MAX_RAM_PAIRS, replace=False)
    return side.with_pairs(
        [Preference(int(a[at]), int(b[at]), 1.0, True, 1.0) for at in between.tolist()]
    )


def _disagreement(net: RewardNet, heldout: Side) -> float | None:
    """Standard deviation between members over that between observations; None for one member."""
    if net.spec.members == 1:
        return None
    with torch.inference_mode():
        logits = net.member_logits(torch.from_numpy(spaced_observations(heldout.segments)))
    between = float(logits.mean(dim=0).std())
    return float(logits.std(dim=0).mean()) / between if between > 0 else None


def finite_check(net: RewardNet) -> Check:
    """Whether the fit diverged."""
    broken = sum(not torch.isfinite(value).all() for value in net.state_dict().values())
    question = "Weight tensors with NaN or infinity"
    return Check("network_finite", question, broken, bound=0.0, relation="value <=")
