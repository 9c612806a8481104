"""Real servers for judges: NATS, S3, the mock LLM, and several replicas."""

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from rlaif.bus.connection import Bus, connect_ready
from rlaif.storage import keys
from rlaif.storage.open import open_store
from rlaif.storage.ports import ObjectStore
from rlaif.testing.data.judging.segments import described_state, write_segment
from rlaif.testing.servers.nats_server import NatsServer, free_ports
from rlaif.testing.servers.process import ServerProcess
from rlaif.testing.servers.s3_server import S3Server, running_s3_server
from rlaif.testing.waiting import eventually


class Service(ServerProcess):
    """A service of the project as a process with a fixed port."""

    def __init__(self, module: str, folder: Path, environment: dict[str, str]) -> None:
        (self.port,) = free_ports(1)
        log = folder / f"{module}-{self.port}.log"
        super().__init__(log, log)
        self._module, self._environment = module, environment

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def get(self, path: str) -> httpx.Response:
        return httpx.get(f"{self.url}/{path}", timeout=10, trust_env=False)

    def _spawn(self, log: int) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", self._module, "--port", str(self.port)]
        return subprocess.Popen(
            command, env=self._environment, stdout=log, stderr=log, start_new_session=True
        )

    def _wait_ready(self, alive: Callable[[], bool]) -> None:
        asyncio.run(eventually(lambda: self._ready() or not alive(), f"{self._module} is ready"))
        if not alive():
            raise RuntimeError(f"{self._module} ended")

    def _ready(self) -> bool:
        with suppress(httpx.HTTPError):
            return self.get("readyz").is_success
        return False

    def _choose_ports(self) -> None:
        """The port is kept for clients."""


@dataclass
class Rig:
    """The running servers and their addresses."""

    folder: Path
    nats: NatsServer
    s3: S3Server
    environment: dict[str, str]
    stack: ExitStack = field(default_factory=ExitStack)

    @property
    def store(self) -> ObjectStore:
        return open_store(f"s3://{keys.EPISODES_BUCKET}", self.s3.credentials)

    def start(self, module: str, **settings: str) -> Service:
        """Start a service and wait until it is ready; it is stopped with the rig."""
        service = Service(module, self.folder, self.environment | settings)
        self.stack.callback(service.stop)
        service.start()
        return service

    async def bus(self) -> Bus:
        return await connect_ready(self.nats.url, name="benchmark")

    def scored(self) -> int:
        return sum(keys.score_ids(info.key) is not None for info in self.store.list(keys.scores()))

    async def export(self, first: int, count: int) -> None:
        """Write and publish segments that differ in every property that is a cache key."""
        bus = await self.bus()
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
        await bus.close()


@contextmanager
def rig() -> Iterator[Rig]:
    """Start NATS and S3; everything is stopped at the end of the context."""
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
            with made.stack:
                yield made
        finally:
            nats.stop()
