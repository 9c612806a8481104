"""A disk that takes nothing costs files, never a run. `/dev/full` stands for it.

Whatever is written to `/dev/full` is answered with "No space left on device".
"""

import asyncio
import errno
import os
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from rlaif.service.metrics import ServiceMetrics
from rlaif.storage.file import FileStore
from rlaif.testing.waiting import PATIENCE_SECONDS, eventually
from rlaif.trainer.run_folder import disk
from rlaif.trainer.run_folder.protocol import CheckpointNotSaved, CheckpointSaved, Failed
from rlaif.trainer.run_folder.record import RunRecord, record_path
from rlaif.trainer.service.app import create_app
from rlaif.trainer.service.runs import supervisor as supervising
from rlaif.trainer.service.runs.manager import RunManager
from rlaif.trainer.service.runs.state import RunState
from rlaif.trainer.service.runs.store import StoreMirror
from rlaif.trainer.service.runs.supervisor import RunSupervisor
from rlaif.trainer.settings import TrainerSettings

pytestmark = pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="there is no /dev/full: run on Linux"
)

FULL = "No space left on device"
RUN = "r-1"


def fill(path: Path) -> Path:
    """The next whole write of `path` by this process goes to a full disk."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    partial.parent.mkdir(parents=True, exist_ok=True)
    partial.symlink_to("/dev/full")
    return partial


@pytest.fixture
def settings(tmp_path: Path) -> TrainerSettings:
    return TrainerSettings(data_dir=tmp_path)


@pytest.fixture
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervising, "_LONGEST_PAUSE", 0.05)


Script = Callable[[str], None]


@pytest.fixture
def process(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Script:
    """Makes the supervisor start a script of the test's in the place of the training process."""
    folder = tmp_path_factory.mktemp("process")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.setitem(supervising._PROCESS_MODULES, "process", "stand_in")

    def write(script: str) -> None:
        (folder / "stand_in.py").write_text(script)

    return write


TRAINS_UNTIL_ASKED = """
import os, sys
pipe = os.fdopen(int(sys.argv[2]), "wb", buffering=0)
pipe.write(b'{"kind":"started","env_steps":0,"iteration":0,"restored_from":null}\\n')
sys.stdin.readline()
"""
DIES = "raise SystemExit(1)"


@pytest.mark.parametrize(
    ("error", "is_the_disks"),
    [
        (OSError(errno.ENOSPC, "full"), True),
        (OSError(errno.EIO, "broken"), True),
        (OSError(errno.EROFS, "read-only"), True),
        (OSError(errno.EMFILE, "too many open files"), True),
        (FileNotFoundError(errno.ENOENT, "gone"), True),
        (ConnectionRefusedError(errno.ECONNREFUSED, "a server"), False),
        (TimeoutError(), False),
        (ValueError("a bug"), False),
    ],
    ids=str,
)
def test_what_counts_as_the_disks_fault(error: Exception, is_the_disks: bool):
    assert disk.is_disk_error(error) == is_the_disks


def test_a_log_on_a_full_disk_ends_no_process():
    with open("/dev/full", "wb") as full:
        lines = disk.lossy_text(full.fileno())
        lines.write("lost\n")
        lines.flush()


@pytest.mark.usefixtures("short_pauses")
async def test_a_supervisor_outlives_a_full_disk_and_starts_when_there_is_room(
    settings: TrainerSettings, process: Script, monkeypatch: pytest.MonkeyPatch
):
    """`run.json` cannot be written, then no file at all, then there is room."""
    process(TRAINS_UNTIL_ASKED)
    run = RunSupervisor(settings, RUN)
    fill(record_path(settings.data_dir, RUN))
    probe = run.directory / f".probe.{os.getpid()}.partial"
    full = asyncio.Event()

    def still_full(directory: Path) -> str | None:
        if full.is_set():
            return None
        probe.symlink_to("/dev/full")
        return said(directory)

    said = disk.problem
    monkeypatch.setattr(disk, "problem", still_full)
    run.start()
    await eventually(lambda: run.state.status == "waiting", "it waits")
    assert run.alive
    assert FULL in (run.state.waiting_for or "")
    assert FULL in (run.state.disk_issue or "")
    full.set()
    await eventually(lambda: run.state.status == "training", "it trains")
    assert (run.state.waiting_for, run.state.disk_issue) == (None, None)
    await run.stop()
    assert run.state.status == "stopped"


@pytest.mark.usefixtures("short_pauses")
async def test_deaths_of_a_full_disk_are_not_counted_against_the_run(
    settings: TrainerSettings, process: Script, monkeypatch: pytest.MonkeyPatch
):
    process(DIES)
    answers = iter([FULL, None] * 6)
    monkeypatch.setattr(disk, "problem", lambda directory: next(answers, None))
    run = RunSupervisor(settings, RUN)
    run.start()
    await eventually(lambda: run.state.attempt >= 6, "more deaths than a run has")
    assert run.state.status != "failed"
    await eventually(lambda: run.state.status == "failed", "once the disk is well")
    assert run.state.attempt == 6 + 3


@pytest.mark.usefixtures("short_pauses")
async def test_a_process_that_names_the_disk_is_tried_again_for_as_long_as_it_takes(
    settings: TrainerSettings, process: Script
):
    message = Failed(reason="OSError", of_disk="Input/output error: policy.safetensors")
    process(
        f"import os, sys\nos.write(int(sys.argv[2]), {message.line()!r})\nraise SystemExit(1)\n"
    )
    run = RunSupervisor(settings, RUN)
    run.start()
    await eventually(lambda: run.state.attempt >= 5, "more deaths than a run has")
    await eventually(lambda: "Input/output error" in (run.state.disk_issue or ""), "it is said")
    await run.stop()


async def test_a_stop_does_not_wait_for_the_disk(settings: TrainerSettings):
    fill(record_path(settings.data_dir, RUN))
    run = RunSupervisor(settings, RUN)
    run.start()
    await eventually(lambda: run.state.status == "waiting", "it waits")
    async with asyncio.timeout(PATIENCE_SECONDS):
        await run.stop()
    assert run.state.status == "stopped"


async def test_a_supervisor_that_breaks_reports_it(settings: TrainerSettings):
    """As when its run's record is no record."""
    path = record_path(settings.data_dir, RUN)
    path.parent.mkdir(parents=True)
    path.write_text("no record")
    runs = RunManager(settings, ServiceMetrics("trainer"))
    run = RunSupervisor(settings, RUN)
    runs._current = run
    run.start()
    await run.wait()
    assert not run.alive
    assert run.state.status == "failed"
    assert "the run supervisor crashed" in (runs.issue or "")


async def test_a_listener_that_breaks_does_not_end_a_run(
    settings: TrainerSettings, process: Script
):
    def break_(message: object) -> None:
        raise RuntimeError("stdout is gone")

    process(TRAINS_UNTIL_ASKED)
    run = RunSupervisor(settings, RUN, break_)
    run.start()
    await eventually(lambda: run.state.status == "training", "it trains")
    await run.stop()


def test_a_checkpoint_that_was_not_saved_is_reported_until_one_is():
    state = RunState(run_id=RUN).after(CheckpointNotSaved(iteration=3, reason=FULL))
    assert FULL in (state.disk_issue or "")
    assert state.after(CheckpointSaved(iteration=4, env_steps=9, path="x")).disk_issue is None


async def test_readyz_and_rest_say_what_the_run_waits_for(
    settings: TrainerSettings, monkeypatch: pytest.MonkeyPatch
):
    app = create_app(settings.model_copy(update={"autostart": False}))
    state = RunState(run_id=RUN, status="waiting", waiting_for=FULL)
    monkeypatch.setattr(RunManager, "state", property(lambda self: state))
    RunRecord(run_id=RUN, created_at="2026-03-01T00:00:00Z", attempts=1, settings="{}").write(
        record_path(settings.data_dir, RUN)
    )
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as http:
        checks = (await http.get("/readyz")).json()["checks"]
        run = (await http.get("/api/v1/runs/current")).json()
    assert not checks["disk"]["ok"]
    assert FULL in checks["disk"]["detail"]
    assert run["status"] == "waiting"
    assert FULL in run["trouble"]


async def test_copies_to_the_store_outlive_this_disk(settings: TrainerSettings, tmp_path: Path):
    state = RunState(run_id=RUN, status="training")
    mirror = StoreMirror(settings, FileStore(tmp_path / "store"), lambda: state)
    partial = fill(settings.data_dir / "runs" / RUN / "progress.json")
    task = asyncio.create_task(mirror.run())
    await eventually(lambda: mirror.outage is not None, "it is said")
    assert FULL in (mirror.outage or "")
    assert not task.done()
    assert not partial.exists()
    task.cancel()


def test_a_record_that_cannot_be_read_does_not_hide_the_other_runs(settings: TrainerSettings):
    runs = RunManager(settings, ServiceMetrics("trainer"))
    for name in ("r-a", "r-b"):
        RunRecord(run_id=name, created_at="2026-03-01T00:00:00Z", attempts=0, settings="{}").write(
            record_path(settings.data_dir, name)
        )
    record_path(settings.data_dir, "r-b").write_text("")
    assert [record.run_id for record in runs.on_disk()] == ["r-a"]
