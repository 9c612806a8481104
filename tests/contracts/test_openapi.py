"""Every interface explains itself: operations, parameters, fields and kinds of problems."""

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
from rlaif.service.field_words import MEANINGS
from rlaif.service.openapi import example
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
SCALARS = {"boolean", "integer", "number", "string"}
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


def fields(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for schema, about in document["components"]["schemas"].items():
        for name, field in about.get("properties", {}).items():
            yield f"{schema}.{name}", field


def is_scalar(schema: dict[str, Any]) -> bool:
    return bool(SCALARS & {each.get("type") for each in (schema, *schema.get("anyOf", ()))})


def test_every_operation_and_parameter_is_described(document):
    for name, operation in operations(document):
        assert operation.get("description"), name
        generated = operation["operationId"].replace("_", " ").title()
        assert operation["summary"] != generated or operation["description"] is None, name
        for each in operation.get("parameters", ()):
            assert each.get("description"), f"{name} {each['name']}"
            assert each["schema"].get("examples") or "$ref" in each["schema"], each


def test_every_field_is_described_and_every_scalar_has_an_example(document):
    bare = [name for name, field in fields(document) if not field.get("description")]
    assert bare == []
    plain = [
        name for name, field in fields(document) if is_scalar(field) and not field.get("examples")
    ]
    assert plain == []


def test_an_example_has_the_type_of_its_field():
    assert example("at", {"type": "string", "format": "date-time"}).endswith("Z")
    assert example("x", {"anyOf": [{"type": "integer", "minimum": 2}, {"type": "null"}]}) == 2
    assert example("version", {"type": "string"}) == "text", "the example of a number does not fit"
    assert example("x", {"enum": ["mlp", "cnn"], "type": "string"}) == "mlp"
    assert example("x", {"type": "array"}) is None


def test_no_meaning_is_left_of_a_name_that_is_gone(tmp_path):
    sources = "\n".join(
        path.read_text() for top in ("libs", "services", "deploy")
        for path in (ROOT / top).rglob("src/**/*.py") if path.name != "field_words.py"
    )  # fmt: skip
    assert [name for name in MEANINGS if not re.search(rf"\b{name}\b", sources)] == []


def test_every_kind_of_problem_has_a_page():
    named = {
        kind
        for top in ("libs", "services", "deploy")
        for path in (ROOT / top).rglob("src/**/*.py")
        for kind in KIND.findall(path.read_text())
    }
    assert {kind for kind in named if not kind.endswith("-not-found")} <= KINDS.keys()
