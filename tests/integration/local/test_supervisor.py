"""Starting and stopping real processes: in which order, how fast, and with nothing left."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from rlaif.local.places import Ports
from rlaif.local.stack import Options, plan
from rlaif.local.strays import Process, Strays, strays
from rlaif.service.cli import GRACEFUL_SECONDS
from rlaif.testing.pipeline import processes
from rlaif.testing.servers.http_server import serve
from rlaif.testing.waiting import PATIENCE_SECONDS, eventually
from rlaif.trainer.run_folder import checkpoints
from rlaif.trainer.run_folder.record import RunRecord, begin_attempt
from rlaif.trainer.settings import TrainerSettings

NOW = datetime(2026, 3, 1, tzinfo=UTC)
PROGRAM = Path(__file__).parent / "small_pipeline.py"


class SmallPipeline:
    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)
        self._folder = folder
        self._output = folder / "output"
        with self._output.open("w") as output:
            self.process = subprocess.Popen(
                [sys.executable, str(PROGRAM), str(folder)],
                stdout=output,
                stderr=output,
                start_new_session=True,
                env=os.environ | {"PYTHONUNBUFFERED": "1"},
            )

    async def says(self, text: str, *, seconds: float = PATIENCE_SECONDS) -> None:
        await eventually(lambda: text in self._output.read_text(), text, seconds=seconds)

    def events(self) -> list[str]:
        return (self._folder / "events").read_text().splitlines()

    def left(self) -> int:
        return int((self._folder / "left").read_text())

    async def starts(self) -> None:
        (self._folder / "nats-is-ready").touch()
        await self.says("✓ trainer")

    async def ends(self) -> None:
        await eventually(lambda: self.process.poll() is not None, "its end")

    def press_ctrl_c(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def end(self) -> None:
        while self.process.poll() is None:
            self.press_ctrl_c()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(1)


@pytest.fixture
def pipeline(tmp_path: Path) -> Iterator[SmallPipeline]:
    started = SmallPipeline(tmp_path)
    yield started
    started.end()


@pytest.fixture
def stubborn_pipeline(tmp_path: Path) -> Iterator[SmallPipeline]:
    (tmp_path / "stubborn").touch()
    started = SmallPipeline(tmp_path)
    yield started
    started.end()


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_the_page_does_not_wait_for_the_servers_and_the_others_do(pipeline):
    await pipeline.says("page  http://127.0.0.1:9")
    assert "judge started" not in pipeline.events()
    await pipeline.starts()
    assert "judge started" in pipeline.events()


async def test_ctrl_c_is_answered_at_once_and_stops_the_services_before_their_servers(pipeline):
    await pipeline.starts()
    pipeline.press_ctrl_c()
    await pipeline.says("stopping")
    await pipeline.ends()
    assert pipeline.process.returncode == 0
    ended = [event for event in pipeline.events() if event.endswith("ended")]
    assert len(ended) == 5
    assert ended[-1] == "nats ended"


async def test_ctrl_c_ends_it_before_it_has_started(pipeline):
    await pipeline.says("✓ hud")
    pipeline.press_ctrl_c()
    await pipeline.ends()
    assert pipeline.process.returncode == 0
    assert "hud ended" in pipeline.events()


async def test_nothing_is_left_of_what_a_service_started(pipeline):
    await pipeline.starts()
    left = pipeline.left()
    assert lives(left)
    pipeline.press_ctrl_c()
    await pipeline.ends()
    assert not lives(left)
    await pipeline.says("ended remaining processes")


async def test_a_second_ctrl_c_ends_what_does_not_want_to(stubborn_pipeline):
    pipeline = stubborn_pipeline
    await pipeline.starts()
    pipeline.press_ctrl_c()
    await pipeline.says("stopping")
    await eventually(lambda: pipeline.events().count("judge ended") == 1, "the others end")
    assert pipeline.process.poll() is None
    pipeline.end()
    assert not lives(pipeline.left())


async def test_the_end_reports_how_many_steps_after_the_last_checkpoint_are_lost(tmp_path):
    record = RunRecord.read(begin_attempt(tmp_path / "trainer", "r-1", TrainerSettings(), NOW))
    manifest = checkpoints.Manifest(
        run_id="r-1", attempt=0, created_at=NOW, hidden=8, rom_sha256="ab" * 32, record=record,
        counters=checkpoints.Counters(iteration=12, env_steps=12_000),
    )  # fmt: skip
    folder = tmp_path / "trainer/runs/r-1/checkpoints"
    checkpoints.commit(checkpoints.begin(folder, 12), manifest)
    begin_attempt(tmp_path / "trainer", "r-newer", TrainerSettings(), NOW + timedelta(hours=1))
    trainer = FastAPI()

    @trainer.get("/api/v1/runs/current")
    async def current() -> dict[str, Any]:
        return {"run_id": "r-1", "status": "training", "env_steps": 28_896}

    async with serve(trainer) as url:
        (tmp_path / "trainer-url").write_text(url)
        pipeline = SmallPipeline(tmp_path)
        try:
            await pipeline.starts()
            await pipeline.says("28,896")
            pipeline.press_ctrl_c()
            await pipeline.says(
                "run r-1: iteration 12 is saved, 12,000 steps; 16,896 steps after it are lost"
            )
            await pipeline.ends()
        finally:
            pipeline.end()


async def test_what_a_dead_service_left_is_ended_while_the_pipeline_runs(pipeline):
    await pipeline.starts()
    left = pipeline.left()
    [trainer] = [pid for pid, words in processes() if words[-2:] == ["trainer", pipeline.folder]]
    os.kill(trainer, signal.SIGKILL)
    await pipeline.says("! trainer ended (signal 9)")
    await eventually(lambda: not lives(left), "the end of what it left")
    assert pipeline.process.poll() is None


def test_the_trainer_has_time_to_save_its_run_and_to_copy_it(tmp_path, monkeypatch):
    for given, least in ((None, TrainerSettings().stop_seconds), ("120", 120.0)):
        if given is not None:
            monkeypatch.setenv("TRAINER_STOP_SECONDS", given)
        with Ports() as ports:
            services = plan(Options(tmp_path), ports).services
        [trainer] = [spec for spec in services if spec.name == "trainer"]
        assert trainer.stop_seconds >= least + GRACEFUL_SECONDS


def test_children_of_our_own_session_and_spared_ones_are_no_strays():
    program = [sys.executable, "-c", "import time; time.sleep(60)"]
    near = subprocess.Popen(program)
    far = subprocess.Popen(program, start_new_session=True)
    try:
        assert near.pid not in [stray.pid for stray in strays(())]
        [found] = [stray for stray in strays(()) if stray.pid == far.pid]
        assert found == Process(far.pid, os.getpid(), far.pid, found.name, ended=False)
        assert far.pid not in [stray.pid for stray in strays({far.pid})]
    finally:
        for child in (near, far):
            child.kill()
            child.wait()


def test_a_process_that_ended_is_reaped_and_not_reported():
    gone = subprocess.Popen([sys.executable, "-c", ""], start_new_session=True)

    def is_a_zombie():
        return [stray.ended for stray in strays(()) if stray.pid == gone.pid] == [True]

    asyncio.run(eventually(is_a_zombie, "its end"))
    others = {stray.pid for stray in strays(())} - {gone.pid}
    assert Strays(patience=0).update(0.0, others) == []
    assert gone.pid not in [stray.pid for stray in strays(())]
    gone.wait()
