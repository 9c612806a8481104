"""A run as a Ray job: what is submitted, what comes back. The cluster is a stand-in."""

import io
import os
import sys
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

import pytest
from ray.job_submission import JobStatus

from rlaif.service.metrics import ServiceMetrics
from rlaif.trainer.learner import ray_job
from rlaif.trainer.learner.ray_job import environment, relay, submit
from rlaif.trainer.run_folder.protocol import Failed, Finished, Started, Stop
from rlaif.trainer.run_folder.record import RunRecord
from rlaif.trainer.service.runs.manager import RunManager
from rlaif.trainer.service.runs.supervisor import RunSupervisor
from rlaif.trainer.settings import TrainerSettings

RECORD = RunRecord(
    run_id="r-1", created_at=datetime(2026, 3, 1, tzinfo=UTC), attempts=2, settings="{}"
)


@dataclass
class Job:
    submission_id: str
    status: JobStatus


@dataclass
class Cluster:
    jobs: list[Job] = field(default_factory=list)
    submitted: list[dict[str, Any]] = field(default_factory=list)

    def list_jobs(self) -> list[Job]:
        return self.jobs

    def submit_job(self, **job: Any) -> str:
        self.submitted.append(job)
        return str(job["submission_id"])


def settings(tmp_path: Path) -> TrainerSettings:
    return TrainerSettings.model_validate(
        {
            "data_dir": tmp_path,
            "run_on": "ray-job",
            "ray_address": "http://head:8265",
            "mode": "pipeline",
            "epoch_steps": 1000,
            "metrics_port": 8081,
            "nats_url": "nats://user:secret@nats:4222",
            "s3_access_key": "secret",
            "s3_secret_key": "secret",
            "s3_endpoint_url": "http://s3:9000",
        }
    )


def test_the_job_gets_the_settings_that_were_chosen_and_no_credential_and_no_port(tmp_path: Path):
    variables = environment(settings(tmp_path))
    assert variables == {
        "S3_ENDPOINT_URL": "http://s3:9000",
        "EPOCH_STEPS": "1000",
        "TRAINER_MODE": "pipeline",
    }


def test_a_setting_of_the_run_reaches_the_job_with_the_default_s_value_too(tmp_path: Path):
    """The pods of the cluster may have another one, as RAY_WORKERS of the component ray-cluster."""
    default = TrainerSettings.model_fields["ray_workers"].default
    run = settings(tmp_path).model_copy(update={"ray_workers": default})
    assert "RAY_WORKERS" not in environment(run)
    cluster = Cluster()
    submit(cluster, run, RECORD.model_copy(update={"overrides": {"ray_workers": default}}))
    assert cluster.submitted[0]["runtime_env"]["env_vars"]["RAY_WORKERS"] == str(default)


def test_a_run_is_submitted_once(tmp_path: Path):
    cluster = Cluster([Job("r-1-attempt-0", JobStatus.FAILED), Job("r-10-attempt-0", "RUNNING")])
    assert submit(cluster, settings(tmp_path), RECORD) == "r-1-attempt-2"
    (job,) = cluster.submitted
    assert job["entrypoint"] == "rlaif train --messages --run-id r-1"
    assert job["runtime_env"]["env_vars"] == {
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "RAY_JOB_STOP_WAIT_TIME_S": "60",
    } | environment(settings(tmp_path))
    cluster.jobs.append(Job("r-1-attempt-2", JobStatus.RUNNING))
    assert submit(cluster, settings(tmp_path), RECORD) == "r-1-attempt-2"
    assert len(cluster.submitted) == 1, "the next service finds the job that goes on"


def test_a_cluster_that_starts_is_awaited_and_reported_once(monkeypatch: pytest.MonkeyPatch):
    """A run is given up after four quick ends of its process, and pods start in any order."""
    answers = iter([ConnectionError("refused")] * 6 + ["client"])
    monkeypatch.setattr(ray_job, "_CONNECT_SECONDS", 0)

    def client(address: str) -> str:
        answer = next(answers)
        if isinstance(answer, ConnectionError):
            raise answer
        return answer

    monkeypatch.setattr(ray_job, "JobSubmissionClient", client)
    out = io.BytesIO()
    assert ray_job.connected("http://head:8265", out) == "client"
    assert out.getvalue() == Failed(reason="Ray at http://head:8265: refused").line()


@pytest.mark.parametrize(
    ("connects", "stopped", "code"), [(True, [], 0), (False, ["r-1", "r-1"], 1)]
)
def test_a_stop_ends_the_wait_for_the_cluster_or_the_job(
    monkeypatch: pytest.MonkeyPatch, connects: bool, stopped: list[str], code: int
):
    found: list[str] = []
    client = SimpleNamespace(stop_job=found.append)
    submitted: SimpleQueue[tuple[Any, str]] = SimpleQueue()
    submitted.put((client, "r-1"))
    may_end = threading.Event()
    if connects:
        may_end.set()
    monkeypatch.setattr(os, "_exit", sys.exit)
    with pytest.raises(SystemExit) as ended:
        ray_job.listen(io.BytesIO(Stop().line() * 2), submitted, may_end)
    assert (ended.value.code, found) == (code, stopped)


def test_the_wait_for_a_cluster_is_an_issue_until_the_run_starts(tmp_path: Path):
    runs = RunManager(settings(tmp_path), ServiceMetrics("trainer"))
    runs._current = run = RunSupervisor(settings(tmp_path), "r-1")
    run.state = run.state.after(Failed(reason="Ray at http://head:8265: refused"))
    assert "http://head:8265" in (runs.issue or "")
    run.state = run.state.after(Started(env_steps=0, iteration=0, restored_from=None))
    assert runs.issue is None


async def test_messages_in_the_log_come_back_and_other_lines_do_not():
    started = Started(env_steps=0, iteration=0, restored_from=None).line()
    finished = Finished(why="time").line()
    text = (b"some warning\n" + started + b"{no message\n" + finished).decode()

    async def chunks() -> AsyncIterator[str]:
        for at in range(0, len(text), 7):
            yield text[at : at + 7]

    out = io.BytesIO()
    await relay(chunks(), out)
    assert out.getvalue() == started + finished
