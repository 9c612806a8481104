"""From the service's settings to those of its parts."""

from datetime import timedelta

from rlaif.reward_model.champions.reward_hacking_monitor import MonitorSettings
from rlaif.reward_model.labels.preferences import PairSettings
from rlaif.reward_model.learning.settings import CandidateSettings, FitSettings, GateSettings
from rlaif.reward_model.settings import RewardModelSettings
from rlaif.reward_model.training_loop import TrainingSettings


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


def training_settings(settings: RewardModelSettings) -> TrainingSettings:
    """When a training starts."""
    return TrainingSettings(
        retrain_min_new=settings.retrain_min_new,
        poll_seconds=settings.poll_seconds,
        relist_seconds=settings.relist_seconds,
        threads=settings.threads,
    )


def rollback_pin(settings: RewardModelSettings) -> timedelta | None:
    """How long a roll-back stays; None: until a person unpins it."""
    minutes = settings.watchdog_pin_minutes
    return timedelta(minutes=minutes) if minutes > 0 else None


def monitor_settings(settings: RewardModelSettings) -> MonitorSettings:
    """When the monitor raises an alarm."""
    return MonitorSettings(
        iterations=settings.watchdog_iterations,
        episodes=settings.watchdog_episodes,
        least_rise=settings.watchdog_rise,
        flat_share=settings.watchdog_flat,
    )
