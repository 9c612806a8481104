"""How many environments of each runner explore, in what people start."""

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from rlaif.local.stack import _DEMO_SETTINGS
from rlaif.trainer.learner.runners.runner import share
from rlaif.trainer.settings import TrainerSettings

ROOT = Path(__file__).parents[3]
SCALES = sorted((ROOT / "deploy/overlays").glob("*/training-scale.yaml"))


def exploring(**given: Any) -> list[int]:
    settings = TrainerSettings.model_validate(given)
    runners = range(1, settings.ray_workers + 1) if settings.ray_workers else [0]
    total, parts = settings.exploring, max(1, settings.ray_workers)
    return [share(total, parts=parts, part=number, turn=0) for number in runners]


@pytest.mark.parametrize(
    ("workers", "environments", "of_each"),
    [
        (3, 1, [0, 1, 0]),  # the default: a runner that only explores
        (0, 1, [0]),  # the only one is the policy's
        (1, 6, [2]),
        (2, 6, [2, 1]),
        (0, 4, [1]),
        (4, 2, [0, 1, 1, 0]),
    ],
)
def test_a_share_of_the_runs_environments_explores(
    workers: int, environments: int, of_each: list[int]
):
    assert exploring(ray_workers=workers, envs_per_worker=environments) == of_each


def test_the_policy_keeps_one_of_the_run_and_if_possible_one_of_each_runner():
    everything: dict[str, Any] = {"explore": {"share": 1.0}}
    assert sorted(exploring(ray_workers=3, envs_per_worker=1, **everything)) == [0, 1, 1]
    assert exploring(ray_workers=3, envs_per_worker=2, **everything) == [1, 1, 1]


def test_nothing_explores_where_there_is_no_decision_or_no_single_world():
    assert not any(exploring(ray_workers=3, envs_per_worker=6, actions="seed"))
    assert not any(exploring(ray_workers=3, envs_per_worker=6, worlds="1-3"))
    assert not any(exploring(ray_workers=3, envs_per_worker=6, mode="evaluation"))


def test_make_train_the_demo_and_every_overlay_explore():
    demo = {name: _DEMO_SETTINGS["trainer"][name] for name in ("RAY_WORKERS", "ENVS_PER_WORKER")}
    scales = [yaml.safe_load(path.read_text())["data"]["runners"] for path in SCALES]
    assert len(scales) == 3
    for given in ({}, demo, *({"RAY_WORKERS": runners} for runners in scales)):
        assert sum(exploring(**given)) >= 1, given


@pytest.fixture(autouse=True)
def _only_given_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith(("TRAINER_", "RAY_", "ENVS_")):
            monkeypatch.delenv(name)
