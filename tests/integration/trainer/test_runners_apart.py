"""Ray runners that do not share the run's directory: common search, screens, and files of the
driver."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import ray

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.starts.power_on import bring_to_control
from rlaif.trainer.learner import saving
from rlaif.trainer.learner.algorithm.ppo import ShapedPPO, config_of
from rlaif.trainer.learner.progress import RunTally
from rlaif.trainer.learner.runners.driver_files import RunningDriverFiles
from rlaif.trainer.learner.runners.files import RunnerFiles
from rlaif.trainer.learner.runners.opening import open_runners, runner_config
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.run_folder import checkpoints
from rlaif.trainer.run_folder.live_files import SCREENS
from rlaif.trainer.run_folder.quest_record import SEARCH_FOLDER
from rlaif.trainer.search.opening import open_search
from rlaif.trainer.search.tree import read_tree
from rlaif.trainer.service.live import RunnerScreens
from rlaif.trainer.settings import TrainerSettings
from rlaif.trainer.settings.game import GameSettings
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
            "ray_workers": RUNNERS,
            "envs_per_worker": 2,
            "explore": {"share": 0.5},
            "batch_size": 256,
            "minibatch_size": 128,
            "epochs": 1,
            "hidden": 16,
        }
    )
    game = GameSettings(
        episode_length=60,
        initial_state_path=state_in_play(tmp_path_factory.mktemp("driver") / "start.state"),
    )
    env = EnvConfig(run_id="r", game=game, screens=run / SCREENS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ray.init(
            address="local", num_cpus=RUNNERS + 1, include_dashboard=False, log_to_driver=False,
            logging_level="ERROR",
        )  # fmt: skip
        files = RunningDriverFiles.start(run)
        config = runner_config(settings, env, files=files.name, exploring=settings.exploring)
        runners = open_runners(config, RUNNERS, on_cluster=True)
        algorithm = ShapedPPO(config_of(settings, config), runners)
        algorithm.exploration.open(lambda: open_search(run / SEARCH_FOLDER, load_cartridge()))
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


def test_runners_share_places_and_what_they_find(apart: tuple[ShapedPPO, Path]):
    algorithm, _ = apart
    search = algorithm.exploration.search
    assert search is not None

    def have_found() -> bool:
        return all(search._runners[runner].ids for runner in (1, 2))

    train_until(algorithm, "both find states", have_found)
    train_until(algorithm, "places are counted", lambda: bool(algorithm.exploration.places))
    algorithm.sampler.hold()
    played = on_runners(algorithm, lambda runner: dict(runner._places.episodes))
    algorithm.train()  # takes in what was held
    for places in played:
        assert places.keys() <= algorithm.exploration.places.keys()
        assert places
    cells = on_runners(algorithm, lambda runner: set(runner._explorer.known._worth))
    assert len(cells[0] & cells[1]) > 2


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
        reading = screens.environments("r", datetime.now(UTC))
        return [] if reading is None else [each.env for each in reading.environments]

    train_until(algorithm, "each runner shows a screen", lambda: has_shown("1-0", "2-0"))
    train_until(
        algorithm, "all players are on the map", lambda: players() == ["1-0", "1-1", "2-0", "2-1"]
    )
    screens.request((2, 1))
    train_until(algorithm, "the wanted environment is shown", lambda: has_shown("2-1"))
    train_until(
        algorithm,
        "the rewards of its steps are reported",
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
    files = RunnerFiles(algorithm.config.env_config["runner"].files)
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
    algorithm, _ = apart
    search = algorithm.exploration.search
    assert search is not None
    saving.save(algorithm, RunTally(), tmp_path)
    with read_tree(tmp_path / checkpoints.SEARCH) as tree:
        assert {cell for _, cell, *_ in tree.starts} == set(search._kept)


def test_runners_read_from_a_restarted_actor(apart: tuple[ShapedPPO, Path]):
    algorithm, _ = apart
    name = algorithm.config.env_config["runner"].files
    given = algorithm.config.env_config["env"].game.initial_state_path
    ray.kill(ray.get_actor(name), no_restart=False)

    def is_read() -> bool:
        with suppress(ConnectionError):
            found = on_runners(algorithm, lambda runner: runner.files.driver.read(given))
            return found == [{"": given.read_bytes()}] * RUNNERS
        return False

    train_until(algorithm, "the actor is back", is_read)
