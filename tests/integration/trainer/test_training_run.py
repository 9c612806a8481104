"""A run of the real training process: saved when stopped, resumed, ended with its service."""

import os
import signal
from pathlib import Path

import pytest

from rlaif.contracts.game.observation import LAYOUT_VERSION
from rlaif.contracts.reward_models import RewardNetSpec
from rlaif.reward_net import artifact
from rlaif.reward_net.network import RewardNet
from rlaif.testing.waiting import eventually
from rlaif.trainer.checks import with_overrides
from rlaif.trainer.run_folder import checkpoints, metrics_log
from rlaif.trainer.run_folder.metrics_rows import STEP
from rlaif.trainer.run_folder.quest_record import SEARCH_FOLDER
from rlaif.trainer.search.opening import TREE
from rlaif.trainer.search.tree import read_tree
from rlaif.trainer.service.runs.supervisor import RunSupervisor
from rlaif.trainer.settings import TrainerSettings

RUN_ID = "r-test"
SECONDS = 240.0


@pytest.fixture
def settings(tmp_path: Path) -> TrainerSettings:
    return TrainerSettings.model_validate(
        {
            "data_dir": tmp_path,
            "ray_workers": 0,
            "envs_per_worker": 4,
            "batch_size": 128,
            "minibatch_size": 64,
            "epochs": 1,
            "episode_length": 100,
        }
    )


def explored(run: RunSupervisor) -> int:
    """Number of game frames that the search of the run has explored."""
    with read_tree(run.directory / SEARCH_FOLDER / TREE) as tree:
        frames: int = tree.progress("search")["counts"]["frames"]
        return frames


async def iterations(run: RunSupervisor, count: int) -> None:
    await eventually(lambda: run.state.iteration >= count, f"{count} iterations", seconds=SECONDS)


@pytest.mark.timeout(900)
async def test_a_run_continues_where_it_was_stopped(settings: TrainerSettings):
    run = RunSupervisor(settings, RUN_ID)
    run.start()
    await iterations(run, 2)
    process = run._process
    assert process is not None
    assert os.getpgid(process.pid) != os.getpgid(0), "Ctrl-C would end it before it saved"
    await run.stop()
    stopped_at = run.state.env_steps
    first, saved = checkpoints.whole(run.directory / "checkpoints")
    assert checkpoints.read_manifest(first).counters.iteration == 1, "from then on it can resume"
    assert checkpoints.read_manifest(saved).counters.env_steps == stopped_at >= 256
    kept = explored(run)
    assert kept > 1, "exploration is on by default, and saved"

    resumed = RunSupervisor(settings, RUN_ID)
    resumed.start()
    await eventually(
        lambda: resumed.state.status == "training", "the run is resumed", seconds=SECONDS
    )
    assert resumed.state.attempt == run.state.attempt + 1
    assert resumed.state.env_steps == stopped_at
    await iterations(resumed, run.state.iteration + 1)

    await resumed.stop()
    assert resumed.state.status == "stopped"
    assert explored(resumed) > kept, "it resumed the same search"
    rows = list(metrics_log.read(run.directory / metrics_log.FILE))
    assert rows[-1][STEP] == resumed.state.env_steps
    for name in ("mean_kl_loss", "clip_fraction", "vf_loss", "default_optimizer_learning_rate",
                 "gradients_default_optimizer_global_norm"):  # fmt: skip
        assert f"learners/default_policy/{name}" in rows[-1]
    assert list(run.directory.glob("*.tfevents.*"))


@pytest.mark.timeout(900)
async def test_a_stop_saves_the_last_finished_iteration_and_waits_for_no_other(
    settings: TrainerSettings,
):
    long = {"actions": "seed", "batch_size": 8192, "checkpoint_minutes": 1e-6}
    run = RunSupervisor(with_overrides(settings, long), RUN_ID)
    run.start()
    await iterations(run, 1)
    await run.stop()
    assert (run.state.status, run.state.iteration, run.state.checkpoint) == ("stopped", 1, 1)

    resumed = RunSupervisor(with_overrides(settings, long | {"checkpoint_minutes": 60}), RUN_ID)
    resumed.start()
    await iterations(resumed, 2)
    assert resumed.state.checkpoint == 1, "none is due"
    await resumed.stop()
    assert (resumed.state.status, resumed.state.iteration) == ("stopped", 2)
    *_, saved = checkpoints.whole(run.directory / "checkpoints")
    counters = checkpoints.read_manifest(saved).counters
    assert (counters.iteration, counters.env_steps) == (2, resumed.state.env_steps)


@pytest.mark.timeout(900)
async def test_a_run_that_is_stopped_while_it_starts_ends_at_once(settings: TrainerSettings):
    run = RunSupervisor(settings, RUN_ID)
    run.start()
    await eventually(lambda: run._process is not None, "its process", seconds=SECONDS)
    await run.stop()
    assert run.state.status == "stopped"
    assert run.state.iteration == 0
    assert checkpoints.whole(run.directory / "checkpoints") == []


@pytest.mark.timeout(900)
async def test_a_training_process_ends_when_its_service_asks_and_not_by_sigterm(
    settings: TrainerSettings,
):
    run = RunSupervisor(settings, RUN_ID)
    run.start()
    await iterations(run, 1)
    process = run._process
    assert process is not None
    os.kill(process.pid, signal.SIGTERM)
    await iterations(run, run.state.iteration + 2)
    assert run._process is process
    await run.stop()
    assert run.state.status == "stopped"
    assert run.state.checkpoint == run.state.iteration


@pytest.mark.timeout(900)
async def test_a_killed_driver_costs_one_interval_at_most_and_keeps_model_and_archive(
    settings: TrainerSettings, tmp_path: Path
):
    model = tmp_path / "rm.safetensors"
    spec = RewardNetSpec(layout_version=LAYOUT_VERSION)
    model.write_bytes(artifact.save(RewardNet(spec), spec, version=3))
    settings = with_overrides(
        settings,
        {"checkpoint_minutes": 1e-6, "reward_model_path": model},
    )
    run = RunSupervisor(settings, RUN_ID)
    run.start()
    await iterations(run, 3)
    assert run.state.reward_model_version == 3
    assert run._process is not None
    os.kill(run._process.pid, signal.SIGKILL)
    killed_at = run.state.iteration
    model.write_bytes(b"no longer a model")  # the checkpoint has its own
    await eventually(
        lambda: run.state.attempt == 1 and run.state.status == "training",
        "it is started again",
        seconds=SECONDS,
    )
    assert run.state.iteration >= killed_at - 1, "one interval is one iteration here"
    await eventually(
        lambda: run.state.reward_model_version is not None, "the model counts", seconds=SECONDS
    )
    assert run.state.reward_model_version == 3
    await iterations(run, killed_at + 1)
    assert run.state.last is not None
    assert run.state.last.reward_model_version == 3
    await run.stop()
    assert explored(run) > 1
    steps = [row[STEP] for row in metrics_log.read(run.directory / metrics_log.FILE)]
    assert steps == sorted(set(steps)), "no step twice"
