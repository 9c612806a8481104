"""The training process: receives commands, sends messages, and writes captures to the spool.

The service starts it as `python -m rlaif.trainer.learner.process RUN_FILE MESSAGE_FD`, because
learning and the emulators would block the event loop of the service.

Exit codes: 0 finished or stopped; 1 failed; 2 failed with an error that a retry would repeat.
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
"""Lower priority than services on the same cores, whose heartbeats must be on time."""


def _read_commands(
    stream: BinaryIO, commands: "SimpleQueue[Command]", may_end: threading.Event
) -> None:
    """Queue commands until the input ends, which means that the service has ended; then exit.

    The next service starts its own process, and two processes must not train the same run.
    """
    for line in stream:
        command = COMMANDS.validate_json(line)
        commands.put(command)
        if isinstance(command, Stop) and may_end.is_set():
            _end(0)
    _end(1)


def _end(code: int) -> None:
    """Exit immediately and end all processes that were started here."""
    if os.getsid(0) == os.getpid():
        session.end(os.getpid())
    os._exit(code)


def _cluster(settings: TrainerSettings) -> contextlib.AbstractContextManager[None]:
    """Return a context in which the Ray cluster of the settings is joined, if they have one."""
    if not settings.joins_cluster:
        return contextlib.nullcontext()
    from rlaif.trainer.learner.runners.cluster import joined  # Ray is only needed on a cluster

    return joined(settings.ray_address)


def _run(run: RunContext, requests: Requests, may_end: threading.Event) -> None:
    """Execute the phases of the run until it ends or a stop is requested."""
    ready: RunContext | None = run
    if run.settings.mode == "quest":
        may_end.clear()
        ready = quest.prepare(run, requests)
        may_end.set()
    if ready is None:
        run.send(Finished(why="asked"))
        return
    start = start_runners(ready)
    # The import takes seconds, during which the runners start.
    from rlaif.trainer.learner.training import Training

    Training(ready, requests, may_end, start).run()


def main(arguments: list[str]) -> int:
    """Run the training process and return its exit code."""
    run_file, message_fd = Path(arguments[0]), int(arguments[1])
    session.step_back(_NICENESS)
    # training.log may be on a full disk: a failed write must not end the run.
    sys.stdout, sys.stderr = disk.lossy_text(1), disk.lossy_text(2)
    warnings.simplefilter("ignore", DeprecationWarning)  # RLlib's own, on every start
    record = RunRecord.read(run_file)
    commands: SimpleQueue[Command] = SimpleQueue()
    may_end = threading.Event()
    may_end.set()
    # A separate file: the thread still reads while the interpreter locks sys.stdin at shutdown.
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
                # Job managers and systemd signal every process of a service; this one ends at the
                # request of the service. Set after Ray has set its own handler.
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
    guard = session.guard()  # it acts when its input is closed: keep the reference
    _end(main(sys.argv[1:]))
