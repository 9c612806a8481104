"""What an exam measured, in blocks; `flat` is the one place where they become the contract."""

from dataclasses import dataclass

from rlaif.contracts.reward_models import GateMetrics
from rlaif.reward_model.learning.evaluation import NOT_MEASURED, Accuracy, Gain
from rlaif.reward_model.learning.responses import Responses


@dataclass(frozen=True)
class AgainstChampion:
    """The candidate beside the champion and its accuracy, on the same held-out pairs.

    Attributes:
        gain: The candidate's accuracy less the champion's, pair by pair.
        probe_correlation: Spearman of both potentials over the held-out observations, which
            neither was taught.
    """

    accuracy: float | None
    gain: Gain | None = None
    probe_correlation: float | None = None


@dataclass(frozen=True)
class AgainstSimple:
    """Simple judges beside the networks, every episode ranked from others.

    Attributes:
        slot: The best single number of the observation, `slot_name`.
        ridge: A linear fit of all of them.
        gain_over_slot, gain_over_ridge: The networks' accuracy less theirs, pair by pair, with the
            interval of `LIKELY`.
        gain_over_paid_slot, gain_over_paid_ridge: Less that of the same as potentials, with the
            interval of `confidence_over_paid`.
    """

    slot: Accuracy = NOT_MEASURED
    slot_name: str | None = None
    ridge: Accuracy = NOT_MEASURED
    gain_over_slot: Gain | None = None
    gain_over_ridge: Gain | None = None
    gain_over_paid_slot: Gain | None = None
    gain_over_paid_ridge: Gain | None = None
    confidence_over_paid: float = 0.99


@dataclass(frozen=True)
class Measurements:
    """What was measured of one network; None and `NOT_MEASURED` where nothing was.

    Attributes:
        heldout: On episodes that it never saw; its `pairs` are known before a network is fitted.
        train: On what it was taught.
        newest: On held-out pairs with a segment of the newest quarter.
        crossfit: Every episode ranked by networks fitted to others.
        simple: Simple judges beside these.
        permutation_p: Of the labels, if they had nothing to do with what was seen.
        permutation_level: What it must not exceed at this look.
        over_refit: The candidate's held-out accuracy less that of the recipe's refit.
        forward: The newest episodes, by a network fitted to older ones.
        backward: The oldest episodes, by a network fitted to newer ones.
        control: The same recipe on shuffled labels; 0.5 unless something leaks.
        ram: On held-out pairs that the game's RAM tells clearly apart.
        heldout_nll: Nats a decided held-out pair.
        heldout_ece: Calibration error on the held-out pairs.
        disagreement: Deviation between members over that between observations.
        largest_potential: Largest |Φ| over the labelled observations.
        responses: What it answers where there are no labels.
        llm_only_share: Share of the decided pairs, of both sides, that only judges decide.
    """

    heldout: Accuracy = NOT_MEASURED
    heldout_episodes: int = 0
    train: Accuracy = NOT_MEASURED
    newest: Accuracy = NOT_MEASURED
    crossfit: Accuracy = NOT_MEASURED
    simple: AgainstSimple = AgainstSimple()
    permutation_p: float | None = None
    permutation_level: float | None = None
    over_refit: Gain | None = None
    forward: Accuracy = NOT_MEASURED
    backward: Accuracy = NOT_MEASURED
    control: Accuracy = NOT_MEASURED
    ram: Accuracy = NOT_MEASURED
    champion: AgainstChampion | None = None
    heldout_nll: float | None = None
    heldout_ece: float | None = None
    disagreement: float | None = None
    largest_potential: float | None = None
    responses: Responses | None = None
    llm_only_share: float | None = None

    def flat(self) -> GateMetrics:
        """As manifests and REST have it: flat, so that their readers, old and new, understand."""
        champion = self.champion or AgainstChampion(accuracy=None)
        simple, answers = self.simple, self.responses
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
            paid_accuracy=self.heldout.value,
            paid_accuracy_low=self.heldout.low,
            best_slot=simple.slot_name,
            best_slot_accuracy=simple.slot.value,
            ridge_accuracy=simple.ridge.value,
            gain_over_slot_low=simple.gain_over_slot and simple.gain_over_slot.low,
            gain_over_ridge_low=simple.gain_over_ridge and simple.gain_over_ridge.low,
            gain_over_paid_slot_low=simple.gain_over_paid_slot and simple.gain_over_paid_slot.low,
            gain_over_paid_ridge_low=simple.gain_over_paid_ridge
            and simple.gain_over_paid_ridge.low,
            permutation_p=self.permutation_p,
            permutation_level=self.permutation_level,
            refit_gain_high=self.over_refit and self.over_refit.high,
            backward_accuracy=self.backward.value,
            newest_heldout_accuracy=self.newest.value,
            newest_heldout_pairs=self.newest.pairs,
            champion_heldout_accuracy=champion.accuracy,
            champion_gain_high=champion.gain and champion.gain.high,
            forward_accuracy=self.forward.value,
            forward_accuracy_low=self.forward.low,
            forward_accuracy_high=self.forward.high,
            forward_pairs=self.forward.pairs,
            control_accuracy=self.control.value,
            control_accuracy_low=self.control.low,
            ram_accuracy=self.ram.value,
            ram_pairs=self.ram.pairs,
            heldout_nll=self.heldout_nll,
            heldout_ece=self.heldout_ece,
            probe_correlation=champion.probe_correlation,
            disagreement=self.disagreement,
            largest_potential=self.largest_potential,
            probes_apart=answers.apart.ratio if answers else None,
            probes_apart_once=answers.apart_once.ratio if answers else None,
            member_apart=answers.member.ratio if answers else None,
            weight_ratio=answers.weight.ratio if answers else None,
            least_thing=answers.least_thing if answers else None,
            llm_only_share=self.llm_only_share,
        )
