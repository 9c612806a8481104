"""A run's processes: a runner, a guard and the learner; none listens, and none outlives it."""

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path

import pytest

from rlaif.testing.waiting import eventually
from rlaif.trainer.run_folder import session
from rlaif.trainer.service.runs.supervisor import RunSupervisor
from rlaif.trainer.settings import TrainerSettings

SECONDS = 240.0
LISTENS = "0A"

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="no /proc: run on Linux"),
]


@pytest.fixture
def settings(tmp_path: Path) -> TrainerSettings:
    return TrainerSettings.model_validate(
        {
            "data_dir": tmp_path,
            "ray_workers": 1,
            "batch_size": 128,
            "minibatch_size": 64,
            "epochs": 1,
            "episode_length": 40,
            "ray_address": None,
        }
    )


async def trains(run: RunSupervisor) -> int:
    """Waits for an iteration; gives the session of the training process."""
    await eventually(lambda: run.state.last is not None, "an iteration", seconds=SECONDS)
    assert run._process is not None
    return run._process.pid


def kind_of(pid: int) -> str:
    """The module that a process runs, without its package."""
    command = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
    (module,) = [each for each in command if each.startswith("rlaif.") or each.endswith(".py")]
    return module.removesuffix(".py").replace("/", ".").rsplit(".", 1)[-1]


def listening(pids: list[int]) -> int:
    """How many sockets of these processes listen."""
    inodes = set()
    for pid in pids:
        for handle in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):
                inodes.add(os.readlink(handle).removeprefix("socket:[").rstrip("]"))
    rows = [
        line.split()
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]
    ]
    return sum(row[3] == LISTENS and row[9] in inodes for row in rows)


def environment_of(pid: int) -> bytes:
    return Path(f"/proc/{pid}/environ").read_bytes()


async def test_none_of_it_listens_and_all_ends_with_the_run(
    settings: TrainerSettings, monkeypatch: pytest.MonkeyPatch
):
    for name in ("RLAIF_API_TOKEN", "S3_ACCESS_KEY", "S3_SECRET_KEY"):
        monkeypatch.setenv(name, "canary-of-the-test")
    monkeypatch.setenv("NATS_URL", "nats://canary-of-the-test@127.0.0.1:4222")
    run = RunSupervisor(settings, "r-1")
    run.start()
    started = await trains(run)
    assert sorted(map(kind_of, session.members(started))) == ["child", "process", "session"]
    assert listening(session.members(started)) == 0
    for pid in session.members(started):
        assert b"canary-of-the-test" not in environment_of(pid)

    await run.stop()
    assert session.members(started) == []
    assert run.state.status == "stopped"
    assert run.state.checkpoint == run.state.iteration, "saved"


async def test_a_training_process_that_is_killed_takes_its_runners_with_it(
    settings: TrainerSettings,
):
    run = RunSupervisor(settings, "r-1")
    run.start()
    killed = await trains(run)
    os.kill(killed, signal.SIGKILL)
    await eventually(lambda: not session.members(killed), "the end of all")
    await eventually(lambda: run.state.attempt == 1, "the next attempt", seconds=SECONDS)
    await run.stop()


@pytest.mark.parametrize("both", [False, True], ids=["service", "service and training"])
async def test_nothing_is_left_when_the_service_is_killed(tmp_path: Path, both: bool):
    service = await asyncio.create_subprocess_exec(
        *(
            sys.executable,
            "-m",
            "rlaif.trainer.service.cli",
            "--messages",
            "--data-dir",
            str(tmp_path),
        ),
        env=os.environ
        | {"RAY_WORKERS": "1", "BATCH_SIZE": "128", "TRAINER_PPO_MINIBATCH_SIZE": "64"},
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    assert service.stdout is not None
    async with asyncio.timeout(SECONDS):
        while b"iteration_done" not in await service.stdout.readline():
            pass
    (training,) = _children(service.pid)
    assert len(session.members(training)) == 3
    if both:
        os.kill(training, signal.SIGKILL)
    service.kill()
    await service.wait()
    await eventually(lambda: not session.members(training), "the end of all")


def _children(parent: int) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]
