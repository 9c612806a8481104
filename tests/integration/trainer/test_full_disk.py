"""The disk of a running trainer fills up for a while: a real file system, full to the last byte.

Where the kernel lets users have no namespaces (`rlaif.testing.small_disk`),
`tests/unit/trainer/test_disk.py` still shows each writer and the supervisor on `/dev/full`.
"""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from rlaif.testing.small_disk import NO_SMALL_DISK, has_small_disk, on_small_disk
from rlaif.testing.waiting import eventually

SECONDS = 240.0

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(not has_small_disk(), reason=NO_SMALL_DISK),
]


class Trainer:
    """A trainer service whose data directory is a file system of 24 MB."""

    def __init__(self, process: asyncio.subprocess.Process, data_dir: Path, url: str) -> None:
        self._process = process
        # The mount is the process's own; this is the way to it from outside.
        self._disk = Path(f"/proc/{process.pid}/root{data_dir}")
        self._http = httpx.AsyncClient(base_url=url)

    async def run(self) -> dict[str, Any]:
        """What REST says of the run; {} while there is no answer."""
        with contextlib.suppress(httpx.HTTPError):
            answer = await self._http.get("/api/v1/runs/current")
            return answer.json() if answer.status_code == 200 else {}
        return {}

    async def readiness(self) -> dict[str, Any]:
        checks: dict[str, Any] = (await self._http.get("/readyz")).json()["checks"]
        return checks

    async def until(self, what: str, condition, seconds: float = SECONDS) -> dict[str, Any]:
        found: dict[str, Any] = {}

        async def holds() -> bool:
            nonlocal found
            found = await self.run()
            return bool(found) and condition(found)

        await eventually(holds, what, seconds=seconds)
        return found

    def fill(self) -> None:
        """Take the last byte."""
        with (self._disk / "filler").open("ab", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(4096))

    def free(self) -> None:
        (self._disk / "filler").unlink()

    async def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGINT)
        await self._process.wait()
        await self._http.aclose()


@pytest.fixture
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number: int = free.getsockname()[1]
        return number


@pytest.fixture
async def trainer(tmp_path: Path, port: int) -> AsyncIterator[Trainer]:
    command = (sys.executable, "-m", "rlaif.trainer", "--port", str(port))
    options = ("--data-dir", str(tmp_path), "--checkpoint-minutes", "0.05")
    process = await asyncio.create_subprocess_exec(
        *on_small_disk(tmp_path, 24),
        *command,
        *options,
        env=os.environ
        | {
            "RAY_WORKERS": "0",
            "BATCH_SIZE": "256",
            "EPISODE_LENGTH": "60",
            "TRAINER_PPO_MINIBATCH_SIZE": "128",
            "MODELS_STORE": (tmp_path.parent / "models").as_uri(),
            "EPISODES_STORE": (tmp_path.parent / "episodes").as_uri(),
        },
    )
    trainer = Trainer(process, tmp_path, f"http://127.0.0.1:{port}")
    yield trainer
    await trainer.end()


async def test_training_continues_while_the_disk_is_full_and_reports_it(trainer: Trainer):
    before = await trainer.until("a checkpoint", lambda run: run["checkpoint"] is not None)
    trainer.fill()
    run = await trainer.until("it is said", lambda run: run["trouble"] is not None, 30)
    assert run["status"] == "training"
    assert "No space left on device" in run["trouble"]
    disk = (await trainer.readiness())["disk"]
    assert not disk["ok"]
    assert "No space left on device" in disk["detail"]
    seen = run["iteration"]
    await trainer.until("training goes on", lambda run: run["iteration"] > seen + 3)
    trainer.free()
    after = await trainer.until("all well", lambda run: run["trouble"] is None, SECONDS)
    assert after["attempts"] == before["attempts"] == 0, "no process died"
    await trainer.until("a newer checkpoint", lambda run: run["checkpoint"] > seen, SECONDS)
    assert (await trainer.readiness())["disk"]["ok"]
