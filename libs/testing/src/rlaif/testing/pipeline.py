"""The whole pipeline as a child process: start, read, disturb, check and stop it.

For end-to-end tests, fault runs and benchmarks.
"""

import asyncio
import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Collection, Mapping
from pathlib import Path

import httpx

from rlaif.bus.connection import connect
from rlaif.local.places import DataDirectory
from rlaif.local.strays import descendants
from rlaif.storage.file import FileStore
from rlaif.storage.keys import EPISODES_BUCKET
from rlaif.storage.open import S3Credentials, open_store
from rlaif.storage.ports import ObjectStore
from rlaif.testing.invariants import PipelineFindings, check, under_way
from rlaif.testing.promql import Series, exposed

_REST_SECONDS = 90.0
_READY = re.compile(r"✓ (?P<name>[a-z0-9-]+) +(?P<where>[a-z]+://\S+)")
CLOSED = re.compile(
    r"Loop closed: reward model v(?P<version>\d+) from (?P<labels>[\d,]+) labels of "
    r"(?P<episodes>\d+) episodes, held-out accuracy (?P<accuracy>[\d.]+) "
    r"\((?P<pairs>\d+) pairs\), loaded at environment step (?P<step>[\d,]+)"
)
"""Printed when the trainer loads a model trained on its own play."""


class PipelineError(AssertionError):
    """The pipeline did not reach an expected state; the message ends with its last output."""


class Pipeline:
    """`rlaif demo` with a data directory of the test."""

    def __init__(
        self, data_dir: Path, *options: str, environment: Mapping[str, str] | None = None
    ) -> None:
        """Start it with additional settings; it becomes ready asynchronously."""
        self.data_dir = data_dir
        self.lines: list[str] = []
        self._arrived: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "rlaif.local", "--data-dir", str(data_dir), *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | {"COLUMNS": "200", "NO_COLOR": "1"} | dict(environment or {}),
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def wait_for(self, pattern: re.Pattern[str], *, seconds: float) -> re.Match[str]:
        """Wait for the first match in the lines from now on.

        Raises:
            PipelineError: It ended, or the time limit was reached.
        """
        deadline = time.monotonic() + seconds
        while True:
            try:
                line = self._arrived.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise self._error(f"no line like {pattern.pattern!r} in {seconds:.0f} s") from None
            if line is None:
                raise self._error(f"it ended with exit code {self._process.wait()}")
            if match := pattern.search(line):
                return match

    def where(self, name: str) -> str:
        for line in self.lines:
            match = _READY.search(line)
            if match and match["name"] == name:
                return match["where"]
        raise self._error(f"{name} is not ready")

    def pid(self, service: str) -> int | None:
        """Current process id of a service; None while it is down."""
        port = self.where(service).rsplit(":", 1)[1]
        wanted = [f"rlaif.{service.replace('-', '_')}", "--host", "127.0.0.1", "--port", port]
        return next((pid for pid, words in processes() if words[-5:] == wanted), None)

    def secrets(self) -> dict[str, str]:
        """Keys and tokens of this data directory."""
        found: dict[str, str] = json.loads((self.data_dir / "secrets.json").read_text())
        return found

    def nats_url(self) -> str:
        """URL of its NATS server for the administrator."""
        return DataDirectory(self.data_dir).addresses()["NATS_URL"]

    def get(self, service: str, path: str) -> httpx.Response:
        """Send a REST request; raises `httpx.HTTPStatusError` unless the status is 2xx."""
        answer = httpx.get(f"{self.where(service)}/api/v1/{path}", timeout=10, trust_env=False)
        return answer.raise_for_status()

    def metrics(self, *services: str) -> tuple[set[str], list[Series]]:
        """Series of the services' `/metrics`: all names, and those with a value."""
        pages = [
            httpx.get(f"{self.where(name)}/metrics", timeout=10, trust_env=False)
            for name in services
        ]
        found = [exposed(page.raise_for_status().text) for page in pages]
        return (
            {name for names, _ in found for name in names},
            [each for _, series in found for each in series],
        )

    def kill(self, service: str) -> int:
        """Kill a service with SIGKILL; returns its process id.

        Raises:
            PipelineError: It is not running.
        """
        pid = self.pid(service)
        if pid is None:
            raise self._error(f"{service} is not running")
        os.kill(pid, signal.SIGKILL)
        return pid

    def settle_and_check(self) -> PipelineFindings:
        """Stop the training run, wait until the pipeline is idle, and check the invariants.

        Raises:
            PipelineError: It was not idle in time.
        """
        token = self.secrets()["api_token"]
        httpx.post(
            f"{self.where('trainer')}/api/v1/runs/current/stop",
            headers={"Authorization": f"Bearer {token}"},
            timeout=30,
            trust_env=False,
        ).raise_for_status()
        return asyncio.run(self._check_at_rest())

    async def _check_at_rest(self) -> PipelineFindings:
        bus = await connect(self.nats_url(), name="check")
        deadline = time.monotonic() + _REST_SECONDS
        try:
            while self._spooled() or await under_way(bus):
                if time.monotonic() > deadline:
                    raise self._error(f"events are still under way after {_REST_SECONDS:.0f} s")
                await asyncio.sleep(0.5)
            return await check(bus, self._episodes())
        finally:
            await bus.close()

    def _episodes(self) -> ObjectStore:
        """The store of segments of this data directory: SeaweedFS, or files."""
        if not (self.data_dir / "s3").exists():
            return FileStore(self.data_dir / "objects" / EPISODES_BUCKET)
        secrets = self.secrets()
        credentials = S3Credentials(
            self.where("s3"), secrets["s3_access_key"], secrets["s3_secret_key"]
        )
        return open_store(f"s3://{EPISODES_BUCKET}", credentials)

    def _spooled(self) -> bool:
        return any(self.data_dir.glob("trainer/runs/*/spool/*.capture"))

    def interrupt(self, *, seconds: float = 180.0) -> int:
        """Send Ctrl-C and wait for the end; returns the exit code."""
        self._process.send_signal(signal.SIGINT)
        return self._process.wait(seconds)

    def family(self) -> set[int]:
        """Process ids of all its processes, including Ray's."""
        return {process.pid for process in descendants([self._process.pid])}

    def leftovers(self, family: Collection[int] = ()) -> list[str]:
        """Processes that still use this data directory or belong to the `family`."""
        mine = str(self.data_dir)
        return [
            " ".join(words)
            for pid, words in processes()
            if pid in family or any(mine in word for word in words)
        ]

    def end(self) -> None:
        """End it in any state; for the cleanup of a test."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._reader.join(5)

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as output:
            for line in output:
                self.lines.append(line.rstrip())
                self._arrived.put(line)
        self._arrived.put(None)

    def _error(self, what: str) -> PipelineError:
        return PipelineError(f"{what}; last output:\n" + "\n".join(self.lines[-20:]))


def processes() -> list[tuple[int, list[str]]]:
    """(process id, command line) of every process, from /proc; without zombies."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
        except OSError:
            continue
        if words:
            found.append((int(entry.name), words))
    return found


def children_of_module(module: str, parent: int | None = None) -> set[int]:
    """Process ids of the running `rlaif.service.child_process.ChildProcess`es of a module.

    Args:
        module: The module that the processes run.
        parent: The process that started them; None: this one. Other children, such as the servers
            of a test session, are excluded.
    """
    ending = ["-m", module, str(parent or os.getpid())]
    return {pid for pid, words in processes() if words[-3:] == ending}
