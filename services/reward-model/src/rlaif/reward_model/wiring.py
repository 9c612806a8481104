"""From the service's settings to those of its parts."""

from datetime import timedelta

from rlaif.reward_model.champions.reward_hacking_monitor import WatchdogSettings
from rlaif.reward_model.labels.preferences import PairSettings
from rlaif.reward_model.learning.settings import CandidateSettings, FitSettings, GateSettings
from rlaif.reward_model.settings import RewardModelSettings
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
            members=settings.members,
            activation=settings.activation,
            epochs=settings.epochs,
            warm_epochs=settings.warm_epochs,
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
            max_ece=settings.max_ece,
            min_probe_correlation=settings.min_probe_correlation,
        ),
    )


def training_rules(settings: RewardModelSettings) -> TrainingRules:
    """When a training starts."""
    return TrainingRules(
        retrain_min_new=settings.retrain_min_new,
        poll_seconds=settings.poll_seconds,
        relist_seconds=settings.relist_seconds,
        threads=settings.threads,
        rollback_pin=(
            timedelta(minutes=settings.watchdog_pin_minutes)
            if settings.watchdog_pin_minutes > 0
            else None
        ),
    )


def watchdog_settings(settings: RewardModelSettings) -> WatchdogSettings:
    """When the watchdog barks."""
    return WatchdogSettings(
        iterations=settings.watchdog_iterations,
        episodes=settings.watchdog_episodes,
        least_rise=settings.watchdog_rise,
        flat_share=settings.watchdog_flat,
    )
