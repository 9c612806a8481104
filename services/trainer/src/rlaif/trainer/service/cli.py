"""`rlaif-train`: one run in the foreground, with a line of progress and a summary at its end.

It does what the service does but for REST: uploads captures, loads champions, copies checkpoints,
sends telemetry. Without NATS or S3 it trains all the same and says what stays on this disk. With
`--metrics-port` it also shows /metrics and /readyz.

Exit codes: 0 finished, or stopped and saved; 1 failed; 2 a setting is wrong.
"""

import argparse
import asyncio
import signal
import sys
import time
from collections.abc import Callable, Sequence

from rlaif.files.failures import command
from rlaif.service.cli import (
    PRECEDENCE,
    InvalidSettingsError,
    StartupError,
    add_settings,
    load_settings,
)
from rlaif.service.health import Readiness
from rlaif.service.logging import configure_logging
from rlaif.service.metrics import ServiceMetrics
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
    PhaseTold,
    RewardModelLoaded,
    RewardModelRefused,
    SearchTold,
    Started,
)
from rlaif.trainer.service.job_page import job_page
from rlaif.trainer.service.progress_line import (
    find_line,
    progress_line,
    search_line,
    summary,
)
from rlaif.trainer.service.runs.manager import RunManager
from rlaif.trainer.service.runs.state import RunState
from rlaif.trainer.service.runs.store_mirror import StoreMirror
from rlaif.trainer.service.runtime import add_run_checks, ring_lifecycle
from rlaif.trainer.settings import TrainerSettings

FINISHED, FAILED, WRONG_SETTINGS = 0, 1, 2

_NAME = "rlaif-train"
_DRAIN_SECONDS = 10.0
_WARN_SECONDS = 5.0
_TROUBLE_SECONDS = 2.0
_LINE_SECONDS = 10.0
"""Between two lines of progress where there is no terminal to write over."""

_NEW_SEARCH_SECONDS = 60.0
"""A search that is older when first heard of was resumed: what it had found was told before."""


@command(_NAME)
def main(argv: Sequence[str] | None = None) -> int:
    """Train, evaluate or run a pipeline; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog=_NAME,
        description="Trains the agent in the foreground: continuously, one epoch, or a pipeline "
        "with evaluations; or evaluates a checkpoint. Ctrl-C saves.",
        epilog=PRECEDENCE,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--messages",
        action="store_true",
        help="Write the run's messages as JSON, one a line, instead of lines for people.",
    )
    parser.add_argument("--resume", action="store_true", help="Resume the newest run.")
    options = add_settings(parser, TrainerSettings)
    arguments = parser.parse_args(argv)
    quiet = {"log_format": "text", "log_level": "error"}
    try:
        settings = load_settings(TrainerSettings, quiet | options(arguments))
    except InvalidSettingsError as error:
        return _complain(str(error), WRONG_SETTINGS)
    configure_logging("trainer", settings.log_level, settings.log_format)
    try:
        export_spans("trainer")
    except UnknownExporterError as error:
        return _complain(str(error), WRONG_SETTINGS)
    try:
        return asyncio.run(_run(settings, resume=arguments.resume, messages=arguments.messages))
    except (StartupError, StorageError) as error:
        return _complain(str(error), WRONG_SETTINGS)


async def _run(settings: TrainerSettings, *, resume: bool, messages: bool) -> int:
    metrics = ServiceMetrics("trainer")
    runs = RunManager(settings, metrics)
    readiness = Readiness()
    ring = ring_lifecycle(settings, runs, readiness, metrics)
    mirror = StoreMirror.of(settings, lambda: runs.state)
    add_run_checks(readiness, runs, mirror)
    run_id = settings.run.id
    if resume and run_id is None:
        known = [record for record in runs.on_disk() if record.mode != "evaluation"]
        if not known:
            return _complain(f"no run to resume in {settings.data_dir}", WRONG_SETTINGS)
        run_id = known[0].run_id
    writer = _MessageWriter() if messages else _LineWriter(lambda: runs.state, settings)
    runs.listen(writer.take)
    stop = asyncio.Event()

    def ask_to_stop() -> None:
        if stop.is_set():
            runs.kill()
            return
        stop.set()
        writer.note(
            "stopping; the run is saved first. Ctrl-C again ends it at once and gives up what was "
            "trained since the last checkpoint"
        )

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ask_to_stop)
    async with job_page(settings, readiness, metrics), ring.running(readiness):
        try:
            supervisor = await runs.start(run_id)
        except (WrongSettingsError, CheckpointError) as error:
            return _complain(str(error), WRONG_SETTINGS)
        except StorageError as error:
            named = settings.run.checkpoint if run_id is None else run_id
            return _complain(
                f"{named} is not on this disk, and the models store does not answer ({error}): "
                "correct MODELS_STORE or S3_ENDPOINT_URL, or leave out TRAINER_RUN_ID and "
                "TRAINER_CHECKPOINT to begin a new run",
                FAILED,
            )
        writer.begin(supervisor.state.run_id)
        beside = [
            asyncio.create_task(mirror.run()),
            asyncio.create_task(_warn(writer, ring.check_bus)),
            asyncio.create_task(_tell_trouble(writer, runs)),
        ]
        await _first(stop.wait(), runs.wait())
        if stop.is_set():
            await runs.stop()
        for task in beside:
            task.cancel()
        job = ring.job
        if job is not None:
            await _drain(runs, lambda: job.uploader.outage)
        await mirror.copy_last()
        writer.end(supervisor.state, _left(runs, ring.check_bus(), mirror.outage))
    return FAILED if supervisor.state.status == "failed" else FINISHED


def _left(runs: RunManager, bus: str | None, store: str | None) -> list[str]:
    """What stays on this disk, and why."""
    left = []
    waiting = sum(spool.count() for spool in runs.spools())
    if waiting:
        left.append(f"{waiting} captures stay in the spool: {bus or 'the store was too slow'}")
    elif bus:
        left.append(f"no segment was captured for the judges: {bus}")
    if store:
        left.append(f"checkpoints stay on this disk: {store}")
    return left


async def _warn(writer: "_Writer", bus: Callable[[], str | None]) -> None:
    """Say once that NATS is away."""
    await asyncio.sleep(_WARN_SECONDS)
    why = bus()
    if why is not None:
        writer.note(f"no NATS: training goes on, captures stay in the spool ({why})")


async def _tell_trouble(writer: "_Writer", runs: RunManager) -> None:
    """Say what the run waits for, or does not learn from, and when that is over."""
    said: str | None = None
    while True:
        found = runs.disk_trouble or runs.learning_trouble
        if found != said:
            writer.note(found or "all is well again")
            said = found
        await asyncio.sleep(_TROUBLE_SECONDS)


async def _drain(runs: RunManager, outage: Callable[[], str | None]) -> None:
    """Give the uploader a moment for the captures that wait."""
    deadline = time.monotonic() + _DRAIN_SECONDS
    while outage() is None and time.monotonic() < deadline:
        if not any(spool.count() for spool in runs.spools()):
            return
        await asyncio.sleep(0.2)


async def _first(*waits: object) -> None:
    tasks = [asyncio.ensure_future(each) for each in waits]  # type: ignore[call-overload]  # coroutines
    _, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()


class _MessageWriter:
    """One JSON object a line, as the service reads them from a Ray job's log."""

    def take(self, message: Message) -> None:
        sys.stdout.write(message.line().decode())
        sys.stdout.flush()

    def begin(self, run_id: str) -> None: ...

    def note(self, text: str) -> None:
        sys.stderr.write(f"{text}\n")

    def end(self, state: RunState, left: list[str]) -> None: ...


class _LineWriter:
    """Lines for people; on a terminal the line of progress is written over."""

    def __init__(self, state: Callable[[], RunState | None], settings: TrainerSettings) -> None:
        self._state = state
        self._settings = settings
        self._written = 0.0
        self._open_line = False
        self._found: set[int] = set()

    def begin(self, run_id: str) -> None:
        directory = self._settings.data_dir / "runs" / run_id
        self.note(f"run {run_id}, {self._settings.run.mode}, in {directory}")

    def take(self, message: Message) -> None:
        match message:
            case IterationDone():
                state = self._state()
                model = state.reward_model_version if state else None
                course = state.curriculum if state else None
                self._progress(progress_line(message, model, course))
            case SearchTold():
                self._search(message)
            case PhaseTold():
                self.note(f"{message.phase}: {message.words}")
            case Started() if message.restored_from:
                self.note(f"resumes from {message.restored_from} at step {message.env_steps:,}")
                for text in message.passed_over:
                    self.note(f"not resumed: {text}")
            case Started():
                self.note("begins")
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
                self.note(f"reward model {message.version} counts from step {message.env_step:,}")
            case RewardModelRefused():
                self.note(f"reward model {message.version} refused: {message.reason}")
            case _:
                pass

    def note(self, text: str) -> None:
        if self._open_line:
            sys.stdout.write("\n")
            self._open_line = False
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()

    def end(self, state: RunState, left: list[str]) -> None:
        self.note(summary(state, self._settings, left))

    def _search(self, message: SearchTold) -> None:
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
