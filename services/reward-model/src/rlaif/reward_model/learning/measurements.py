"""What an exam measured, in blocks; `flat` is the one place where they become the contract."""

from dataclasses import dataclass

from rlaif.contracts.reward_models import GateMetrics
from rlaif.reward_model.learning.evaluation import NOT_MEASURED, Accuracy


@dataclass(frozen=True)
class AgainstChampion:
    """The candidate beside the champion and its accuracy, on the same held-out pairs.

    Attributes:
        highest_gain: Upper end of the one-sided interval of the candidate's accuracy less the
            champion's, pair by pair.
        probe_correlation: Spearman of both potentials over the held-out observations, which
            neither was taught.
    """

    accuracy: float | None
    highest_gain: float | None = None
    probe_correlation: float | None = None


@dataclass(frozen=True)
class Measurements:
    """What was measured of one network; None and `NOT_MEASURED` where nothing was.

    Attributes:
        heldout: On episodes that it never saw; its `pairs` are known before a network is fitted.
        train: On what it was taught.
        newest: On held-out pairs with a segment of the newest quarter.
        crossfit: Every episode ranked by networks fitted to others.
        folds: Likewise, of the training episodes alone.
        forward: The newest episodes, by a network fitted to older ones.
        control: The same recipe on shuffled labels; 0.5 unless something leaks.
        heldout_nll: Nats a decided held-out pair.
        heldout_ece: Calibration error on the held-out pairs.
        disagreement: Deviation between members over that between observations.
        largest_potential: Largest |Φ| over the labelled observations.
    """

    heldout: Accuracy = NOT_MEASURED
    heldout_episodes: int = 0
    train: Accuracy = NOT_MEASURED
    newest: Accuracy = NOT_MEASURED
    crossfit: Accuracy = NOT_MEASURED
    folds: Accuracy = NOT_MEASURED
    forward: Accuracy = NOT_MEASURED
    control: Accuracy = NOT_MEASURED
    champion: AgainstChampion | None = None
    heldout_nll: float | None = None
    heldout_ece: float | None = None
    disagreement: float | None = None
    largest_potential: float | None = None

    def flat(self) -> GateMetrics:
        """As manifests and REST have it: flat, so that their readers, old and new, understand."""
        champion = self.champion or AgainstChampion(accuracy=None)
        return GateMetrics(
            train_accuracy=self.train.value,
            heldout_accuracy=self.heldout.value,
            heldout_accuracy_low=self.heldout.low,
            heldout_accuracy_high=self.heldout.high,
            heldout_pairs=self.heldout.pairs,
            heldout_episodes=self.heldout_episodes,
            crossfit_accuracy=self.crossfit.value,
            crossfit_accuracy_low=self.crossfit.low,
            crossfit_pairs=self.crossfit.pairs,
            folds_accuracy_low=self.folds.low,
            newest_heldout_accuracy=self.newest.value,
            newest_heldout_pairs=self.newest.pairs,
            champion_heldout_accuracy=champion.accuracy,
            champion_gain_high=champion.highest_gain,
            forward_accuracy=self.forward.value,
            forward_accuracy_low=self.forward.low,
            forward_accuracy_high=self.forward.high,
            forward_pairs=self.forward.pairs,
            control_accuracy=self.control.value,
            control_accuracy_low=self.control.low,
            heldout_nll=self.heldout_nll,
            heldout_ece=self.heldout_ece,
            probe_correlation=champion.probe_correlation,
            disagreement=self.disagreement,
            largest_potential=self.largest_potential,
        )
