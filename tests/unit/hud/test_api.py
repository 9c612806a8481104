from collections.abc import AsyncIterator
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import httpx
import pytest

from rlaif.contracts.catalog import envelop
from rlaif.contracts.game.segments import StoredFile
from rlaif.contracts.telemetry.frames import ScreenFrame
from rlaif.hud.read_model.projections import HudState
from rlaif.hud.routes.segments import segments_router
from rlaif.hud.routes.state import api_router
from rlaif.storage import keys
from rlaif.storage.file import FileStore
from rlaif.storage.ports import ObjectInfo, ObjectStore, StoreUnavailableError
from rlaif.testing.data.events import NOON, segment_scored
from rlaif.testing.data.judging.scores import score_record
from rlaif.testing.data.judging.segments import segment_manifest
from rlaif.testing.servers.client import client_of

PNG = b"\x89PNG picture"
PICTURE = b"RIFF picture"
ONE = "/api/v1/segments/episode-1/segment-1"


class AbsentStore(FileStore):
    def get(self, key: str, max_bytes: int | None = None) -> bytes:
        raise StoreUnavailableError("connection refused")

    def head(self, key: str) -> ObjectInfo | None:
        raise StoreUnavailableError("connection refused")


@pytest.fixture
async def client(state: HudState, file_store: FileStore) -> AsyncIterator[httpx.AsyncClient]:
    async with hud_of(state, file_store) as made:
        yield made


def hud_of(state: HudState, store: ObjectStore) -> httpx.AsyncClient:
    return client_of(api_router(state, lambda: NOON), segments_router(state, store))


def show_frame(state: HudState) -> None:
    state.apply_frame("env-0", ScreenFrame(1, 1_000_000, 7, PICTURE), NOON)


def add_scored(state: HudState, *segment_ids: str) -> None:
    for seconds, segment_id in enumerate(segment_ids):
        data = segment_scored(segment_id)
        state.apply_event(envelop(data, source="t", time=NOON + timedelta(seconds=seconds)))


def stored(key: str, data: bytes = b"x") -> StoredFile:
    return StoredFile(key=key, sha256=sha256(data).hexdigest(), size_bytes=len(data))


def put_segment(store: ObjectStore) -> None:
    picture = keys.segment("episode-1", "segment-1", "frames/000012.png")
    manifest = segment_manifest(
        "episode-1", "segment-1", stored("o"), steps=75,
        pictures=(stored(picture, PNG),), picture_steps=(12,),
    )  # fmt: skip
    store.put_once(picture, PNG)
    store.put_once(keys.manifest("episode-1", "segment-1"), manifest.model_dump_json().encode())


def put_score(store: ObjectStore, judge_config: str) -> None:
    record = score_record(judge_config=judge_config, weighted=None, created_at=NOON)
    store.put_once(keys.score(judge_config, "segment-1"), record.model_dump_json().encode())


async def test_the_state_of_a_fresh_hud_is_full_of_nulls(client: httpx.AsyncClient) -> None:
    answer = await client.get("/api/v1/state")
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    body = answer.json()
    assert body["run"] is None
    assert body["loop"]["captured"] is None
    assert body["taken_at"] == "2026-11-20T12:00:00Z"


async def test_the_issues_alone_are_those_of_the_state(
    client: httpx.AsyncClient, state: HudState
) -> None:
    state.health.checked({"bus": "down", "store": None}, 0, NOON - timedelta(minutes=1))
    state.refresh(NOON - timedelta(minutes=1))
    found = (await client.get("/api/v1/issues")).json()["issues"]
    assert [each["key"] for each in found] == ["hud: bus"]
    assert found == (await client.get("/api/v1/state")).json()["issues"]


async def test_there_is_no_screen_before_the_first_frame(client: httpx.AsyncClient) -> None:
    answer = await client.get("/api/v1/screen")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["type"] == "/problems/no-screen-yet"


async def test_the_screen_is_the_newest_frame_with_an_etag(
    client: httpx.AsyncClient, state: HudState
) -> None:
    show_frame(state)
    first = await client.get("/api/v1/screen")
    assert (first.content, first.headers["content-type"]) == (PICTURE, "image/webp")
    again = await client.get("/api/v1/screen", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    show_frame(state)
    third = await client.get("/api/v1/screen", headers={"If-None-Match": first.headers["etag"]})
    assert third.status_code == 200


async def test_a_segment_comes_with_manifest_score_and_picture_links(
    client: httpx.AsyncClient, state: HudState, file_store: FileStore
) -> None:
    put_segment(file_store)
    put_score(file_store, "config-1")
    add_scored(state, "segment-1")
    body = (await client.get(ONE)).json()
    assert body["manifest"]["frames"] == 300
    assert body["score"]["criteria"]["progress"]["value"] == 1
    assert body["pictures"] == [{"step": 12, "url": f"{ONE}/frames/000012.png"}]
    picture = await client.get(body["pictures"][0]["url"])
    assert (picture.content, picture.headers["content-type"]) == (PNG, "image/png")
    assert "immutable" in picture.headers["cache-control"]


async def test_a_score_that_is_gone_is_said_to_be(
    client: httpx.AsyncClient, state: HudState, file_store: FileStore
) -> None:
    put_segment(file_store)
    add_scored(state, "segment-1")
    assert "does not exist" in (await client.get(ONE)).json()["score_problem"]


@pytest.mark.parametrize(
    ("path", "status", "type"),
    [
        (ONE, 404, "segment-not-found"),
        (f"{ONE}/frames/000012.png", 404, "picture-not-found"),
        (f"{ONE}/frames/states.jsonl", 422, "invalid-request"),
        (f"{ONE}/frames/..%2Fmanifest.png", 404, "not-found"),
        ("/api/v1/segments/Episode/segment-1", 422, "invalid-request"),
        ("/api/v1/segments/%2e%2e/segment-1", 422, "invalid-request"),
        ("/api/v1/segments?limit=501", 422, "invalid-request"),
        ("/api/v1/segments?cursor=%25", 400, "invalid-cursor"),
    ],
)
async def test_a_wrong_request_is_a_problem(
    client: httpx.AsyncClient, path: str, status: int, type: str
) -> None:
    answer = await client.get(path)
    assert (answer.status_code, answer.json()["type"]) == (status, f"/problems/{type}")


async def test_a_manifest_that_is_none_is_a_bad_gateway(
    client: httpx.AsyncClient, file_store: FileStore
) -> None:
    file_store.put_once(keys.manifest("episode-1", "segment-1"), b"{}")
    answer = await client.get(ONE)
    assert (answer.status_code, answer.json()["type"]) == (502, "/problems/unreadable-object")


async def test_a_store_that_is_away_is_a_503(state: HudState, file_store: FileStore) -> None:
    root = file_store.url.removeprefix("file://")
    async with hud_of(state, AbsentStore(Path(root))) as client:
        answer = await client.get(ONE)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert "connection refused" in answer.json()["detail"]
