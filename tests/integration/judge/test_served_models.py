from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from fastapi import FastAPI

from rlaif.judge.parts import judges_of
from rlaif.judge.rubric.judges import JUDGES, as_json
from rlaif.judge.served_models import served_judges
from rlaif.judge.settings import JudgeSettings
from rlaif.testing.servers.http_server import serve


@pytest.fixture
def models() -> list[str]:
    """The models of the server, which a test may change."""
    return ["SmolLM2"]


@pytest.fixture
async def settings(models: list[str]) -> AsyncIterator[JudgeSettings]:
    app = FastAPI()

    @app.get("/v1/models")
    def listed() -> dict[str, object]:
        return {"object": "list", "data": [{"id": name} for name in models]}

    async with serve(app) as url:
        yield JudgeSettings(llm_base_url=url)


async def _served(settings: JudgeSettings) -> list[str]:
    return [judge.model for judge in await served_judges(settings)]


def _configured(settings: JudgeSettings) -> list[str]:
    return [judge.model for judge in judges_of(settings)]


async def test_the_only_model_of_a_server_is_that_of_all_judges(settings: JudgeSettings) -> None:
    assert await _served(settings) == ["SmolLM2"] * 3


async def test_the_only_model_of_a_server_is_that_of_a_panel_file_too(
    settings: JudgeSettings, tmp_path: Path
) -> None:
    path = tmp_path / "panel.json"
    path.write_text(as_json(JUDGES))
    own = settings.model_copy(update={"panel_file": path})
    assert await _served(own) == ["SmolLM2"] * 3


async def test_of_several_models_the_configured_ones_stay(
    settings: JudgeSettings, models: list[str]
) -> None:
    models.append("gemma")
    assert await _served(settings) == _configured(settings)


async def test_the_configured_models_stay_without_a_server() -> None:
    settings = JudgeSettings(llm_base_url="http://127.0.0.1:1")
    assert await _served(settings) == _configured(settings)


async def test_workload_services_are_named_by_their_models(settings: JudgeSettings) -> None:
    direct = settings.model_copy(update={"llm_use_direct": True})
    assert await _served(direct) == _configured(direct)
