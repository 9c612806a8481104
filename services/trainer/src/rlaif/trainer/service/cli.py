"""`rlaif-train`: one run in the foreground, with a line of progress and a summary at its end.

It does what the service does except REST: uploads captures, loads champions, copies checkpoints,
sends telemetry. It also trains without NATS and S3, and reports what stays on this disk. With
`--metrics-port` it serves /metrics and /readyz.

Exit codes: 0 finished, or stopped and saved; 1 failed; 2 a setting is invalid.
"""

import argparse
import asyncio
import signal
import sys
import time
from collections.abc import Sequence

from rlaif.files.failures import command
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
from rlaif.trainer.run_folder.checkpoints import CheckpointError
from rlaif.trainer.run_folder.protocol import (
    CheckpointSaved,
    EvaluationDone,
    EvaluationFailed,
    IterationDone,
    Message,
    PhaseReport,
    RewardModelLoaded,
    RewardModelRefused,
    SearchReport,
    Started,
)
from rlaif.trainer.service.progress_line import find_line, progress_line, search_line, summary
from rlaif.trainer.service.runs.manager import RunManager
from rlaif.trainer.service.runtime import Trainer, metrics_page
from rlaif.trainer.settings import TrainerSettings

FINISHED, FAILED, WRONG_SETTINGS = 0, 1, 2

_NAME = "rlaif-train"
_BUS_SECONDS = 5.0
_ISSUE_SECONDS = 2.0
_LINE_SECONDS = 10.0
"""Between two lines of progress where no terminal is attached."""

_NEW_SEARCH_SECONDS = 60.0
"""A search that is older at its first report was resumed: its discoveries were printed before."""


@command(_NAME)
def main(argv: Sequence[str] | None = None) -> int:
    """Train, evaluate or run a pipeline; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog=_NAME,
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
    parser.add_argument("--resume", action="store_true", help="Resume the newest run.")
    options = Options(parser, TrainerSettings)
    arguments = parser.parse_args(argv)
    try:
        settings = options.load(arguments, log_format="text", log_level="error")
        configure_logging("trainer", settings.log_level, settings.log_format)
        export_spans("trainer")
        return asyncio.run(_run(settings, resume=arguments.resume, messages=arguments.messages))
    except (InvalidSettingsError, UnknownExporterError, StartupError, StorageError) as error:
        return _complain(str(error), WRONG_SETTINGS)


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

    def request_stop() -> None:
        if stop.is_set():
            runs.kill()
            return
        stop.set()
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
        except (WrongSettingsError, CheckpointError) as error:
            return _complain(str(error), WRONG_SETTINGS)
        except StorageError as error:
            named = settings.checkpoint if run_id is None else run_id
            return _complain(
                f"{named} is not on this disk, and the models store is unavailable ({error}): "
                "correct MODELS_STORE or S3_ENDPOINT_URL, or omit TRAINER_RUN_ID and "
                "TRAINER_CHECKPOINT to start a new run",
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
    """What stays on this disk, and why."""
    left, bus = [], trainer.pipeline.check_bus()
    if waiting := trainer.captures_waiting:
        left.append(f"{waiting} captures stay in the spool: {bus or 'the store was too slow'}")
    elif bus:
        left.append(f"no segment was captured for the judges: {bus}")
    if trainer.mirror.outage:
        left.append(f"checkpoints stay on this disk: {trainer.mirror.outage}")
    return left


async def _report_issues(writer: "_Writer", trainer: Trainer) -> None:
    """Report once that NATS is unavailable, and issues of the run when they begin and end."""
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


async def _first(*waits: object) -> None:
    tasks = [asyncio.ensure_future(each) for each in waits]  # type: ignore[call-overload]  # coroutines
    _, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()


class _MessageWriter:
    """One JSON object per line, as the service reads them from a Ray job's log."""

    def write(self, message: Message) -> None:
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

    def write(self, message: Message) -> None:
        match message:
            case IterationDone():
                state = self._runs.state
                model = state.reward_model_version if state else None
                self._progress(progress_line(message, model, state.curriculum if state else None))
            case SearchReport():
                self._search(message)
            case PhaseReport():
                self.note(f"{message.phase}: {message.words}")
            case Started() if message.restored_from:
                self.note(f"resumes from {message.restored_from} at step {message.env_steps:,}")
                for text in message.passed_over:
                    self.note(f"not resumed: {text}")
            case Started():
                self.note("starts")
            case CheckpointSaved():
                self.note(f"saved iteration {message.iteration}: {message.path}")
            case EvaluationDone():
                self.note(
                    f"evaluated iteration {message.iteration}: {message.fraction_mean:.1%} of the "
                    f"milestones, return {message.return_mean:.2f}: {message.path}"
                )
            case EvaluationFailed():
                self.note(f"the evaluation failed: {message.reason}")
            case RewardModelLoaded():
                self.note(f"reward model {message.version} is live from step {message.env_step:,}")
            case RewardModelRefused():
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

    def _search(self, message: SearchReport) -> None:
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
            sys.stdout.write(f"\r\x1b[K{line}")
            sys.stdout.flush()
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
