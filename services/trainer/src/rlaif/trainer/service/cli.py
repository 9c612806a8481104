"""`rlaif train`: one run in the foreground, with a line of progress and a summary at its end.

It works as the service without REST: uploads captures, loads champions, copies checkpoints, sends
telemetry. It also trains without NATS and S3, and reports the data that stays on this disk. With
`--metrics-port` it serves /metrics and /readyz.

Exit codes: 0 finished, or stopped and saved; 1 failed; 2 a setting is invalid.
"""

import argparse
import asyncio
import shutil
import signal
import sys
import time
from collections.abc import Coroutine, Sequence
from typing import Any

from rlaif.contracts.telemetry.curriculum import CurriculumFigures
from rlaif.contracts.telemetry.search import SearchFigures, TreeNode
from rlaif.files.failures import command
from rlaif.pacing.pause import SAME_REQUEST_SECONDS
from rlaif.service.cli import (
    PRECEDENCE,
    InvalidSettingsError,
    Options,
    StartupError,
)
from rlaif.service.logging import configure_logging
from rlaif.storage.ports import StorageError
from rlaif.tracing.spans import UnknownExporterError, export_spans
from rlaif.trainer.checks import WrongSettingsError
from rlaif.trainer.evaluation.result import best, read_all
from rlaif.trainer.run_folder import protocol
from rlaif.trainer.run_folder.checkpoints import CheckpointError, saved_run
from rlaif.trainer.run_folder.record import UnreadableRunError
from rlaif.trainer.service.runs.manager import RunManager
from rlaif.trainer.service.runs.state import RunState
from rlaif.trainer.service.runtime import Trainer, metrics_page
from rlaif.trainer.settings import TrainerSettings

_NAME = "rlaif train"
_BUS_SECONDS = 5.0
_ISSUE_SECONDS = 2.0
_LINE_SECONDS = 10.0
"""Interval of progress lines without a terminal."""

_NEW_SEARCH_SECONDS = 60.0
"""A search older than this at its first report was resumed: its discoveries were printed before."""


def progress_line(
    done: protocol.IterationDone,
    reward_model: int | None,
    curriculum: CurriculumFigures | None = None,
) -> str:
    """Iteration, steps, speed, return, milestones, curriculum, reward model, time to the end."""
    return " | ".join(
        (
            f"iteration {done.iteration}",
            f"{done.env_steps:,} steps",
            f"{done.steps_per_second:,.0f} decisions/s",
            *([] if (fps := done.frames_per_second) is None else [f"{fps:,.0f} frames/s"]),
            f"return {_number(done.episode_return_mean)}",
            f"milestones {_number(done.milestones_mean)} per episode, {len(done.milestones)} seen",
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
    """Phase, mastered subtasks, mean frontier, success rates."""
    return " | ".join(
        (
            f"{report.phase}: {report.mastered} of {report.all_segments} subtasks mastered",
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
    """The end of a run and its files; `left` lists the data that stays on this disk, and why."""
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
            f"iteration {last.iteration}, {last.episodes:,} episodes",
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
        lines.append(
            f"  resume    rlaif train --run-id {state.run_id}, with the other options as now"
        )
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


def overwrite(line: str) -> None:
    """Replace the terminal's last line, which would wrap if it were wider than the terminal."""
    width = shutil.get_terminal_size().columns
    shown = line if len(line) < width else f"{line[: width - 2]}…"
    sys.stdout.write(f"\r\x1b[K{shown}")
    sys.stdout.flush()


def _number(value: float | None) -> str:
    return "?" if value is None else f"{value:.2f}"


def _share(value: float | None) -> str:
    return "?" if value is None else f"{value:.1%}"


FINISHED, FAILED, WRONG_SETTINGS = 0, 1, 2


@command(_NAME, InvalidSettingsError, UnknownExporterError, StartupError, StorageError)
def main(argv: Sequence[str] | None = None) -> int:
    """Train, evaluate or run a pipeline; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog=_NAME,
        usage="%(prog)s [OPTION ...]",
        description="Train the agent in the foreground: continuously, for one epoch, or as a "
        "pipeline with evaluations; or evaluate a checkpoint. Ctrl-C saves and stops.",
        epilog=PRECEDENCE,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--messages",
        action="store_true",
        help="Write the run's messages as JSON lines instead of progress.",
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="Resume the newest run, with the other options as given now, such as --mode.",
    )
    options = Options(parser, TrainerSettings)
    arguments = parser.parse_args(argv)
    settings = options.load(arguments, log_format="text", log_level="error")
    configure_logging("trainer", settings.log_level, settings.log_format)
    export_spans("trainer")
    return asyncio.run(_run(settings, resume=arguments.resume, messages=arguments.messages))


async def _run(settings: TrainerSettings, *, resume: bool, messages: bool) -> int:
    trainer = Trainer(settings)
    runs = trainer.runs
    run_id = settings.run_id
    if resume and run_id is None:
        known = [record for record in runs.on_disk() if record.mode != "evaluation"]
        if not known:
            return _complain(f"no run to resume in {settings.data_dir}", WRONG_SETTINGS)
        run_id = known[0].run_id
    writer = _MessageWriter() if messages else _LineWriter(runs, settings)
    runs.listen(writer.write)
    stop = asyncio.Event()
    asked_at = 0.0

    def request_stop() -> None:
        nonlocal asked_at
        if stop.is_set():
            if time.monotonic() - asked_at > SAME_REQUEST_SECONDS:
                runs.kill()
            return
        stop.set()
        asked_at = time.monotonic()
        writer.note(
            "stopping; the run is saved first. A second Ctrl-C kills it and discards the training "
            "since the last checkpoint"
        )

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, request_stop)
    page = metrics_page(settings, trainer.readiness, trainer.metrics)
    async with page, trainer.running():
        try:
            supervisor = await runs.start(run_id)
        except (WrongSettingsError, CheckpointError, UnreadableRunError) as error:
            return _complain(str(error), WRONG_SETTINGS)
        except StorageError as error:
            named = settings.checkpoint if run_id is None else run_id
            return _complain(
                f"{named} is not on this disk, and the models store is unavailable ({error}): "
                "correct MODELS_STORE (a folder is one, too) or S3_ENDPOINT_URL, or omit "
                "TRAINER_RUN_ID and TRAINER_CHECKPOINT to start a new run",
                FAILED,
            )
        writer.begin(supervisor.state.run_id)
        reporting = asyncio.create_task(_report_issues(writer, trainer))
        await _first(stop.wait(), runs.wait())
        reporting.cancel()
        await trainer.finish(drain=True)
        writer.end(_left(trainer))
    return FAILED if supervisor.state.status == "failed" else FINISHED


def _left(trainer: Trainer) -> list[str]:
    left, bus = [], trainer.pipeline.check_bus()
    if waiting := trainer.captures_waiting:
        left.append(f"{waiting} captures stay in the spool: {bus or 'the store was too slow'}")
    elif bus:
        left.append(f"no segment was captured for the judges: {bus}")
    if trainer.mirror.outage:
        left.append(f"checkpoints stay on this disk: {trainer.mirror.outage}")
    return left


async def _report_issues(writer: "_Writer", trainer: Trainer) -> None:
    """Report once that NATS is unavailable, and issues of the run when they start and end."""
    reported: str | None = None
    began, bus_checked = time.monotonic(), False
    while True:
        if not bus_checked and time.monotonic() - began >= _BUS_SECONDS:
            bus_checked = True
            if (reason := trainer.pipeline.check_bus()) is not None:
                writer.note(f"no NATS: training continues, captures stay in the spool ({reason})")
        state = trainer.runs.state
        found = None if state is None else state.disk_issue or state.learning_issue
        if found != reported:
            writer.note(found or "the issue is resolved")
            reported = found
        await asyncio.sleep(_ISSUE_SECONDS)


async def _first(*waits: Coroutine[Any, Any, Any]) -> None:
    tasks = [asyncio.create_task(each) for each in waits]
    _, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()


class _MessageWriter:
    """One JSON object per line, as the service reads them from a Ray job's log."""

    def write(self, message: protocol.Message) -> None:
        sys.stdout.write(message.line().decode())
        sys.stdout.flush()

    def begin(self, run_id: str) -> None: ...

    def note(self, text: str) -> None:
        sys.stderr.write(f"{text}\n")

    def end(self, left: list[str]) -> None: ...


class _LineWriter:
    """Text for people; on a terminal the line of progress is overwritten."""

    def __init__(self, runs: RunManager, settings: TrainerSettings) -> None:
        self._runs = runs
        self._settings = settings
        self._written = 0.0
        self._open_line = False
        self._found: set[int] = set()

    def begin(self, run_id: str) -> None:
        directory = self._settings.data_dir / "runs" / run_id
        self.note(f"run {run_id}, {self._settings.mode}, in {directory}")

    def write(self, message: protocol.Message) -> None:
        match message:
            case protocol.IterationDone():
                state = self._runs.state
                model = state.reward_model_version if state else None
                self._progress(progress_line(message, model, state.curriculum if state else None))
            case protocol.SearchReport():
                self._search(message)
            case protocol.PhaseReport():
                self.note(f"{message.phase}: {message.words}")
            case protocol.Started() if message.restored_from:
                self.note(f"resumes from {message.restored_from} at step {message.env_steps:,}")
                for text in message.passed_over:
                    self.note(f"not resumed: {text}")
            case protocol.Started():
                self.note("starts")
            case protocol.CheckpointSaved():
                self.note(f"saved iteration {message.iteration}: {message.path}")
            case protocol.EvaluationDone():
                who = "iteration" if message.player == "trained" else "a random policy at iteration"
                self.note(
                    f"evaluated {who} {message.iteration}: {message.fraction_mean:.1%} of the "
                    f"milestones, return {message.return_mean:.2f}: {message.path}"
                )
            case protocol.EvaluationFailed():
                self.note(f"the evaluation failed: {message.reason}")
            case protocol.RewardModelLoaded():
                self.note(f"reward model {message.version} is live from step {message.env_step:,}")
            case protocol.RewardModelRefused():
                self.note(f"reward model {message.version} rejected: {message.reason}")
            case _:
                pass

    def note(self, text: str) -> None:
        if self._open_line:
            sys.stdout.write("\n")
            self._open_line = False
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()

    def end(self, left: list[str]) -> None:
        state = self._runs.state
        assert state is not None, "a run was started"
        self.note(summary(state, self._settings, left))

    def _search(self, message: protocol.SearchReport) -> None:
        if self._found or message.seconds < _NEW_SEARCH_SECONDS:
            for node in message.tree:
                if node.node not in self._found:
                    self.note(find_line(node))
        self._found.update(node.node for node in message.tree)
        if message.running:
            self._progress(search_line(message))
        else:
            self.note(search_line(message))

    def _progress(self, line: str) -> None:
        if sys.stdout.isatty():
            overwrite(line)
            self._open_line = True
        elif time.monotonic() - self._written >= _LINE_SECONDS or not self._written:
            self._written = time.monotonic()
            self.note(line)


_Writer = _MessageWriter | _LineWriter


def _complain(message: str, code: int) -> int:
    sys.stderr.write(f"{_NAME}: error: {message}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
