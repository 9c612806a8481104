"""An iteration as the service hears of it."""

import math
from collections.abc import Mapping
from dataclasses import asdict

import numpy as np

from rlaif.trainer.learner.algorithm.learner_rewards import SHAPING
from rlaif.trainer.learner.algorithm.ppo import ShapedPPO
from rlaif.trainer.learner.progress import RunTally
from rlaif.trainer.run_folder.protocol import IterationDone, PartFigures

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
    tally: RunTally,
    result: dict[str, object],
    *,
    steps_per_second: float,
    trained_seconds: float,
    seconds_left: float | None,
    not_written: str | None = None,
) -> IterationDone:
    """The message that an iteration is over; `result` is what RLlib returned of it."""
    learners = result.get("learners")
    module = learners.get("default_policy", {}) if isinstance(learners, dict) else {}
    learned, waiting = algorithm.learned, algorithm.rewards.models.waiting
    counts = learned.reward_model_version is not None
    paid = learned.statistics.get(SHAPING) if counts else None
    measured = {
        "steps_per_second": steps_per_second,
        "trained_seconds": trained_seconds,
        "seconds_left": seconds_left,
        "potential_mean": learned.potential_mean,
        "paid_share": paid.share if paid else None,
        "paid_advantage_share": paid.advantage_share if paid else None,
        "reward_model_share": learned.reward_model_share,
        "reward_model_waiting": waiting.version if waiting else None,
    }
    return IterationDone(
        **(tally.figures().figures() | measured),
        iteration=iteration,
        env_steps=algorithm.env_steps,
        segments_dropped=tally.segments_dropped,
        captures_lost=tally.captures_lost,
        selected_by=dict(tally.selected_by),
        not_written=not_written,
        reward_parts={
            name: amount for name, amount in tally.reward_parts.items() if math.isfinite(amount)
        },
        # JSON has no NaN: a part that is none is left out, the message is not.
        reward_statistics={
            name: PartFigures(**asdict(part))
            for name, part in learned.statistics.items()
            if all(math.isfinite(figure) for figure in asdict(part).values() if figure is not None)
        },
        reward_model_version=learned.reward_model_version,
        assistance=tally.assistance(),
        ended=tally.ended,
        oldest_open=tally.oldest_open,
        samples_left_out=algorithm.samples_left_out,
        updates_left_out=int(module.get("steps_left_out", 0)),
        not_learned=_why_nothing_was_learned(algorithm, module),
        learner={
            name: float(module[name])
            for name in _LEARNER_FIGURES
            if name in module and math.isfinite(module[name])
        },
    )


def _why_nothing_was_learned(algorithm: ShapedPPO, module: Mapping[str, float]) -> str | None:
    """One sentence when the whole batch, or every gradient step, was left out; None otherwise."""
    played = sum(int((~fragment.by_planner).sum()) for fragment in algorithm.fragments)
    if not played:
        return None
    if algorithm.samples_left_out == played:
        spoilt = [
            name
            for name, grids in algorithm.learned.parts.items()
            if not all(np.isfinite(grid).all() for grid in grids)
        ]
        cause = f"the reward of {', '.join(spoilt)}" if spoilt else "the critic's values"
        return (
            f"all {played} steps of the batch were left out, as {cause} are no numbers; resume "
            "from an older checkpoint, or without that part"
        )
    if 0 < module.get("gradient_steps", 0) <= module.get("steps_left_out", 0):
        return (
            "every gradient step was left out, as its loss is no number; resume from an older "
            "checkpoint, with a lower learning rate"
        )
    return None
