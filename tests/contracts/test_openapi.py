"""Every interface explains itself: operations, parameters and kinds of problems."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from rlaif.exporter.app import create_app as exporter_app
from rlaif.exporter.settings import ExporterSettings
from rlaif.hud.app import create_app as hud_app
from rlaif.hud.settings import HudSettings
from rlaif.judge.app import create_app as judge_app
from rlaif.judge.settings import JudgeSettings
from rlaif.mock_llm.app import create_app as mock_llm_app
from rlaif.mock_llm.settings import MockLlmSettings
from rlaif.reward_model.app import create_app as reward_model_app
from rlaif.reward_model.settings import RewardModelSettings
from rlaif.service.problem_kinds import KINDS
from rlaif.trainer.service.app import create_app as trainer_app
from rlaif.trainer.settings import TrainerSettings

ROOT = Path(__file__).parents[2]
APPS: dict[str, tuple[Any, Any]] = {
    "exporter": (exporter_app, ExporterSettings),
    "hud": (hud_app, HudSettings),
    "judge": (judge_app, JudgeSettings),
    "mock-llm": (mock_llm_app, MockLlmSettings),
    "reward-model": (reward_model_app, RewardModelSettings),
    "trainer": (trainer_app, TrainerSettings),
}
KIND = re.compile(r'Problem\(\s*\d{3},\s*"([a-z-]+)"')


@pytest.fixture(scope="module", params=APPS)
def document(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    create, settings = APPS[request.param]
    folder = tmp_path_factory.mktemp("data")
    stores = {name: f"file://{folder}/{name}" for name in ("episodes_store", "models_store")}
    given = stores | ({"data_dir": folder} if request.param == "trainer" else {})
    app: FastAPI = create(settings(**given))
    return app.openapi()


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method} {path}", operation


def test_every_operation_and_parameter_is_described(document):
    for name, operation in operations(document):
        assert operation.get("description"), name
        generated = operation["operationId"].replace("_", " ").title()
        assert operation["summary"] != generated or operation["description"] is None, name
        for each in operation.get("parameters", ()):
            assert each.get("description"), f"{name} {each['name']}"


def test_every_kind_of_problem_has_a_page():
    named = {
        kind
        for top in ("libs", "services", "deploy")
        for path in (ROOT / top).rglob("src/**/*.py")
        for kind in KIND.findall(path.read_text())
    }
    assert {kind for kind in named if not kind.endswith("-not-found")} <= KINDS.keys()
