"""Text on a run: one line while it trains, a summary at its end."""

from collections.abc import Sequence

from rlaif.contracts.telemetry.curriculum import CurriculumFigures
from rlaif.contracts.telemetry.search import SearchFigures, TreeNode
from rlaif.trainer.evaluation.result import best, read_all
from rlaif.trainer.run_folder.checkpoints import saved_run
from rlaif.trainer.run_folder.protocol import IterationDone
from rlaif.trainer.service.runs.state import RunState
from rlaif.trainer.settings import TrainerSettings


def progress_line(
    done: IterationDone, reward_model: int | None, curriculum: CurriculumFigures | None = None
) -> str:
    """Iteration, steps, speed, return, milestones, curriculum, reward model, time to the end."""
    return " | ".join(
        (
            f"iteration {done.iteration}",
            f"{done.env_steps:,} steps",
            f"{done.steps_per_second:,.0f} steps/s",
            f"return {_number(done.episode_return_mean)}",
            f"milestones {_share(done.milestone_fraction)}, {len(done.milestones)} seen",
            *([] if curriculum is None else [curriculum_line(curriculum)]),
            "no reward model" if reward_model is None else f"reward model {reward_model}",
            f"ends in {duration(done.seconds_left)}",
        )
    )


def search_line(report: SearchFigures) -> str:
    """Time, frames, states, level and flags of a search, its last discovery, time to its end."""
    return " | ".join(
        (
            f"search {duration(report.seconds)}",
            f"{report.frames / 1e6:.2f} M frames",
            f"{report.nodes:,} states of {report.workers} workers",
            f"level {report.level:g}",
            f"{report.marks} marks, {_newest(report)}",
            f"ends in at most {duration(report.seconds_left)}" if report.running else "over",
        )
    )


def find_line(node: TreeNode) -> str:
    """New flags of a state, and when it was found."""
    more = f" and {node.marks_left_out} more" if node.marks_left_out else ""
    when = f"{node.frames / 1e6:,.2f} M frames, {duration(node.seconds)}"
    return f"  found {', '.join(node.marks)}{more} after {when}"


def curriculum_line(report: CurriculumFigures) -> str:
    """Phase, mastered segments, mean frontier, success rates."""
    return " | ".join(
        (
            f"{report.phase}: {report.mastered} of {report.all_segments} segments",
            f"frontier {_share(report.frontier_mean)} remaining",
            f"success {_share(report.success_mean)}",
            _whole(report),
        )
    )


def _whole(report: CurriculumFigures) -> str:
    if report.whole_success is None:
        return "no end-to-end attempt"
    successes = round(report.whole_success * report.whole_tries)
    return f"end-to-end {successes} of {report.whole_tries}"


def _newest(report: SearchFigures) -> str:
    if report.found_seconds is None:
        return "none new yet"
    ago = f"{duration(report.seconds - report.found_seconds)} ago"
    # It may be omitted in the tree.
    marks = [
        mark for node in report.tree if node.seconds == report.found_seconds for mark in node.marks
    ]
    return f"the newest {ago}" + (f": {', '.join(marks)}" if marks else "")


def summary(state: RunState, settings: TrainerSettings, left: Sequence[str]) -> str:
    """How a run ended and where its files are; `left` lists what stays on this disk, and why."""
    last = state.last
    directory = settings.data_dir / "runs" / state.run_id
    limit = "QUEST_MINUTES" if settings.mode == "quest" else "RUN_HOURS"
    why = {
        "time": f"{limit} elapsed",
        "epoch": "end of the epoch",
        "evaluated": "evaluated",
        "learned": "the whole demonstration is mastered from power-on",
    }
    ended = why.get(state.finished or "", state.status)
    lines = [f"run {state.run_id}: {ended}"]
    if state.failure:
        lines.append(f"  failed    {state.failure}; see {directory / 'training.log'}")
    if last is not None:
        lines += [
            f"  trained   {duration(last.trained_seconds)}, {last.env_steps:,} steps, "
            f"{last.iteration} iterations, {last.episodes:,} episodes",
            f"  return    {_number(last.episode_return_mean)} (last 100 episodes)",
            f"  reached   {', '.join(last.milestones) or 'no milestone'}",
        ]
    top = best(read_all(settings.data_dir / "runs" / state.run_id))
    if top is not None:
        lines.append(
            f"  best      {top.fraction_mean:.1%} of the milestones, return {top.return_mean:.2f} "
            f"({top.checkpoint})"
        )
    if settings.mode != "evaluation":
        saved = saved_run(settings.data_dir, state.run_id)
        lines.append(f"  saved     {saved.words}, in {directory}")
        if last is not None and last.env_steps > saved.env_steps:
            lines.append(f"  lost      {last.env_steps - saved.env_steps:,} steps after it")
    lines += [f"  left      {each}" for each in left]
    if state.finished is None and state.status == "stopped":
        lines.append(f"  resume    rlaif-train --run-id {state.run_id}")
    return "\n".join(lines)


def duration(seconds: float | None) -> str:
    """A duration such as `3 h 05 min`; `?` for None."""
    if seconds is None:
        return "?"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def _number(value: float | None) -> str:
    return "?" if value is None else f"{value:.2f}"


def _share(value: float | None) -> str:
    return "?" if value is None else f"{value:.1%}"
