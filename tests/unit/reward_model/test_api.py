"""The REST routes over a training task on a file store."""

import io
import json
import zipfile
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from rlaif.reward_model.api.labels import build_router
from rlaif.reward_model.api.problems import store_problems
from rlaif.reward_model.api.versions import build_versions_router
from rlaif.reward_model.champions.registry import ChampionConflictError, ModelRegistry
from rlaif.reward_model.champions.reward_hacking_monitor import RewardHackingMonitor
from rlaif.reward_model.learning.fit.sides import held_out_episodes
from rlaif.reward_model.learning.settings import CONFIDENCE
from rlaif.reward_model.training_loop import TrainingLoop
from rlaif.service.problems import Problem
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore, StoreUnavailableError
from rlaif.testing.data.judging.scored_segments import play, write_scored
from rlaif.testing.servers.client import client_of

SEGMENTS = play(episodes=7, each=8, signal=True, distractors=2, wrong=0.0)


@pytest.fixture
def registry(file_store: ObjectStore) -> ModelRegistry:
    return ModelRegistry(file_store, now=lambda: datetime(2026, 1, 2, tzinfo=UTC))


@pytest.fixture
async def training(file_store: ObjectStore, registry: ModelRegistry, training_of) -> TrainingLoop:
    for segment in SEGMENTS[:40]:
        write_scored(file_store, segment)
    made = training_of(file_store, registry=registry)
    await made.step()
    return made


def client_over(training: TrainingLoop | None) -> httpx.AsyncClient:
    monitor = RewardHackingMonitor() if training else None
    return client_of(
        build_router(lambda: training),
        build_versions_router(lambda: training, lambda: monitor),
        prefix="/api/v1",
    )


@pytest.fixture
async def client(
    training: TrainingLoop, registry: ModelRegistry
) -> AsyncIterator[httpx.AsyncClient]:
    async with client_over(training) as made:
        yield made


async def everything(client: httpx.AsyncClient, path: str, limit: int) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    cursor: str | None = ""
    while cursor is not None:
        params = {"limit": limit} | ({"cursor": cursor} if cursor else {})
        page = (await client.get(path, params=params)).raise_for_status().json()
        assert len(page["items"]) <= limit
        items += page["items"]
        cursor = page["next_cursor"]
    return items


async def test_models_are_listed_newest_first_and_one_is_the_champion(client, training, file_store):
    for segment in SEGMENTS[40:]:
        write_scored(file_store, segment)
    await training.step()
    items = await everything(client, "/reward-models", 1)
    assert [item["version"] for item in items] == [2, 1]
    assert (await client.get("/reward-models/1")).json() == items[1]
    champion = (await client.get("/reward-models/champion")).json()
    assert (champion["version"], champion["activation"]) == (2, 2)
    back = (await client.post("/reward-models/1/activate")).json()
    assert (back["version"], back["activation"]) == (1, 3)
    assert (await client.get("/reward-models/champion")).json() == back
    assert (back["pinned"], back["pin_reason"]) == (True, "set by hand")
    compared = (await client.get("/reward-models/1/compare/2")).json()
    assert (compared["first"], compared["second"]) == (1, 2)
    assert compared["first_accuracy"]["pairs"] > 0


@pytest.mark.parametrize("broken", [1, 2, 3])
async def test_a_version_whose_record_is_junk_is_named_beside_those_that_are_listed(
    file_store, registry, training, training_of, broken
):
    for version in (2, 3):
        record = registry.manifest(1).model_copy(update={"version": version})
        key = keys.reward_model(version, "manifest.json")
        file_store.put(key, record.model_dump_json().encode())
    file_store.put(keys.reward_model(broken, "manifest.json"), b'{"schema_version": 0}')
    after_a_restart = training_of(file_store)
    async with client_over(after_a_restart) as client:
        whole = (await client.get("/reward-models")).raise_for_status().json()
        assert [item["version"] for item in whole["items"]] == [v for v in (3, 2, 1) if v != broken]
        (named,) = whole["unreadable"]
        assert named["version"] == broken
        assert f"epoch_{broken}/manifest.json" in named["reason"]
        assert len(await everything(client, "/reward-models", 1)) == 2


async def test_the_champion_is_pinned_and_unpinned(client, training):
    pinned = (await client.put("/reward-models/champion/pin", json={"reason": "release"})).json()
    assert (pinned["pinned"], pinned["pin_reason"], pinned["activation"]) == (True, "release", 1)
    free = (await client.delete("/reward-models/champion/pin")).json()
    assert (free["pinned"], free["pin_reason"]) == (False, None)
    first = training.status().last_attempt
    await training.step()
    assert training.status().last_attempt is not first, "unpinning asks for a training"


async def test_a_version_can_be_activated_without_pinning(client):
    back = (await client.post("/reward-models/1/activate", json={"pin": False})).json()
    assert not back["pinned"]


async def test_the_label_log_is_exported_line_by_line(client):
    answer = await client.get("/labels/export")
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert len(lines) == 40
    assert all(line["used"] and line["manifest_sha256"] for line in lines)


async def test_another_format_of_the_label_log_is_refused(client):
    assert (await client.get("/labels/export?format=jsonl")).status_code == 200
    assert (await client.get("/labels/export?format=parquet")).status_code == 422


@pytest.mark.filterwarnings("ignore")
async def test_preferences_and_labels_are_a_folder_that_hugging_face_reads(
    client, training, tmp_path, monkeypatch
):
    pytest.importorskip(
        "pyarrow", reason="pyarrow is not installed: make setup installs it into .venv"
    )
    answer = await client.get("/preferences/export")
    assert answer.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as folder:
        folder.extractall(tmp_path / "data")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip(
        "datasets", reason="datasets is not installed: .venv/bin/pip install datasets"
    )
    where = {"path": str(tmp_path / "data"), "cache_dir": str(tmp_path / "cache")}
    pairs = datasets.load_dataset(**where, name="preferences")
    found = [(row["a"], row["b"], row["target"]) for split in pairs.values() for row in split]
    assert sorted(found) == sorted((each.a, each.b, each.target) for each in training.pairs())
    assert set(pairs["test"]["side"]) == {"heldout"}
    labels = datasets.load_dataset(**where, name="labels", split="train")
    assert len(labels) == 40
    assert {"segment_id", "weighted", "why_not", "value_progress"} <= set(labels.column_names)


async def test_the_watchdog_reports_its_state(client):
    body = (await client.get("/watchdog")).json()
    assert body == {"iterations": 0, "window": 40, "alarms": 0, "alarm": None}


async def test_the_training_says_where_it_stands(client):
    body = (await client.get("/training")).json()
    assert (body["state"], body["labels"], body["episodes"]) == ("idle", 40, 5)
    assert body["waiting_for"] == ["0 new labels, needs 12"]
    assert {"what": "new labels", "found": 0, "least": 12} in body["needs"]
    assert body["pairs"]["found"] >= body["pairs"]["least"] == 20
    assert body["last_attempt"]["outcome"] == "published"
    assert body["last_attempt"]["metrics"]["heldout_accuracy"] > 0.6


async def test_the_gate_of_a_version_is_a_table_with_the_bounds_of_its_own_day(client, training):
    body = (await client.get("/reward-models/1/gate")).json()
    checks = {check["name"]: check for check in body["checks"]}
    assert body["settings_known"]
    assert body["confidence"] == CONFIDENCE
    assert checks["gain_over_ridge"]["bound"] == -1.0
    heldout = checks["heldout_accuracy"]
    assert heldout["low"] <= heldout["value"] <= heldout["high"]
    assert not [name for name, check in checks.items() if check["holds"] is False]


async def test_a_version_is_examined_on_the_labels_of_now(client, training):
    body = (await client.get("/reward-models/1/examination")).json()
    assert (body["version"], body["labels"], body["pay"]["segments"]) == (1, 40, 40)
    assert body["accuracy"]["pairs"] == sum(each["pairs"] for each in body["reliability"]) > 0
    assert body["pay"]["largest_rest"] < 1e-3
    assert sum(slot["mean"] for slot in body["pay"]["slots"]) == pytest.approx(
        body["pay"]["mean_pay"], abs=1e-3
    )


async def test_votes_of_people_change_an_examination(client, training, monkeypatch):
    before = (await client.get("/reward-models/1/examination")).json()["accuracy"]["value"]
    held_out = held_out_episodes(item.episode_id for item in training.labels)
    voted = {i.segment_id: i for i in training.labels if i.episode_id in held_out}

    def against_the_judges(item):
        leans = {n: 2.0 if i.weighted > item.weighted else -2.0 for n, i in voted.items()}
        return replace(item, voted={n: at for n, at in leans.items() if n != item.segment_id})

    labels = [against_the_judges(i) if i.segment_id in voted else i for i in training.labels]
    monkeypatch.setattr(training, "_known", replace(training._known, labels=labels))
    after = (await client.get("/reward-models/1/examination")).json()["accuracy"]["value"]
    assert after < 0.5 < before


async def test_a_training_can_be_asked_for(client, training):
    answer = await client.post("/reward-models")
    assert answer.status_code == 202
    await training.step()
    assert (await client.get("/training")).json()["last_attempt"]["outcome"] == "unchanged"


async def test_a_version_that_does_not_exist_is_a_problem(client):
    for method, path in (
        ("GET", "/reward-models/9"),
        ("GET", "/reward-models/9/gate"),
        ("GET", "/reward-models/9/examination"),
        ("POST", "/reward-models/9/activate"),
    ):
        answer = await client.request(method, path)
        assert answer.status_code == 404
        assert answer.headers["content-type"] == "application/problem+json"


async def test_a_broken_model_is_not_activated(client, registry, file_store):
    file_store.put(registry.manifest(1).model_key, b"broken")
    answer = await client.post("/reward-models/1/activate")
    assert (answer.status_code, answer.json()["type"]) == (409, "/problems/broken-model")


async def test_before_the_first_publication_there_is_no_champion(file_store, training_of):
    async with client_over(training_of(file_store)) as client:
        assert (await client.get("/reward-models/champion")).status_code == 404
        assert (await client.get("/reward-models")).json()["items"] == []


@pytest.mark.parametrize(
    "path",
    ["/labels/export", "/preferences/export", "/reward-models", "/training", "/watchdog"],
)
async def test_before_nats_and_s3_are_there_it_reports_it(path):
    async with client_over(None) as client:
        answer = await client.get(path)
    assert (answer.status_code, answer.json()["type"]) == (503, "/problems/not-ready")


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ChampionConflictError("another process was faster"), 409),
        (StoreUnavailableError("no answer"), 503),
    ],
)
def test_a_champion_that_another_changed_is_a_conflict_and_no_outage(error, status):
    with pytest.raises(Problem) as caught, store_problems():
        raise error
    assert caught.value.status == status
