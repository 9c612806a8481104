"""A run of the real training process: saved when stopped, resumed, ended with its service."""

import os
import signal
from pathlib import Path

import pytest

from rlaif.testing.waiting import eventually
from rlaif.trainer.runs import checkpoints
from rlaif.trainer.runs.supervisor import RunSupervisor
from rlaif.trainer.settings import TrainerSettings

RUN_ID = "r-test"
SECONDS = 60.0


@pytest.fixture
def settings(tmp_path: Path) -> TrainerSettings:
    return TrainerSettings(
        data_dir=tmp_path,
        RAY_WORKERS=0,
        BATCH_SIZE=128,
        minibatch_size=64,
        epochs=1,
        EPISODE_LENGTH=100,
    )


async def iterations(run: RunSupervisor, count: int) -> None:
    await eventually(lambda: run.state.iteration >= count, f"{count} iterations", seconds=SECONDS)


@pytest.mark.timeout(240)
async def test_a_run_goes_on_where_it_was_stopped_or_killed(settings: TrainerSettings):
    run = RunSupervisor(settings, RUN_ID)
    run.start()
    await iterations(run, 2)
    process = run._process
    assert process is not None
    assert os.getpgid(process.pid) != os.getpgid(0), "Ctrl-C would end it before it saved"
    await run.stop()
    stopped_at = run.state.env_steps
    (saved,) = checkpoints.whole(run.directory / "checkpoints")
    assert checkpoints.read_counters(saved).env_steps == stopped_at >= 256

    resumed = RunSupervisor(settings, RUN_ID)
    resumed.start()
    await eventually(
        lambda: resumed.state.status == "training", "the run is resumed", seconds=SECONDS
    )
    assert resumed.state.attempt == run.state.attempt + 1
    assert resumed.state.env_steps == stopped_at
    await iterations(resumed, run.state.iteration + 1)

    assert resumed._process is not None
    os.kill(resumed._process.pid, signal.SIGKILL)
    await eventually(
        lambda: (
            resumed.state.attempt == run.state.attempt + 2 and resumed.state.status == "training"
        ),
        "a killed process is started again",
        seconds=SECONDS,
    )
    assert resumed.state.env_steps == stopped_at, "from the last checkpoint"
    await resumed.stop()
    assert resumed.state.status == "stopped"
