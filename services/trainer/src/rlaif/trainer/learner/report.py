"""Reports of an iteration and of the curriculum to the service."""

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict

import numpy as np

from rlaif.contracts.telemetry.curriculum import CurriculumSegment
from rlaif.trainer.curriculum.route import power_on_share
from rlaif.trainer.learner.algorithm.learner_rewards import SHAPING
from rlaif.trainer.learner.algorithm.ppo import ShapedPPO
from rlaif.trainer.learner.progress import RunTally
from rlaif.trainer.play.frontier import CurriculumFigures, SubtaskFigures
from rlaif.trainer.run_folder.protocol import CurriculumReport, IterationDone, PartFigures
from rlaif.trainer.run_folder.search_report import curriculum_figures, marks_name
from rlaif.trainer.settings.learning import CurriculumSettings


def course_report(course: CurriculumFigures, settings: CurriculumSettings) -> CurriculumReport:
    """Report of a curriculum with at least one subtask.

    The frontier of a subtask is a share of its places: 1 is the nearest to its goal, 0 means that
    the subtask is mastered.
    """
    subtasks = course.subtasks
    names = list(dict.fromkeys(subtask.demonstration for subtask in subtasks))
    mastered = sum(subtask.is_mastered for subtask in subtasks) / len(subtasks)
    figures = curriculum_figures(
        "chaining" if mastered == 1 else "backward",
        [_segment(subtask, names.index(subtask.demonstration)) for subtask in subtasks],
        power_on_share=power_on_share(settings, mastered),
        demonstrations=len(names),
        whole_tries=len(course.whole),
        whole_success=course.whole_success,
    )
    return CurriculumReport.model_validate(figures.model_dump())


def _segment(subtask: SubtaskFigures, demonstration: int) -> CurriculumSegment:
    return CurriculumSegment(
        demonstration=demonstration,
        from_mark=marks_name(subtask.begins_with) if subtask.begins_with else None,
        to_mark=marks_name(subtask.goal),
        frontier=0.0 if subtask.is_mastered else (subtask.at + 1) / subtask.places,
        success=subtask.success,
        tries=subtask.tries,
    )


WINDOW_SECONDS = 10.0
"""Longer than one iteration, whose batch may have been played during the last update."""


class StepRate:
    """Steps over the last ten seconds, or over the last iteration when that took longer.

    What is collected may have been played before that time: runners continue while the learner
    evaluates or saves. So the steps count over the time in which they were played where that is
    longer, and no rate is above that at which the runners play.
    """

    def __init__(self, now: float, steps: int) -> None:
        self._marks = deque([(now, steps, 0.0)])

    def after(self, now: float, steps: int, played_seconds: float = 0.0) -> float:
        """Steps per second, with `steps` in total at `now`; 0 when no time has passed.

        `played_seconds` is the time in which those since the last call were played, by the slowest
        of the runners that played side by side.
        """
        while len(self._marks) > 1 and now - self._marks[1][0] >= WINDOW_SECONDS:
            self._marks.popleft()
        played = self._marks[-1][2] + played_seconds
        began, before, played_before = self._marks[0]
        self._marks.append((now, steps, played))
        seconds = max(now - began, played - played_before)
        return (steps - before) / seconds if seconds > 0 else 0.0


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
