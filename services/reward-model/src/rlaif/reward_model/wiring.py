"""From the service's settings to those of its parts."""

from rlaif.reward_model.bradley_terry import FitSettings
from rlaif.reward_model.gate import GateSettings
from rlaif.reward_model.preferences import PairSettings
from rlaif.reward_model.settings import RewardModelSettings
from rlaif.reward_model.sides import CandidateSettings
from rlaif.reward_model.training import TrainingRules


def candidate_settings(settings: RewardModelSettings) -> CandidateSettings:
    """What decides the outcome of a training."""
    return CandidateSettings(
        seed=settings.seed,
        heldout_fraction=settings.heldout_fraction,
        scale=settings.scale,
        pairs=PairSettings(
            tie_band=settings.tie_band,
            tie_weight=settings.tie_weight,
            most_pairs=settings.pairs_per_segment,
        ),
        fit=FitSettings(
            statistic=settings.statistic,
            activation=settings.activation,
            epochs=settings.epochs,
            learning_rate=settings.learning_rate,
            weight_decay=settings.weight_decay,
            noise=settings.label_noise,
        ),
        gate=GateSettings(
            min_labels=settings.min_labels,
            min_episodes=settings.min_episodes,
            min_heldout_pairs=settings.min_heldout_pairs,
            confidence=settings.gate_confidence,
            champion_margin=settings.champion_margin,
        ),
    )


def training_rules(settings: RewardModelSettings) -> TrainingRules:
    """When a training starts."""
    return TrainingRules(
        retrain_min_new=settings.retrain_min_new,
        poll_seconds=settings.poll_seconds,
        relist_seconds=settings.relist_seconds,
        threads=settings.threads,
    )
