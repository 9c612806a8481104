"""Ray runners that do not share the run's directory: common archive, screens, and files of the
driver."""

import tarfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import ray

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.starts.power_on import bring_to_control
from rlaif.trainer.learner import saving
from rlaif.trainer.learner.algorithm.ppo import ShapedPPO, build_config
from rlaif.trainer.learner.progress import RunTally
from rlaif.trainer.learner.runners.driver_files import RunningArchiveServer
from rlaif.trainer.learner.runners.files import RunnerFiles
from rlaif.trainer.learner.runners.opening import open_runners
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.exploration.explorer import ExploreConfig
from rlaif.trainer.play.exploration.states import ArchiveRecord
from rlaif.trainer.run_folder import checkpoints
from rlaif.trainer.run_folder.live_files import SCREENS
from rlaif.trainer.service.live import RunnerScreens
from rlaif.trainer.settings import TrainerSettings
from rlaif.trainer.settings.game import ExploreSettings, GameSettings
from rlaif.trainer.settings.learning import CurriculumSettings

RUNNERS = 2
FEW = 10
"""Iterations."""

MANY = 400
"""Iterations after which a condition that the runners bring about must hold."""


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ShapedPPO, Path]]:
    """An algorithm after some iterations, and the run's directory."""
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
    # Without random moves, all episodes from power-on start in one cell.
    game = GameSettings(
        actions="seed",
        episode_length=60,
        noop_start=0,
        walk_start=0,
        initial_state_path=state_in_play(tmp_path_factory.mktemp("driver") / "start.state"),
    )
    env = EnvConfig(run_id="r", game=game, screens=run / SCREENS)
    explore = ExploreConfig(run, ExploreSettings(restarts=0.5), save_every=50, sync_every=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ray.init(
            address="local", num_cpus=RUNNERS + 1, include_dashboard=False, log_to_driver=False,
            logging_level="ERROR",
        )  # fmt: skip
        archive_server = RunningArchiveServer.start(explore)
        config = replace(archive_server.config, directory=run / "not there on other machines")
        found = build_config(settings, env, config)
        runners = open_runners(found.env_config["runner"], RUNNERS, on_cluster=True)
        algorithm = ShapedPPO(found, runners)
        for _ in range(FEW):
            algorithm.train()
        yield algorithm, run
        algorithm.stop()
        ray.shutdown()


def state_in_play(path: Path) -> Path:
    cartridge = load_cartridge()
    emulator = Emulator(cartridge.data)
    bring_to_control(emulator, cartridge)
    path.write_bytes(emulator.save_state())
    emulator.close()
    return path


def train_until(algorithm: ShapedPPO, what: str, condition: Callable[[], bool]) -> None:
    for _ in range(MANY):
        if condition():
            return
        algorithm.train()
    raise AssertionError(f"{what}: not in {MANY} iterations")


def on_runners(algorithm: ShapedPPO, call: Callable[[Any], Any]) -> list[Any]:
    return algorithm.runners.ask(call)


def kept(run: Path) -> dict[str, ArchiveRecord]:
    """Digest → record of the states in the run's directory."""
    files = run.glob("exploration/*/archive/states/*.json")
    records = [ArchiveRecord.model_validate_json(path.read_bytes()) for path in files]
    return {record.sha256: record for record in records}


def dropped(run: Path) -> set[str]:
    return {path.stem for path in run.glob("exploration/*/archive/lineage/*.json")}


def test_runners_share_discoveries_with_each_other_and_the_run(
    apart: tuple[ShapedPPO, Path],
):
    algorithm, run = apart
    algorithm.sampler.hold()  # pause, so that nothing new arrives in between
    for _ in range(2):  # one reports, the other reads
        on_runners(algorithm, lambda runner: runner._explorer.sync())
    found = kept(run)
    finders = {record.environment.partition("-")[0] for record in found.values()}
    assert finders == {"1", "2"}
    for had in on_runners(algorithm, lambda runner: runner._explorer.archive.digests):
        assert had == found.keys()
    squares = on_runners(algorithm, lambda runner: dict(runner._explorer.visited.elsewhere))
    assert all(squares), "each knows where the other has been"


def test_screens_and_positions_of_all_runners_reach_the_service(
    apart: tuple[ShapedPPO, Path],
):
    algorithm, run = apart
    screens = RunnerScreens()
    seen: set[str] = set()

    def has_shown(*wanted: str) -> bool:
        screens.update(run / SCREENS)
        seen.update(env for env, _ in screens.newer())
        return seen >= set(wanted)

    def players() -> list[str]:
        screens.update(run / SCREENS)
        told = screens.environments("r", datetime.now(UTC))
        return [] if told is None else [each.env for each in told.environments]

    train_until(algorithm, "each runner shows a screen", lambda: has_shown("1-0", "2-0"))
    train_until(
        algorithm, "all players are on the map", lambda: players() == ["1-0", "1-1", "2-0", "2-1"]
    )
    screens.request((2, 1))
    train_until(algorithm, "the wanted environment is shown", lambda: has_shown("2-1"))
    train_until(
        algorithm,
        "what its steps are paid is told",
        lambda: screens.steps(datetime.now(UTC)) is not None,
    )


def test_runners_play_from_files_of_the_drivers_machine(apart: tuple[ShapedPPO, Path]):
    algorithm, _ = apart
    given = algorithm.config.env_config["env"].game.initial_state_path

    def start(runner: Any) -> tuple[Path, bytes]:
        path = runner.files.environment(runner.config.env).game.initial_state_path
        return path, path.read_bytes()

    for copy, state in on_runners(algorithm, start):
        assert copy != given
        assert (copy.name, state) == (given.name, given.read_bytes())


def test_a_folder_of_the_drivers_machine_is_copied_completely(
    apart: tuple[ShapedPPO, Path], tmp_path: Path
):
    algorithm, _ = apart
    folder = tmp_path / "demonstrations"
    folder.mkdir()
    (folder / "demonstrations.json").write_text("{}")
    (folder / "one.npz.zst").write_bytes(bytes(1 << 20))
    files = RunnerFiles(algorithm.config.env_config["runner"].explore)
    copied = files.curriculum(CurriculumSettings(path=folder))
    assert copied is not None
    assert copied.path is not None
    assert copied.path != folder
    assert {each.name: each.read_bytes() for each in copied.path.iterdir()} == {
        each.name: each.read_bytes() for each in folder.iterdir()
    }
    with pytest.raises(FileNotFoundError):
        files.curriculum(CurriculumSettings(path=tmp_path / "nowhere"))
    files.close()
    assert not copied.path.exists()


def test_a_checkpoint_contains_the_discoveries_of_all_machines(
    apart: tuple[ShapedPPO, Path], tmp_path: Path
):
    algorithm, run = apart
    saving.save(algorithm, RunTally(), tmp_path, run)
    with tarfile.open(tmp_path / checkpoints.EXPLORATION) as tar:
        names = tar.getnames()
    held = {Path(name).stem for name in names if "/states/" in name}
    everywhere = on_runners(algorithm, lambda runner: runner._explorer.archive.digests)
    assert held >= frozenset().union(*everywhere)
    for runner in range(1, RUNNERS + 1):
        assert any(name.endswith(f"coverage/runner-{runner}.npz") for name in names)
        assert any(name.endswith(f"cells/runner-{runner}.json") for name in names)
    assert not any(Path(name).name.startswith(".") for name in names)


def test_a_restarted_archive_server_keeps_its_data(apart: tuple[ShapedPPO, Path]):
    algorithm, run = apart
    name = algorithm.config.env_config["runner"].explore.archive_server
    ray.kill(ray.get_actor(name), no_restart=False)
    for _ in range(FEW):
        algorithm.train()
    algorithm.sampler.hold()
    on_runners(algorithm, lambda runner: runner._explorer.sync())
    troubles = on_runners(algorithm, lambda runner: runner._explorer.trouble)
    assert troubles == [None] * RUNNERS
    everywhere = on_runners(algorithm, lambda runner: runner._explorer.archive.digests)
    assert frozenset().union(*everywhere) <= kept(run).keys() | dropped(run)
