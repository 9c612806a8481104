"""Runners of one Ray that do not see the run's directory: they explore one archive all the same."""

import tarfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import ray

from rlaif.trainer.learner import snapshot
from rlaif.trainer.learner.algorithm.keeping import RunningKeeper
from rlaif.trainer.learner.algorithm.ppo import ShapedPPO, build_config
from rlaif.trainer.learner.progress import RunTally
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.exploration.explorer import ExploreConfig
from rlaif.trainer.play.exploration.states import ArchiveRecord
from rlaif.trainer.run_folder import checkpoints
from rlaif.trainer.settings import TrainerSettings
from rlaif.trainer.settings.exploration import ExploreSettings
from rlaif.trainer.settings.game import GameSettings

RUNNERS = 2
FEW = 10
"""Iterations."""


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ShapedPPO, Path]]:
    """An algorithm that has trained some iterations, and the run's directory."""
    run = tmp_path_factory.mktemp("run")
    settings = TrainerSettings.model_validate(
        {
            "actions": "seed",
            "ray_workers": RUNNERS,
            "envs_per_worker": 2,
            "batch_size": 256,
            "minibatch_size": 128,
            "epochs": 1,
            "hidden": 16,
        }
    )
    # Without a walk at the start all episodes from power-on begin in one cell.
    game = GameSettings(actions="seed", episode_length=60, noop_start=0, walk_start=0)
    env = EnvConfig(run_id="r", game=game)
    explore = ExploreConfig(
        run, ExploreSettings(restarts=0.5, swarm=0.5), save_every=50, sync_every=2
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ray.init(
            address="local", num_cpus=RUNNERS + 1, include_dashboard=False, log_to_driver=False,
            logging_level="ERROR",
        )  # fmt: skip
        keeper = RunningKeeper.start(explore)
        config = replace(keeper.config, directory=run / "not there on other machines")
        algorithm = ShapedPPO(build_config(settings, env, config))
        algorithm.keeper = keeper
        for _ in range(FEW):
            algorithm.train()
        yield algorithm, run
        algorithm.stop()
        ray.shutdown()


def on_runners(algorithm: ShapedPPO, call: Callable[[Any], Any]) -> list[Any]:
    return list(algorithm.env_runner_group.foreach_env_runner(call, local_env_runner=False))


def kept(run: Path) -> dict[str, ArchiveRecord]:
    """Digest → record of the states in the run's directory."""
    files = run.glob("exploration/*/archive/states/*.json")
    records = [ArchiveRecord.model_validate_json(path.read_bytes()) for path in files]
    return {record.sha256: record for record in records}


def dropped(run: Path) -> set[str]:
    return {path.stem for path in run.glob("exploration/*/archive/lineage/*.json")}


def test_each_runner_sees_what_the_other_found_and_the_run_has_all(
    apart: tuple[ShapedPPO, Path],
):
    algorithm, run = apart
    algorithm.sampler.hold()  # nobody plays, so that nothing new comes in between
    for _ in range(2):  # one tells, the other asks
        on_runners(algorithm, lambda runner: runner._explorer.sync())
    found = kept(run)
    finders = {record.environment.partition("-")[0] for record in found.values()}
    assert finders == {"1", "2"}
    for had in on_runners(algorithm, lambda runner: runner._explorer.archive.digests):
        assert had == found.keys()
    squares = on_runners(algorithm, lambda runner: dict(runner._explorer.visited.elsewhere))
    assert all(squares), "each knows where the other has been"


def test_a_checkpoint_holds_what_was_found_on_all_machines(
    apart: tuple[ShapedPPO, Path], tmp_path: Path
):
    algorithm, run = apart
    snapshot.save(algorithm, RunTally(), tmp_path, run)
    with tarfile.open(tmp_path / checkpoints.EXPLORATION) as tar:
        names = tar.getnames()
    held = {Path(name).stem for name in names if "/states/" in name}
    everywhere = on_runners(algorithm, lambda runner: runner._explorer.archive.digests)
    assert held >= frozenset().union(*everywhere)
    for runner in range(1, RUNNERS + 1):
        assert any(name.endswith(f"coverage/runner-{runner}.npz") for name in names)
        assert any(name.endswith(f"cells/runner-{runner}.json") for name in names)
    assert not any(Path(name).name.startswith(".") for name in names)


def test_a_keeper_that_died_comes_back_with_what_it_had(apart: tuple[ShapedPPO, Path]):
    algorithm, run = apart
    assert algorithm.keeper is not None
    ray.kill(algorithm.keeper.actor, no_restart=False)
    for _ in range(FEW):
        algorithm.train()
    algorithm.sampler.hold()
    on_runners(algorithm, lambda runner: runner._explorer.sync())
    troubles = on_runners(algorithm, lambda runner: runner._explorer.trouble)
    assert troubles == [None] * RUNNERS
    everywhere = on_runners(algorithm, lambda runner: runner._explorer.archive.digests)
    assert frozenset().union(*everywhere) <= kept(run).keys() | dropped(run)
