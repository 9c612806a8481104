"""A run in words: one line while it trains, a few at its end."""

from collections.abc import Sequence

from rlaif.contracts.curriculum_figures import CurriculumFigures
from rlaif.contracts.search_figures import SearchFigures, TreeNode
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
            *([] if curriculum is None else [curriculum_words(curriculum)]),
            "no reward model" if reward_model is None else f"reward model {reward_model}",
            f"ends in {duration(done.seconds_left)}",
        )
    )


def search_line(told: SearchFigures) -> str:
    """Time, frames, states, level and marks of a search, its newest find, time to its end."""
    return " | ".join(
        (
            f"search {duration(told.seconds)}",
            f"{told.frames / 1e6:.2f} M frames",
            f"{told.nodes:,} states of {told.workers} workers",
            f"level {told.level:g}",
            f"{told.marks} marks, {_newest(told)}",
            f"ends in {duration(told.seconds_left)} at the latest" if told.running else "over",
        )
    )


def find_line(node: TreeNode) -> str:
    """The marks that a state was the first to have, and when it was found."""
    more = f" and {node.marks_left_out} more" if node.marks_left_out else ""
    when = f"{node.frames / 1e6:,.2f} M frames, {duration(node.seconds)}"
    return f"  found {', '.join(node.marks)}{more} after {when}"


def curriculum_words(told: CurriculumFigures) -> str:
    """Phase, segments that are mastered, mean frontier, success, and that of the whole way."""
    return " | ".join(
        (
            f"{told.phase}: {told.mastered} of {told.all_segments} segments",
            f"frontier {_share(told.frontier_mean)} to go",
            f"success {_share(told.success_mean)}",
            _whole(told),
        )
    )


def _whole(told: CurriculumFigures) -> str:
    if told.whole_success is None:
        return "the whole way not tried"
    return f"the whole way {round(told.whole_success * told.whole_tries)} of {told.whole_tries}"


def _newest(told: SearchFigures) -> str:
    if told.found_seconds is None:
        return "none new yet"
    ago = f"{duration(told.seconds - told.found_seconds)} ago"
    # A tree that is not told whole may lack it.
    marks = [
        mark for node in told.tree if node.seconds == told.found_seconds for mark in node.marks
    ]
    return f"the newest {ago}" + (f": {', '.join(marks)}" if marks else "")


def summary(state: RunState, settings: TrainerSettings, left: Sequence[str]) -> str:
    """How a run ended, and what is where; `left` says what stays on this disk, and why."""
    last = state.last
    directory = settings.data_dir / "runs" / state.run_id
    limit = "QUEST_MINUTES" if settings.mode == "quest" else "RUN_HOURS"
    why = {
        "time": f"{limit} are over",
        "epoch": "its epoch is over",
        "evaluated": "evaluated",
        "learned": "play from power-on comes to the end of the way",
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
    """Such as `3 h 05 min`; `?` when it is unknown."""
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
