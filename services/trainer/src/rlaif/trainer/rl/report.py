"""An iteration as the service hears of it."""

import math
from dataclasses import asdict

from rlaif.trainer.rl.ppo import ShapedPPO
from rlaif.trainer.rl.progress import RunFigures
from rlaif.trainer.runs.protocol import IterationDone, PartFigures

_LEARNER_FIGURES = (
    "policy_loss",
    "vf_loss",
    "entropy",
    "vf_explained_var",
    "total_loss",
    "policy_lag",
    "steps_left_out",
)


def report(
    iteration: int,
    algorithm: ShapedPPO,
    figures: RunFigures,
    result: dict[str, object],
    *,
    steps_per_second: float,
    trained_seconds: float,
    seconds_left: float | None,
) -> IterationDone:
    """The message that an iteration is over; `result` is what RLlib returned of it."""
    learners = result.get("learners")
    module = learners.get("default_policy", {}) if isinstance(learners, dict) else {}
    learned, waiting = algorithm.learned, algorithm.rewards.models.waiting
    return IterationDone(
        iteration=iteration,
        env_steps=algorithm.env_steps,
        episodes=figures.episodes,
        steps_per_second=steps_per_second,
        episode_return_mean=figures.return_mean,
        shaped_return_mean=figures.shaped_mean,
        episode_length_mean=figures.length_mean,
        rooms_mean=figures.rooms_mean,
        segments_captured=figures.segments_captured,
        segments_skipped=figures.segments_skipped,
        segments_dropped=figures.segments_dropped,
        captures_lost=figures.captures_lost,
        selected_by=dict(figures.selected_by),
        trained_seconds=trained_seconds,
        seconds_left=seconds_left,
        milestone_fraction=figures.milestone_fraction,
        milestones_mean=figures.milestones_mean,
        milestones=figures.milestones,
        reward_parts=figures.reward_parts,
        reward_statistics={
            name: PartFigures(**asdict(part)) for name, part in learned.statistics.items()
        },
        reward_model_version=learned.reward_model_version,
        reward_model_share=learned.reward_model_share,
        reward_model_waiting=waiting.version if waiting else None,
        potential_mean=learned.potential_mean,
        learner={
            name: float(module[name])
            for name in _LEARNER_FIGURES
            if name in module and math.isfinite(module[name])
        },
    )
