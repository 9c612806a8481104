"""Convert messages of the training process to rows of named metrics, one per iteration.

Names are RLlib's where possible, so that dashboards for RLlib work: `env_runners/…`,
`learners/default_policy/…`, `num_env_steps_sampled_lifetime`. Unknown values are omitted.
"""

import math
from dataclasses import dataclass, field
from typing import Any

from rlaif.contracts.telemetry.run import RunFigures
from rlaif.trainer.run_folder.protocol import (
    CurriculumReport,
    EvaluationDone,
    IterationDone,
    Message,
    SearchReport,
    Started,
)

Row = dict[str, float]

STEP = "num_env_steps_sampled_lifetime"
"""Step of a row: decisions of the run. Rows of a search before training have none."""

_FIGURES = {
    "episodes": "env_runners/num_episodes_lifetime",
    "episode_return_mean": "env_runners/episode_return_mean",
    "episode_length_mean": "env_runners/episode_len_mean",
    "steps_per_second": f"{STEP}_throughput",
    "trained_seconds": "time_total_s",
}
_LEARNER = {"policy_lag": "diff_num_grad_updates_vs_sampler_policy"}
_SEARCH = ("seconds", "frames", "nodes", "level", "marks")
_CURRICULUM = (
    "all_segments", "mastered", "tries", "frontier_mean", "power_on_share", "whole_tries",
    "whole_success",
)  # fmt: skip
_DIGITS = 6


@dataclass
class MetricsRows:
    """Converts messages to rows; a curriculum report becomes part of the next iteration's row."""

    _step: int = 0
    _reported: Row = field(default_factory=dict)

    def row(self, message: Message) -> Row | None:
        """Return the row that a message completes, if any."""
        match message:
            case Started():
                self._step = message.env_steps
            case SearchReport():
                return _named("search/", message.model_dump(include=set(_SEARCH)))
            case CurriculumReport():
                figures = message.model_dump(include=set(_CURRICULUM))
                self._reported |= _named("curriculum/", figures)
            case EvaluationDone():
                return {STEP: self._step} | _of_evaluation(message)
            case IterationDone():
                self._step = message.env_steps
                row = _of_iteration(message) | self._reported
                self._reported = {}
                return row
            case _:
                pass
        return None


def _of_iteration(done: IterationDone) -> Row:
    row = _named("", {"training_iteration": done.iteration, STEP: done.env_steps})
    for name in RunFigures.model_fields:
        value = getattr(done, name)
        row |= _named("", {_FIGURES.get(name, f"run/{name}"): value})
    row |= _named("run/", {"milestones_reached": len(done.milestones)})
    learner = {_LEARNER.get(name, name): value for name, value in done.learner.items()}
    row |= _named("learners/default_policy/", learner)
    row |= _named("reward/", {f"{name}_sum": total for name, total in done.reward_parts.items()})
    for name, part in done.reward_statistics.items():
        row |= _named(f"reward/{name}_", part.model_dump(exclude={"sum"}))
    return row | _named("reward_model/", {"version": done.reward_model_version})


def _of_evaluation(done: EvaluationDone) -> Row:
    return _named(
        "evaluation/" if done.player == "trained" else "evaluation_random/",
        {
            "training_iteration": done.iteration,
            "env_runners/episode_return_mean": done.return_mean,
            "milestone_fraction": done.fraction_mean,
            "milestones_iqm": done.milestones,
        },
    )


def _named(prefix: str, figures: dict[str, Any]) -> Row:
    """Return the finite numbers of `figures` with prefixed names, to six significant digits."""
    found: Row = {}
    for name, value in figures.items():
        if isinstance(value, int):
            found[f"{prefix}{name}"] = int(value)
        elif isinstance(value, float) and math.isfinite(value):
            found[f"{prefix}{name}"] = float(f"{value:.{_DIGITS}g}")
    return found
