"""The local stack under test: its real processes, two judges, and a proxy before each server.

Segments come from the trainer's own uploader: captures of random play are put into the spool of an
ended run, so the stack needs no PPO.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from rlaif.bus.connection import Bus
from rlaif.game.replay_check.segments import RecordedSegment
from rlaif.local.child import Child, ChildSpec
from rlaif.local.doctor.opening import Opened, opened
from rlaif.local.places import DataDirectory, Ports
from rlaif.local.stack import Options, Stack, answers, plan
from rlaif.local.strays import descendants
from rlaif.testing.chaos.plan import SERVERS
from rlaif.testing.chaos.proxy import FaultProxy
from rlaif.testing.invariants import under_way
from rlaif.trainer.run_folder.record import begin_attempt, finish
from rlaif.trainer.run_folder.spool import Spool, SpooledCapture
from rlaif.trainer.settings import TrainerSettings

RUN = "r-chaos"
SETTINGS = {
    "EPISODES_STORE": "s3://zelda-episodes",
    "MODELS_STORE": "s3://zelda-models",
    "TRAINER_AUTOSTART": "false",
}
"""Environment variables of this process, which the stack inherits."""

_ADDRESSES = {"nats": "NATS_URL", "s3": "S3_ENDPOINT_URL", "mock-llm": "LLM_BASE_URL"}


@dataclass
class Rig:
    """The running stack.

    Attributes:
        deaths: (seconds, name, reason) of each process that ended.
        segments: Captured segment → its recording, in order of capture.
    """

    stack: Stack
    spool: Spool
    began: float = field(default_factory=time.monotonic)
    children: dict[str, Child] = field(default_factory=dict)
    proxies: dict[str, FaultProxy] = field(default_factory=dict)
    deaths: list[tuple[float, str, str]] = field(default_factory=list)
    segments: dict[str, RecordedSegment] = field(default_factory=dict)
    system: Opened = field(init=False)

    @property
    def bus(self) -> Bus:
        """The administrator's, past the proxy."""
        return self.system.bus

    @property
    def seconds(self) -> float:
        """Seconds since it was started."""
        return time.monotonic() - self.began

    def capture(self, recording: RecordedSegment) -> None:
        """Put a capture into the spool, under a new id."""
        index = len(self.segments)
        episode = f"ep-{index // 8}"
        ids = {"segment_id": f"seg-{index}", "episode_id": episode, "run_id": RUN}
        issued = replace(recording, capture=recording.capture.model_copy(update=ids))
        self.segments[issued.capture.segment_id] = issued
        self.spool.write(SpooledCapture(issued.capture, issued.keyframe.data))

    async def waiting(self) -> int:
        """Number of unhandled captures and events; raises `BusError` without NATS."""
        return self.spool.count() + await under_way(self.bus)

    async def is_ready(self, name: str) -> bool:
        """Whether a process is ready; for a service, including its dependencies."""
        spec = self.children[name].spec
        if name in SERVERS:
            return await spec.ready()
        return await answers(f"{spec.where}/readyz")()

    def tree(self, name: str) -> list[int]:
        """Process ids of a child and of its descendants; empty while it is down."""
        pid = self.children[name].pid
        return [] if pid is None else [pid, *(each.pid for each in descendants([pid]))]

    async def tell_llm(self, faults: str) -> None:
        """Change the faults of the mock LLM; raises `httpx.HTTPError`."""
        async with httpx.AsyncClient(trust_env=False, timeout=10) as client:
            answer = await client.put(
                f"{self.stack.urls['mock-llm']}/faults",
                json={"spec": faults},
                headers={"Authorization": f"Bearer {self.stack.api_token}"},
            )
        answer.raise_for_status()


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[Rig]:
    """Start the stack in an empty folder; `SETTINGS` must be in the environment."""
    home = DataDirectory(folder)
    async with AsyncExitStack() as held:
        held.enter_context(home.lock())
        stack = plan(Options(folder), held.enter_context(Ports()))
        settings = TrainerSettings.model_validate({"data_dir": stack.trainer_dir})
        begin_attempt(stack.trainer_dir, RUN, settings, datetime.now(UTC))
        finish(stack.trainer_dir, RUN, "time")
        rig = Rig(stack, Spool(stack.trainer_dir / "runs" / RUN / "spool"))
        rig.spool.prepare()
        await _start(rig, stack.servers, held)
        await held.enter_async_context(stack.upkeep)
        rig.system = await held.enter_async_context(opened(home))
        behind = [spec async for spec in _behind_proxies(rig, held)]
        await _start(rig, behind, held)
        yield rig


async def _start(
    rig: Rig, specs: list[ChildSpec] | tuple[ChildSpec, ...], held: AsyncExitStack
) -> None:
    def died(child: Child, reason: str) -> None:
        rig.deaths.append((round(rig.seconds, 1), child.spec.name, reason))

    for spec in specs:
        child = rig.children[spec.name] = Child(spec, died)
        held.push_async_callback(child.stop, seconds=spec.stop_seconds)
    await asyncio.gather(*(rig.children[spec.name].start() for spec in specs))


async def _behind_proxies(rig: Rig, held: AsyncExitStack) -> AsyncIterator[ChildSpec]:
    """The services, which reach all servers through proxies, and the second judge."""
    ports: dict[str, tuple[int, int]] = {}
    for name, child in rig.children.items():
        real = urlsplit(child.spec.where).port
        assert real is not None
        proxy = rig.proxies[name] = FaultProxy(real)
        ports[_ADDRESSES[name]] = (real, await proxy.start())
        held.push_async_callback(proxy.close)
    for spec in rig.stack.services:
        yield replace(spec, environment=dict(_rerouted(spec.environment, ports)))
        if spec.name == "judge":
            port = held.enter_context(Ports()).take(8087)
            yield _second(spec, port, dict(_rerouted(spec.environment, ports)))


def _rerouted(
    environment: Mapping[str, str], ports: Mapping[str, tuple[int, int]]
) -> Iterator[tuple[str, str]]:
    for name, value in environment.items():
        real, proxied = ports.get(name, (0, 0))
        yield name, value.replace(f":{real}", f":{proxied}") if real else value


def _second(spec: ChildSpec, port: int, environment: dict[str, str]) -> ChildSpec:
    url = f"http://127.0.0.1:{port}"
    alive = answers(f"{url}/livez")
    return replace(
        spec, name=f"{spec.name}-2", command=(*spec.command[:-1], str(port)), where=url,
        environment=environment, log=spec.log.with_stem(f"{spec.log.stem}-2"),
        ready=alive, answers=alive,
    )  # fmt: skip
