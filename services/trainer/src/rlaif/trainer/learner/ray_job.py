"""Submits, monitors and stops a run as a job on a Ray cluster.

The service starts it as `python -m rlaif.trainer.learner.ray_job RUN_FILE MESSAGE_FD`, in place of
the training process. The job is `rlaif train --messages`, which connects to NATS and S3 itself; its
output is forwarded as messages. If the service is killed, the job continues, and the next service
finds it by the run's id.

The exit codes are those of the training process.
"""

import asyncio
import math
import os
import sys
import threading
import time
from collections.abc import AsyncIterator, Collection
from pathlib import Path
from queue import SimpleQueue
from typing import Any, BinaryIO

from pydantic import ValidationError
from ray.job_submission import JobStatus, JobSubmissionClient

from rlaif.service.child_process import ONE_THREAD
from rlaif.service.settings import describe
from rlaif.trainer.run_folder.protocol import COMMANDS, MESSAGES, Failed, Stop
from rlaif.trainer.run_folder.provenance import variables
from rlaif.trainer.run_folder.record import RunRecord
from rlaif.trainer.settings import TrainerSettings

_CONNECT_SECONDS = 5.0
"""Pause between two attempts to reach the cluster."""

_HERE_ALONE = frozenset(
    {
        "host", "port", "metrics_port", "data_dir", "autostart", "run_id", "run_on", "ray_address",
        "log_format",
    }
)  # fmt: skip
"""Settings that have no meaning, or another one, on the cluster."""


def environment(settings: TrainerSettings, own: Collection[str] = ()) -> dict[str, str]:
    """Environment variables of the job: settings with other values than their defaults.

    Those of this run only, `own` by flat name, are passed with any value, since the cluster's pods
    may have another one. Without credentials, which the dashboard would show: the pods have them as
    secrets.
    """
    every = variables(settings, without=_HERE_ALONE)
    changed = variables(settings, without=_HERE_ALONE, changed=True)
    names = {each.environment for each in describe(TrainerSettings) if each.name in own}
    return {name: value for name, value in every.items() if name in changed or name in names}


def _stop_wait(settings: TrainerSettings) -> dict[str, str]:
    """Environment variable for the time to stop, after which Ray kills a job; 3 s by default."""
    return {"RAY_JOB_STOP_WAIT_TIME_S": str(math.ceil(settings.stop_seconds) + 20)}


def running_job(client: Any, run_id: str) -> str | None:
    """Return the id of the job that trains a run; None if there is no such job."""
    for job in client.list_jobs():
        name = job.submission_id or ""
        mine = name == run_id or name.startswith(f"{run_id}-attempt-")
        if mine and job.status in (JobStatus.PENDING, JobStatus.RUNNING):
            return str(name)
    return None


def submit(client: Any, settings: TrainerSettings, record: RunRecord) -> str:
    """Submit the run unless a job trains it already; returns the job's id."""
    found = running_job(client, record.run_id)
    if found is not None:
        return found
    environ = ONE_THREAD | _stop_wait(settings) | environment(settings, record.overrides)
    return str(
        client.submit_job(
            entrypoint=f"rlaif train --messages --run-id {record.run_id}",
            submission_id=f"{record.run_id}-attempt-{record.attempts}",
            runtime_env={"env_vars": environ},
            metadata={"run_id": record.run_id},
        )
    )


async def relay(lines: AsyncIterator[str], messages: BinaryIO) -> None:
    """Forward the messages in a job's log; other lines remain in the cluster's logs only."""
    rest = ""
    async for chunk in lines:
        *whole, rest = (rest + chunk).split("\n")
        for line in whole:
            if not line.startswith("{"):
                continue
            try:
                message = MESSAGES.validate_json(line)
            except ValidationError:
                continue
            messages.write(message.line())
            messages.flush()


def connected(address: str | None, messages: BinaryIO) -> Any:
    """Return a client of the cluster; one that does not answer is reported once and awaited.

    A cluster starts or restarts for minutes, and a run whose process fails quickly is given up.
    """
    is_reported = False
    while True:
        try:
            return JobSubmissionClient(address)
        except OSError as error:
            if not is_reported:
                messages.write(Failed(reason=f"Ray at {address}: {error}").line())
                messages.flush()
                is_reported = True
            time.sleep(_CONNECT_SECONDS)


def listen(stream: BinaryIO, job: "SimpleQueue[tuple[Any, str]]", may_end: threading.Event) -> None:
    """Stop the job on request; end this process on request while there is none (`may_end`)."""
    found = None
    for line in stream:
        if isinstance(COMMANDS.validate_json(line), Stop):
            if may_end.is_set():
                os._exit(0)
            client, name = found = found or job.get()
            client.stop_job(name)
    os._exit(1)  # the service has ended; the job continues


def main(arguments: list[str]) -> int:
    """Submit the run, follow it until it ends, and return the exit code."""
    run_file, message_fd = Path(arguments[0]), int(arguments[1])
    record = RunRecord.read(run_file)
    settings = TrainerSettings.model_validate_json(record.settings)
    input_file = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    with os.fdopen(message_fd, "wb") as messages:
        submitted: SimpleQueue[tuple[Any, str]] = SimpleQueue()
        may_end = threading.Event()
        may_end.set()
        threading.Thread(
            target=listen, args=(input_file, submitted, may_end), name="commands", daemon=True
        ).start()
        try:
            client = connected(settings.ray_address, messages)
            may_end.clear()
            job = submit(client, settings, record)
            submitted.put((client, job))
            asyncio.run(relay(client.tail_job_logs(job), messages))
            status = client.get_job_status(job)
        except Exception as error:  # Ray passes on those of its HTTP clients
            reason = f"Ray at {settings.ray_address}: {error}"
            messages.write(Failed(reason=reason).line())
            return 1
        if status in (JobStatus.SUCCEEDED, JobStatus.STOPPED):
            return 0
        info = client.get_job_info(job)
        final = getattr(info, "driver_exit_code", None) == 2  # exit code of rlaif train
        reason = f"Ray job {job} {status}: {info.message}"
        messages.write(Failed(reason=reason, is_final=final).line())
        return 2 if final else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
