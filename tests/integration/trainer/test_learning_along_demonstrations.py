"""PPO along a demonstration of two subtasks: rare successes soon become the rule."""

from operator import methodcaller
from pathlib import Path
from typing import Any

import pytest

from rlaif.game.decisions.catalog import INTERACT, LEAVE, go_to, item
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.motion.grid import TilePlace
from rlaif.testing.decided_way import tree_of_way
from rlaif.trainer.curriculum.building import BuildSettings, build
from rlaif.trainer.curriculum.library import DemonstrationsError
from rlaif.trainer.learner.algorithm.ppo import ShapedPPO, build_config
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.settings import TrainerSettings

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # by Ray itself, on every start
    pytest.mark.timeout(900),
]

RIGHT = 3
WAY = [
    [go_to(TilePlace(3, 2))],
    [go_to(TilePlace(2, 5)), INTERACT],
    [go_to(TilePlace(7, 4))],
    [go_to(TilePlace(5, 8)), item("sword")],
    [LEAVE.start + RIGHT],
    [go_to(TilePlace(4, 3)), INTERACT],
]
"""Into the house, to the sword; out, through a bush to who gives a tool."""


@pytest.fixture(scope="module")
def demonstrations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, cartridge = tmp_path_factory.mktemp("run"), load_cartridge(None)
    tree = tree_of_way(folder / "search", cartridge, WAY)
    build([tree], folder / "found", BuildSettings(states_every=1, noised=2))
    return folder / "found"


def algorithm_of(path: Path, *, resumes: bool = False, **curriculum: Any) -> ShapedPPO:
    given = {"power_on": 0.0, "chained": 0.0, "behind": 0.0, "tries": 4, "goes_on": 0.0}
    settings = TrainerSettings.model_validate(
        {
            "actions": "macros",
            "episode_length": 2000,
            "seed": 1,
            "ray_workers": 0,
            "envs_per_worker": 4,
            "batch_size": 128,
            "ppo": {"minibatch_size": 64},
            "hidden": 64,
            "curriculum": {"path": path, **given, **curriculum},
        }
    )
    env = EnvConfig(run_id="t", game=settings.game, capture=settings.capture)
    return ShapedPPO(build_config(settings, env, resumes=resumes))


def success(algorithm: ShapedPPO) -> list[float]:
    """Share of the last attempts at each subtask."""
    return [subtask.success_anywhere or 0.0 for subtask in algorithm.course.subtasks]


def test_success_rises_and_frontiers_move_back(demonstrations: Path) -> None:
    untrained = algorithm_of(demonstrations, imitation=0.0, tries=256)
    for _ in range(2):
        untrained.train()
    assert [subtask.at for subtask in untrained.course.subtasks] == [
        subtask.places - 1 for subtask in untrained.course.subtasks
    ]
    before = success(untrained)
    trained = algorithm_of(demonstrations, warm_start=100)
    imitated = trained.follow_demonstrations(is_new=True)
    assert imitated is not None
    for _ in range(5):
        trained.train()
    untrained.stop()
    trained.stop()
    assert imitated > 0.8
    assert min(success(trained)) > max(0.5, max(before) + 0.1)
    assert all(
        subtask.at < subtask.places - 1 or subtask.is_mastered
        for subtask in trained.course.subtasks
    )


def test_runner_and_learner_resume_from_a_checkpoint(demonstrations: Path) -> None:
    first = algorithm_of(demonstrations)
    first.follow_demonstrations(is_new=False)
    first.train()
    (saved,) = first.runners.ask(methodcaller("state_dict"))
    second = algorithm_of(demonstrations, resumes=True)
    assert second.runners.ask(methodcaller("load_state_dict", saved)) == [None]
    (again,) = second.runners.ask(methodcaller("state_dict"))
    assert again["course"] == saved["course"]
    assert again["vector"]["watchers"] == saved["vector"]["watchers"]
    assert sum(subtask["tries"] for subtask in saved["course"]["route"].values()) > 0
    first.stop()
    second.stop()


def test_a_run_without_its_demonstrations_reports_it(tmp_path: Path) -> None:
    with pytest.raises(DemonstrationsError, match="build them from a search"):
        algorithm_of(tmp_path)
