"""A run's processes: they listen on this machine alone, and none outlives the run."""

import asyncio
import os
import signal
import socket
import struct
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


def listening(pids: list[int]) -> dict[str, int]:
    """Address → how many sockets of these processes listen on it."""
    inodes = set()
    for pid in pids:
        for handle in Path(f"/proc/{pid}/fd").iterdir():
            try:
                inodes.add(os.readlink(handle).removeprefix("socket:[").rstrip("]"))
            except FileNotFoundError:
                continue
    found: dict[str, int] = {}
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            _, local, _, state, *_, inode = line.split()[:10]
            if state == LISTENS and inode in inodes:
                address = _address(local.partition(":")[0])
                found[address] = found.get(address, 0) + 1
    return found


def _address(text: str) -> str:
    """An address as /proc writes it: native 32-bit words in hexadecimal."""
    words = [int(text[at : at + 8], 16) for at in range(0, len(text), 8)]
    packed = b"".join(struct.pack("=I", word) for word in words)
    return socket.inet_ntop(socket.AF_INET6 if len(packed) == 16 else socket.AF_INET, packed)


async def test_all_of_it_listens_on_loopback_and_ends_with_the_run(settings: TrainerSettings):
    run = RunSupervisor(settings, "r-1")
    run.start()
    started = await trains(run)

    def agents() -> bool:
        names = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in session.members(started)]
        return any(b"RuntimeEnvAgent" in name for name in names)

    await eventually(agents, "Ray's agents", seconds=SECONDS)
    found = listening(session.members(started))
    assert sum(found.values()) >= 5, "driver, gcs, raylet, runner, agent"
    assert set(found) <= {"127.0.0.1", "::ffff:127.0.0.1", "::1"}

    await run.stop()
    assert session.members(started) == []
    assert run.state.status == "stopped"
    assert run.state.checkpoint == run.state.iteration, "saved"


async def test_a_training_process_that_is_killed_takes_its_ray_with_it(settings: TrainerSettings):
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
    assert len(session.members(training)) > 5
    if both:
        os.kill(training, signal.SIGKILL)
    service.kill()
    await service.wait()
    await eventually(lambda: not session.members(training), "the end of all")


def _children(parent: int) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]
