"""Cost of the feedback loop: the same training with the loop on and off, in alternation.

    python benchmarks/bench_overhead.py            or: make bench-overhead

Two training runs with equal settings (default PPO preset, 2 runners of 8 environments) take turns
(turns.py): off, on, on, off, off, on, …

    off     the training process alone: no captures, no reward model, no screen
    on      `rlaif train`: segments captured within the default budget (60 per minute), spooled and
            published; a loaded reward model; progress and the watched screen (20 per second) over
            a real nats-server; a HUD, and 5 pages that follow it (hud_pages.py)

Everything of `on` shares the cores with the training, also the pages. Exporter, judge and
reward-model service, which run on other machines, are excluded; a mock exporter acknowledges the
events. Stores are directories. No checkpoint is written during a turn.

    kept_ratio      median over the rounds of on's decisions per second / off's
    run_cpu_ratio   off's CPU seconds per step / on's, of the run's own processes
    beside_cores    cores used by rlaif train, nats-server and HUD

Exit code 0 if the lower end of the interval of `kept_ratio` is at least 0.95 and all of the loop
was on, else 1.
"""

import argparse
import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
from hud_pages import Page
from one_run import reward_model, tree
from outcome import ENVS, WORKERS, print_round, summary, verdicts
from turns import ALIKE, NEVER_MINUTES, OFF, Side, run_command, training, until

from rlaif.bus.connection import connect_ready
from rlaif.bus.worker import DurableWorker
from rlaif.contracts.events import CloudEvent, EventData, SegmentCaptured
from rlaif.testing.servers.nats_server import NatsServer, free_ports
from rlaif.trainer.run_folder.protocol import MESSAGES

TARGET = 0.95
PAGES = 5
TRAINING_PROCESS = b"rlaif.trainer.learner.process"


_VARIABLES = {"learning_rate": "TRAINER_PPO_LEARNING_RATE"}


def environment_of(directory: Path, nats: NatsServer, name: str) -> dict[str, str]:
    """Environment variables of a training run, with data in a folder of that name, and of a HUD."""
    return os.environ | {
        "NATS_URL": nats.url,
        "EPISODES_STORE": f"file://{directory}/episodes",
        "MODELS_STORE": f"file://{directory}/models",
        "TRAINER_DATA_DIR": str(directory / name),
        "TRAINER_REWARD_MODEL_PATH": reward_model(directory).path,
        "TRAINER_CHECKPOINT_MINUTES": str(NEVER_MINUTES),
        "LOG_LEVEL": "ERROR",
        "PYTHONUNBUFFERED": "1",
        "OMP_NUM_THREADS": "1",
        **{_VARIABLES.get(name, name.upper()): str(value) for name, value in ALIKE.items()},
    }


@asynccontextmanager
async def loop_on(
    directory: Path, nats: NatsServer, name: str, past: Iterable[EventData] = ()
) -> AsyncIterator[tuple[Side, int]]:
    """Run `rlaif train` with the loop on, and a HUD that has received `past`; yields its port."""
    side, (port,) = Side(name), free_ports(1)
    environment = environment_of(directory, nats, name)
    log = (directory / f"{name}.log").open("wb")
    hud = await start("rlaif.hud", "--port", str(port), environment=environment, log=log)
    train = await start(
        "rlaif.trainer.service.cli", "--messages", "--run-id", name,
        environment=environment, log=log, pipe=True,
    )  # fmt: skip
    bus = await connect_ready(nats.url, name="bench")
    publisher = bus.publisher("bench")
    for event in past:
        await publisher.publish(event)
    exporter = DurableWorker(bus, SegmentCaptured, "exporter", acknowledge)
    tasks = [asyncio.create_task(each) for each in (read_messages(train, side), exporter.run())]
    try:
        await until(lambda: answers(port), "the HUD is ready")
        await until(lambda: side.last is not None, "training with the loop on begins")
        (side.driver,) = children(train.pid)
        assert nats.pid is not None
        side.beside = [hud.pid, train.pid, nats.pid]
        await until(lambda: bool(side.last and side.last.segments_captured), "it captures")
        yield side, port
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        with suppress(ProcessLookupError):
            os.kill(side.driver or train.pid, signal.SIGKILL)
        for process in (train, hud):
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        await bus.close()
        log.close()


async def start(
    module: str,
    *arguments: str,
    environment: dict[str, str],
    log: Any,
    pipe: bool = False,
) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, *arguments,
        env=environment, stdout=asyncio.subprocess.PIPE if pipe else log, stderr=log,
    )  # fmt: skip


async def read_messages(process: asyncio.subprocess.Process, side: Side) -> None:
    assert process.stdout is not None
    async for line in process.stdout:
        side.take(MESSAGES.validate_json(line))


async def acknowledge(event: CloudEvent[Any]) -> None:
    """A mock exporter that takes no time."""


def children(parent: int) -> list[int]:
    """Training processes that are children of a process."""
    found = []
    for process in tree(parent):
        with suppress(OSError):
            if TRAINING_PROCESS in Path(f"/proc/{process.pid}/cmdline").read_bytes():
                found.append(process.pid)
    return found[:1]


def answers(port: int) -> bool:
    with suppress(httpx.HTTPError):
        return (
            httpx.get(f"http://127.0.0.1:{port}/livez", timeout=2, trust_env=False).status_code
            == 200
        )
    return False


async def compare(options: argparse.Namespace, directory: Path) -> dict[str, Any]:
    (directory / "nats").mkdir()
    nats = NatsServer(directory / "nats")
    nats.start()
    try:
        async with training(directory, "off", {**OFF, **ALIKE}) as off:
            await off.halt()
            async with loop_on(directory, nats, "on") as (on, port):
                pages = [Page(port) for _ in range(PAGES)]
                for page in pages:
                    await page.connect()
                await on.halt()
                return await rounds(options, off, on, pages)
    finally:
        nats.stop()


async def rounds(
    options: argparse.Namespace, off: Side, on: Side, pages: list[Page]
) -> dict[str, Any]:
    rows: list[dict[str, float]] = []
    seen: list[float] = []
    captured = on.last.segments_captured if on.last else 0
    for number in range(options.rounds):
        order = (off, on) if number % 2 == 0 else (on, off)
        found: dict[str, dict[str, float]] = {}
        for side in order:
            before, began = [page.received for page in pages], time.perf_counter()
            found[side.name] = await side.turn(options.iterations)
            if side is on:
                fewest = min(b.received - a for a, b in zip(before, pages, strict=True))
                seen.append(fewest / (time.perf_counter() - began))
        row = {
            "off_decisions_per_second": found["off"]["rate"],
            "on_decisions_per_second": found["on"]["rate"],
            "off_frames_per_second": found["off"]["frames_rate"],
            "on_frames_per_second": found["on"]["frames_rate"],
            "kept_ratio": found["on"]["rate"] / found["off"]["rate"],
            "run_cpu_ratio": found["off"]["cpu_a_step"] / found["on"]["cpu_a_step"],
            "beside_cores": found["on"]["beside"],
            "pictures_a_second": seen[-1],
        }
        rows.append(row)
        print_round(f"round {number + 1}", row)
    last = on.last
    assert last is not None
    shaping = last.reward_statistics.get("shaping")
    segments = last.segments_captured - captured
    was_on = (
        on.model is not None
        and shaping is not None
        and shaping.std > 0
        and segments > 0
        and min(seen) > 0
        and off.last is not None
        and off.last.segments_captured == 0
    )
    figures = summary(rows, ("kept_ratio", "run_cpu_ratio"))
    said = verdicts(figures, {"kept_ratio": TARGET})
    return {
        "benchmark": "bench_overhead",
        **figures,
        "target": TARGET,
        "verdicts": said,
        "target_met": said["kept_ratio"] == "met" and was_on,
        "loop_was_on": was_on,
        "pages": PAGES,
        "segments_captured": segments,
        "reward_model_version": on.model,
        "rounds": options.rounds,
        "iterations": options.iterations,
        "setup": {"runners": WORKERS, "envs_per_runner": ENVS, "frame_skip": 4},
    }


if __name__ == "__main__":
    sys.exit(run_command(__doc__, compare, rounds=14))
