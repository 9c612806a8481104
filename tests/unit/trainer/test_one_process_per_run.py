"""A run is trained by one process at a time, also across a service that was killed."""

from pathlib import Path

import pytest

from rlaif.files.locked import lock
from rlaif.testing.waiting import eventually
from rlaif.trainer.service.runs import supervisor as supervising
from rlaif.trainer.service.runs.supervisor import RunSupervisor
from rlaif.trainer.settings import TrainerSettings

TRAINS_UNTIL_ASKED = """
import os, sys
pipe = os.fdopen(int(sys.argv[2]), "wb", buffering=0)
pipe.write(b'{"kind":"started","env_steps":0,"iteration":0,"restored_from":null}\\n')
sys.stdin.readline()
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunSupervisor:
    (tmp_path / "stand_in.py").write_text(TRAINS_UNTIL_ASKED)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setitem(supervising._PROCESS_MODULES, "process", "stand_in")
    monkeypatch.setattr(supervising, "_CLAIM_PAUSE", 0.05)
    found = RunSupervisor(TrainerSettings(data_dir=tmp_path), "r-1")
    found.directory.mkdir(parents=True)
    return found


async def test_a_run_waits_for_the_process_that_still_saves_it(run: RunSupervisor):
    held = lock(run.directory / "lock")
    run.start()
    await eventually(lambda: run.alive and run.state.status == "starting", "it waits")
    assert not (run.directory / "run.json").exists()
    held.close()
    await eventually(lambda: run.state.status == "training", "it trains")
    await run.stop()
    assert run.state.status == "stopped"
    lock(run.directory / "lock").close()


async def test_a_run_of_another_process_is_not_touched(
    run: RunSupervisor, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(supervising, "_CLAIM_SECONDS", -1000.0)
    with lock(run.directory / "lock"):
        run.start()
        await run.wait()
    assert run.state.status == "failed"
    assert "trains this run" in (run.state.failure or "")
    assert not (run.directory / "run.json").exists()


async def test_a_run_that_waits_can_be_stopped(run: RunSupervisor):
    with lock(run.directory / "lock"):
        run.start()
        await run.stop()
    assert not run.alive
