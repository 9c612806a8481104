import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from rlaif.judge.parts import judges_of
from rlaif.judge.rubric.judges import JUDGES, as_json
from rlaif.judge.served_models import ServedModels, served_judges
from rlaif.judge.settings import JudgeSettings
from rlaif.service.background import BackgroundTasks
from rlaif.testing.servers.http_server import serve
from rlaif.testing.waiting import eventually


@pytest.fixture
def models() -> list[str]:
    """The models of the server, which a test may change."""
    return ["SmolLM2"]


def _server(models: list[str]) -> FastAPI:
    app = FastAPI()

    @app.get("/v1/models")
    def listed() -> dict[str, object]:
        return {"object": "list", "data": [{"id": name} for name in models]}

    return app


@pytest.fixture
async def settings(models: list[str]) -> AsyncIterator[JudgeSettings]:
    async with serve(_server(models)) as url:
        yield JudgeSettings(llm_base_url=url)


async def _served(settings: JudgeSettings) -> list[str]:
    judges, _ = await served_judges(settings)
    return [judge.model for judge in judges]


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


async def test_a_judge_whose_servers_are_away_scores_nothing_until_it_knows_their_models(
    settings: JudgeSettings, models: list[str]
) -> None:
    judges, away = await served_judges(JudgeSettings(llm_base_url="http://127.0.0.1:1"))
    assert away
    restarts: list[bool] = []
    watch = ServedModels(
        settings, judges, away=away, answers=lambda: False, restart=lambda: restarts.append(True)
    )
    async with BackgroundTasks({"models": watch.run}).running():
        await eventually(lambda: bool(restarts), "the judge restarts with the server's model")
    assert watch.away
    models.append("gemma")
    async with BackgroundTasks({"models": watch.run}).running():
        await eventually(lambda: not watch.away, "the configured models are called")
    assert restarts == [True]


async def test_a_server_that_lists_no_models_counts_once_it_answers(unused_tcp_port: int) -> None:
    absent = JudgeSettings(llm_base_url=f"http://127.0.0.1:{unused_tcp_port}")
    judges, _ = await served_judges(absent)
    watch = ServedModels(
        absent, judges, away=True, answers=lambda: True, restart=lambda: pytest.fail("restarts")
    )
    async with BackgroundTasks({"models": watch.run}).running():
        await eventually(lambda: not watch.away, "its answers count")


async def test_the_process_restarts_with_the_model_of_a_server_that_comes_later(
    models: list[str], unused_tcp_port_factory: Callable[[], int], tmp_path: Path
) -> None:
    port, llm_port = unused_tcp_port_factory(), unused_tcp_port_factory()
    variables = {
        "JUDGE_PORT": str(port),
        "LLM_BASE_URL": f"http://127.0.0.1:{llm_port}",
        "NATS_URL": "nats://127.0.0.1:1",
        "EPISODES_STORE": str(tmp_path),
        "MODELS_STORE": str(tmp_path),
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "rlaif.judge", env=os.environ | variables
    )
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}/api/v1") as client:

            async def known(name: str) -> bool:
                with contextlib.suppress(httpx.TransportError):
                    found = (await client.get("/judges")).json()["judges"]
                    return [judge["model"] for judge in found] == [name] * 3
                return False

            await eventually(lambda: _is_up(client), "the judge answers without its server")
            async with serve(_server(models), port=llm_port):
                await eventually(lambda: known("SmolLM2"), "it has the server's model")
        process.terminate()
        assert await process.wait() == 0, "it is the same process"
    finally:
        if process.returncode is None:
            process.kill()


async def _is_up(client: httpx.AsyncClient) -> bool:
    with contextlib.suppress(httpx.TransportError):
        return (await client.get("/judges")).status_code == 200
    return False


async def test_workload_services_are_named_by_their_models(settings: JudgeSettings) -> None:
    direct = settings.model_copy(update={"llm_use_direct": True})
    assert await _served(direct) == _configured(direct)
