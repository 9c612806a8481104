"""The training process: commands in, messages out, captures into the spool.

Started by the service as `python -m rlaif.trainer.learner.process RUN_FILE MESSAGE_FD`, apart from
it because learning and the emulators would block its event loop.

Exit codes: 0 finished or stopped; 1 failed; 2 failed, and a retry would fail in the same way.
"""

import contextlib
import os
import signal
import sys
import threading
import traceback
import warnings
from pathlib import Path
from queue import SimpleQueue
from typing import BinaryIO

from rlaif.reward_net.errors import RewardNetError
from rlaif.trainer import checks
from rlaif.trainer.curriculum.library import DemonstrationsError
from rlaif.trainer.learner import quest
from rlaif.trainer.learner.run_context import Requests, RunContext
from rlaif.trainer.learner.start import start_runners
from rlaif.trainer.run_folder import checkpoints, disk, session
from rlaif.trainer.run_folder.metrics_log import MetricsLog
from rlaif.trainer.run_folder.npz_tree import NpzTreeError
from rlaif.trainer.run_folder.protocol import COMMANDS, Command, Failed, Finished, Message, Stop
from rlaif.trainer.run_folder.quest_record import QuestRecordError
from rlaif.trainer.run_folder.record import RunRecord
from rlaif.trainer.run_folder.trackers import tracker
from rlaif.trainer.search.tree import TreeError
from rlaif.trainer.settings import TrainerSettings

_FINAL = (
    checks.WrongSettingsError,
    checkpoints.CheckpointError,
    DemonstrationsError,
    QuestRecordError,
    TreeError,
)
"""Errors that a retry would repeat."""

_NICENESS = 5
"""Training yields to the services on its cores: a late heartbeat costs more than a step."""


def _read_commands(
    stream: BinaryIO, commands: "SimpleQueue[Command]", may_end: threading.Event
) -> None:
    """Queue commands until the input ends, because the service has ended; then end as well.

    The service that replaces it starts a process of its own, and two must not train.
    """
    for line in stream:
        command = COMMANDS.validate_json(line)
        commands.put(command)
        if isinstance(command, Stop) and may_end.is_set():
            _end(0)
    _end(1)


def _end(code: int) -> None:
    """End at once, with all processes that were started here."""
    if os.getsid(0) == os.getpid():
        session.end(os.getpid())
    os._exit(code)


def _cluster(settings: TrainerSettings) -> contextlib.AbstractContextManager[None]:
    """Joins the Ray cluster that the settings name, if any."""
    if not settings.joins_cluster:
        return contextlib.nullcontext()
    from rlaif.trainer.learner.runners.cluster import joined  # Ray is for clusters alone

    return joined(settings.ray_address)


def _run(run: RunContext, requests: Requests, may_end: threading.Event) -> None:
    """Execute the phases of the run up to its end or a stop request."""
    ready: RunContext | None = run
    if run.settings.mode == "quest":
        may_end.clear()
        ready = quest.prepare(run, requests)
        may_end.set()
    if ready is None:
        run.send(Finished(why="asked"))
        return
    start = start_runners(ready)
    # Takes seconds, in which the runners start.
    from rlaif.trainer.learner.training import Training

    Training(ready, requests, may_end, start).run()


def main(arguments: list[str]) -> int:
    """Run the training process; returns its exit code."""
    run_file, message_fd = Path(arguments[0]), int(arguments[1])
    session.step_back(_NICENESS)
    # training.log may be on a full disk: a lost line must not end the run.
    sys.stdout, sys.stderr = disk.lossy_text(1), disk.lossy_text(2)
    warnings.simplefilter("ignore", DeprecationWarning)  # RLlib's own, on every start
    record = RunRecord.read(run_file)
    commands: SimpleQueue[Command] = SimpleQueue()
    may_end = threading.Event()
    may_end.set()
    # A file of its own: the thread still reads when the interpreter locks sys.stdin at its end.
    input_file = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    threading.Thread(
        target=_read_commands, args=(input_file, commands, may_end), name="commands", daemon=True
    ).start()
    with os.fdopen(message_fd, "wb") as messages:

        def send(message: Message) -> None:
            messages.write(message.line())
            messages.flush()

        settings = TrainerSettings.model_validate_json(record.settings)
        trackers = [settings.metrics_to] if settings.metrics_to else []
        metrics = MetricsLog(
            run_file.parent, send, [tracker(each, record, run_file.parent) for each in trackers]
        )
        run = RunContext(settings, record, run_file.parent, metrics.send)
        try:
            checks.check_start(settings)
            with _cluster(settings):
                # Job managers and systemd signal every process of a service; this one ends when the
                # service requests it. Set after Ray's own handler.
                signal.signal(signal.SIGTERM, lambda number, frame: None)
                _run(run, Requests(commands), may_end)
        except _FINAL as error:
            send(Failed(reason=str(error), is_final=True))
            return 2
        except (NpzTreeError, RewardNetError) as error:
            send(Failed(reason=f"the checkpoint cannot be resumed: {error}", is_final=True))
            return 2
        except Exception as error:
            traceback.print_exc()
            of_disk = disk.why(error) if disk.is_disk_error(error) else None
            send(Failed(reason=f"{type(error).__name__}: {error}", of_disk=of_disk))
            return 1
        finally:
            metrics.close()
    return 0


if __name__ == "__main__":
    guard = session.guard()  # acts when its input ends, so the reference is kept
    _end(main(sys.argv[1:]))
