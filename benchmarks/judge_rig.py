"""Real servers around judges: NATS, S3, the mock LLM, some replicas."""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from rlaif.bus.connection import Bus, connect_ready
from rlaif.local.places import Ports
from rlaif.storage import keys
from rlaif.storage.open import open_store
from rlaif.storage.ports import ObjectStore
from rlaif.testing.data.judging.segments import described_state, write_segment
from rlaif.testing.servers.nats_server import NatsServer
from rlaif.testing.servers.s3_server import S3Server, running_s3_server

READY_SECONDS = 60


@dataclass
class Rig:
    """What runs, and where."""

    folder: Path
    nats: NatsServer
    s3: S3Server
    environment: dict[str, str]
    ports: Ports = field(default_factory=Ports)
    stack: ExitStack = field(default_factory=ExitStack)

    @property
    def store(self) -> ObjectStore:
        return open_store(f"s3://{keys.EPISODES_BUCKET}", self.s3.credentials)

    def port(self) -> int:
        return self.ports.take(18_500)

    def start(self, module: str, port: int, **settings: str) -> subprocess.Popen[bytes]:
        """Start a service; it ends with the rig. Waits until it is ready."""
        log = (self.folder / f"{module}-{port}.log").open("ab")
        process = subprocess.Popen(
            [sys.executable, "-m", module, "--port", str(port)],
            env=self.environment | settings,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        self.stack.callback(log.close)
        self.stack.callback(end, process)
        deadline, last = time.monotonic() + READY_SECONDS, ""
        while time.monotonic() < deadline:
            try:
                answer = httpx.get(f"http://127.0.0.1:{port}/readyz", timeout=5, trust_env=False)
                if answer.status_code == 200:
                    return process
                last = answer.text
            except httpx.HTTPError as error:
                last = repr(error)
            if process.poll() is not None:
                break
            time.sleep(0.2)
        tail = (self.folder / f"{module}-{port}.log").read_text(errors="replace")[-2000:]
        raise RuntimeError(f"{module} did not get ready: {last}\n{tail}")

    async def bus(self) -> Bus:
        return await connect_ready(self.nats.url, name="benchmark")

    def scored(self) -> int:
        return sum(keys.score_ids(info.key) is not None for info in self.store.list(keys.scores()))

    async def export(self, bus: Bus, first: int, count: int) -> None:
        """Write and announce segments that differ in every fact that matters to a cache."""
        publisher = bus.publisher("exporter")
        for number in range(first, first + count):
            states = [
                described_state(
                    step // 2 + number % 40,
                    rupees=number,
                    rooms_visited=4 + step * (number % 3) // 75,
                    flags={"dialog": 20 < step < 40, "menu": False, "control": not 20 < step < 40},
                    text_id=7 if 20 < step < 40 else None,
                    puzzle={"buttons_pressed": int(step > 50), "torches_lit": number % 4},
                )
                for step in range(75)
            ]
            event = await asyncio.to_thread(
                write_segment, self.store, f"seg-{number:05d}", states=states, pictures=4
            )
            await publisher.publish(event)


@contextmanager
def rig() -> Iterator[Rig]:
    """Start NATS and S3; everything ends with the context."""
    with tempfile.TemporaryDirectory(prefix="rig-") as name, running_s3_server() as s3:
        folder = Path(name)
        (folder / "nats").mkdir()
        nats = NatsServer(folder / "nats")
        nats.start()
        environment = dict(os.environ) | {
            "NATS_URL": nats.url,
            "S3_ENDPOINT_URL": s3.credentials.endpoint_url or "",
            "S3_ACCESS_KEY": s3.credentials.access_key or "",
            "S3_SECRET_KEY": s3.credentials.secret_key or "",
            "LOG_LEVEL": "warning",
        }
        made = Rig(folder, nats, s3, environment)
        try:
            yield made
        finally:
            made.stack.close()
            made.ports.close()
            nats.stop()


def end(process: subprocess.Popen[bytes]) -> None:
    """Stop a service in order, after 15 s by force."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
