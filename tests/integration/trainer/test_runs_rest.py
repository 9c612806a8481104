"""Runs over REST: started with settings of their own, watched, stopped, listed."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from rlaif.bus.connection import Bus
from rlaif.hud.app import create_app as create_hud
from rlaif.hud.settings import HudSettings
from rlaif.testing.data.events import run_started
from rlaif.testing.servers.http_server import serve
from rlaif.testing.waiting import eventually
from rlaif.trainer.run_folder.record import RunRecord, begin_attempt
from rlaif.trainer.service.app import create_app
from rlaif.trainer.settings import TrainerSettings

SMALL = {
    "actions": "seed",
    "EPOCH_STEPS": 128,
    "BATCH_SIZE": 128,
    "minibatch_size": 64,
    "TRAINER_PPO_EPOCHS": 1,
}


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """Of a trainer that starts nothing by itself; NATS is away, stores are files."""
    settings = TrainerSettings.model_validate(
        {
            "data_dir": tmp_path / "data",
            "actions": "seed",
            "autostart": False,
            "ray_workers": 0,
            "nats_url": "nats://127.0.0.1:9",
            "episodes_store": f"file://{tmp_path}/episodes",
            "models_store": f"file://{tmp_path}/models",
        }
    )
    app = create_app(settings)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8081", timeout=600
        ) as client,
    ):
        yield client


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({"settings": {"EPOCH_STEP": 5}}, "unknown setting EPOCH_STEP"),
        ({"settings": {"BATCH_SIZE": 64}}, "is larger than BATCH_SIZE 64"),
        ({"settings": {"ROM_PATH": "/none.gbc"}}, "no ROM at /none.gbc"),
        ({"mode": "evaluation", "checkpoint": "r-none"}, "no checkpoint 'r-none'"),
    ],
)
async def test_wrong_settings_start_nothing(client: httpx.AsyncClient, body, detail):
    answer = await client.post("/api/v1/runs", json=body)
    assert answer.status_code == 422
    assert answer.json()["type"] == "/problems/wrong-settings"
    assert detail in answer.json()["detail"]
    assert (await client.get("/api/v1/runs")).json()["items"] == []


async def test_an_unknown_run_is_not_resumed(client: httpx.AsyncClient):
    answer = await client.post("/api/v1/runs", json={"run_id": "r-none"})
    assert (answer.status_code, answer.json()["type"]) == (404, "/problems/run-not-found")
    assert (await client.post("/api/v1/runs/current/stop")).status_code == 404
    assert (await client.post("/api/v1/runs", json={"modus": "epoch"})).status_code == 422


async def finished(client: httpx.AsyncClient, run_id: str) -> Any:
    """The run, once it is finished."""
    run: dict[str, Any] = {}

    async def is_finished() -> bool:
        run.update((await client.get(f"/api/v1/runs/{run_id}")).json())
        return run["status"] == "finished"

    await eventually(is_finished, "its end", seconds=400)
    return run


@pytest.mark.timeout(900)
async def test_a_run_is_started_runs_to_its_end_and_is_evaluated(
    client: httpx.AsyncClient, tmp_path: Path
):
    body = {"mode": "epoch", "settings": SMALL}
    run_id = (await client.post("/api/v1/runs", json=body)).json()["run_id"]
    again = await client.post("/api/v1/runs", json=body)
    assert (again.status_code, again.json()["type"]) == (409, "/problems/run-in-progress")
    assert (await client.get(f"/api/v1/runs/{run_id}")).json()["status"] == "starting"
    last = await finished(client, run_id)
    assert (last["finished"], last["env_steps"], last["mode"]) == ("epoch", 128, "epoch")
    assert last["overrides"]["epoch_steps"] == 128

    (checkpoint,) = (await client.get("/api/v1/checkpoints")).json()["items"]
    assert (checkpoint["run_id"], checkpoint["env_steps"]) == (run_id, 128)
    body = {
        "mode": "evaluation",
        "checkpoint": run_id,
        "settings": {"eval_episodes": 2},
    }
    own = (await client.post("/api/v1/runs", json=body)).json()["run_id"]
    await finished(client, own)
    (evaluation,) = (await client.get("/api/v1/evaluations")).json()["items"]
    assert (evaluation["run_id"], evaluation["checkpoint"]) == (run_id, checkpoint["id"])
    assert len(evaluation["episodes"]) == 2
    assert all(0 < each["steps"] <= 3_000 for each in evaluation["episodes"])
    runs = (await client.get("/api/v1/runs")).json()["items"]
    assert [run["run_id"] for run in runs] == [run_id, own]
    # As if the run of the service had been resumed.
    newer = datetime.now(UTC) + timedelta(hours=1)
    begin_attempt(tmp_path / "data", "r-newer", TrainerSettings(), newer)
    assert (await client.get("/api/v1/runs/current")).json()["run_id"] == own


async def test_a_run_has_a_name_a_note_and_tags_over_all_its_attempts(
    client: httpx.AsyncClient, tmp_path: Path
):
    settings = TrainerSettings.model_validate({"seed": 11})
    begin_attempt(tmp_path / "data", "r-1", settings, datetime.now(UTC))
    words = {"name": "half rate", "note": "A control.", "tags": ["ablation", "lr:1.5e-4"]}
    answer = await client.put("/api/v1/runs/r-1/description", json=words)
    assert answer.status_code == 200
    begin_attempt(tmp_path / "data", "r-1", settings, datetime.now(UTC))
    (run,) = (await client.get("/api/v1/runs")).json()["items"]
    assert {name: run[name] for name in words} == words
    assert (run["attempts"], run["provenance"]["seed"]) == (1, 11)
    assert run["provenance"]["command"] == "TRAINER_SEED=11 rlaif train"
    for path, body, status in (
        ("r-2", words, 404),
        ("r-1", {"tags": ["two words"]}, 422),
        ("r-1", {"name": "x" * 81}, 422),
    ):
        answer = await client.put(f"/api/v1/runs/{path}/description", json=body)
        assert answer.status_code == status


async def test_the_hud_passes_name_note_and_tags_on_to_the_trainer_of_the_run(
    tmp_path: Path, bus: Bus, nats_url: str
):
    shared = {"nats_url": nats_url, "episodes_store": f"file://{tmp_path}/episodes"}
    own = {"data_dir": tmp_path / "data", "autostart": False, "ray_workers": 0}
    stores = {"models_store": f"file://{tmp_path}/models"}
    settings = TrainerSettings.model_validate({**shared, **stores, **own})
    path = begin_attempt(tmp_path / "data", "r-1", settings, datetime.now(UTC))
    for run_id in ("r-1", "of-another-machine"):
        await bus.publisher("trainer").publish(run_started(run_id=run_id))
    trainer = create_app(settings)
    words = {"name": "half rate", "note": "Two\nlines.", "tags": ["lr:1.5e-4"]}
    async with (
        serve(create_hud(HudSettings.model_validate(shared))) as url,
        httpx.AsyncClient(base_url=f"{url}/api/v1/runs", timeout=60) as hud,
        trainer.router.lifespan_context(trainer),
    ):

        async def answer(run_id: str) -> int:
            return (await hud.put(f"/{run_id}/description", json=words)).status_code

        async def is_saved() -> bool:
            return await answer("r-1") == 200

        await eventually(is_saved, "both are connected")
        run = (await hud.get("/r-1")).json()
        assert {name: run[name] for name in words} == words
        assert await answer("of-another-machine") == 504
        assert await answer("r-9") == 404
    assert RunRecord.read(path).note == words["note"]
