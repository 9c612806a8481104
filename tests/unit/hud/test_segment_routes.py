"""REST of segments: list, page, film, steps, video."""

from collections.abc import AsyncIterator
from datetime import timedelta
from hashlib import sha256

import httpx
import pytest

from rlaif.contracts.catalog import envelop
from rlaif.contracts.game.captures import (
    Capture,
    EmulatorIdentity,
    GameIdentity,
    SegmentPay,
)
from rlaif.contracts.game.films import Patch, pack_film, unpack_film
from rlaif.contracts.game.segments import StateRecord, StoredFile
from rlaif.hud.read_model.projections import HudState
from rlaif.hud.routes.segments import segments_router
from rlaif.storage import keys
from rlaif.storage.file import FileStore
from rlaif.testing.data.events import NOON, segment_captured, segment_scored
from rlaif.testing.data.judging.scores import score_record
from rlaif.testing.data.judging.segments import segment_manifest
from rlaif.testing.servers.client import client_of

ALL = "/api/v1/segments"
ONE = f"{ALL}/episode-1/segment-1"
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\xa0\0\0\0\x90 the rest"


@pytest.fixture
async def client(state: HudState, file_store: FileStore) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(segments_router(state, file_store)) as made:
        yield made


class Stored:
    """Puts a segment into the store as trainer and exporter do."""

    def __init__(self, store: FileStore) -> None:
        self.store = store

    def file(self, key: str, data: bytes) -> StoredFile:
        self.store.put(key, data)
        return StoredFile(key=key, sha256=sha256(data).hexdigest(), size_bytes=len(data))

    def segment(self, *, film: bytes | None = None, pay: SegmentPay | None = None) -> None:
        capture = Capture(
            segment_id="segment-1",
            episode_id="episode-1",
            run_id="run-1",
            env_id="run-1-0-1-0",
            game=GameIdentity(title="SEEDLING", rom_sha256="0" * 64),
            emulator=EmulatorIdentity(version="1", sound_emulated=False),
            frame_skip=4,
            keyframe_sha256="0" * 64,
            actions="07",
            start_step=0,
            start_ram_sha256="0" * 64,
            end_ram_sha256="0" * 64,
            env_step=4096,
            selected_by="milestone",
            rooms=((0, 119),),
            milestones=("sword",),
            pay=pay,
        )
        stored = self.file("captures/c", capture.model_dump_json().encode())
        room = {"room": {"group": 0, "room": 119, "name": "Seedling"}, "player": {"x": 1, "y": 2}}
        lines = [
            StateRecord(step=n, frame=4 * n + 4, action="UP", state=room).model_dump_json()
            for n in range(2)
        ]
        manifest = segment_manifest(
            "episode-1",
            "segment-1",
            self.file("o", b"o"),
            steps=2,
            capture_key=stored.key,
            capture_sha256=stored.sha256,
            states=self.file("s", "\n".join(lines).encode()),
            pictures=(self.file("frames/000000.png", PNG),),
            picture_steps=(0,),
            film=self.file("film", film) if film else None,
        )
        self.file(keys.manifest("episode-1", "segment-1"), manifest.model_dump_json().encode())


@pytest.fixture
def put(file_store: FileStore) -> Stored:
    return Stored(file_store)


def captured_and_scored(state: HudState, number: int, **known: object) -> None:
    name = f"segment-{number}"
    at = NOON + timedelta(seconds=number)
    score = known.pop("weighted", 0.5)
    agreement = known.pop("agreement", 1.0)
    captured = segment_captured(name).model_copy(update=known)
    scored = segment_scored(name).model_copy(update={"weighted": score, "agreement": agreement})
    state.apply_event(envelop(captured, source="t", time=at))
    state.apply_event(envelop(scored, source="t", time=at))


async def test_the_list_is_filtered_ordered_and_paged(
    client: httpx.AsyncClient, state: HudState
) -> None:
    for number in range(6):
        captured_and_scored(
            state, number, weighted=number / 10, agreement=1.0 - number / 10,
            selected_by="uniform" if number % 2 else "milestone", rooms=((0, number),),
        )  # fmt: skip

    async def found(**query: object) -> list[str]:
        names, cursor = [], None
        while True:
            asked = {**query, "limit": 2} | ({"cursor": cursor} if cursor else {})
            body = (await client.get(ALL, params=asked)).json()  # type: ignore[arg-type]  # plain values
            names += [row["segment_id"].removeprefix("segment-") for row in body["items"]]
            cursor = body["next_cursor"]
            if cursor is None:
                return names

    assert await found() == ["5", "4", "3", "2", "1", "0"]
    assert await found(selected_by="uniform") == ["5", "3", "1"]
    assert await found(min_score=0.2, max_score=0.3) == ["3", "2"]
    assert await found(order="disagreement", max_agreement=0.8) == ["5", "4", "3", "2"]
    assert await found(room="0-4") == ["4"]
    facets = (await client.get(f"{ALL}/facets")).json()
    assert facets["selected_by"] == [
        {"value": "milestone", "segments": 3}, {"value": "uniform", "segments": 3},
    ]  # fmt: skip


async def test_rooms_have_the_reported_names(state: HudState, file_store: FileStore) -> None:
    names = {(0, 119): "Seedling"}
    captured_and_scored(state, 1, rooms=((0, 119), (0, 7)))
    captured_and_scored(state, 2, rooms=None)
    router = segments_router(state, file_store, room_name=lambda *room: names.get(room))
    async with client_of(router) as client:
        rows = (await client.get(ALL)).json()["items"]
    assert [row["room_names"] for row in rows] == [None, ["Seedling", None]]


async def test_the_farthest_gap_of_judges_and_model_comes_first(
    client: httpx.AsyncClient, state: HudState, put: Stored
) -> None:
    for number in range(9):
        rise = 9.0 if number == 0 else number / 10
        captured_and_scored(
            state, number, weighted=number / 10, reward_model_version=2, model_rise=rise
        )
    body = (await client.get(ALL, params={"order": "model_gap", "limit": 1})).json()
    [row] = body["items"]
    assert (row["segment_id"], row["model_gap"], row["model_gap_of"]) == ("segment-0", 1.0, 9)
    captured_and_scored(state, 9, weighted=0.0, reward_model_version=3, model_rise=0.0)
    put.segment()
    of_page = (await client.get(ONE)).json()["segment"]
    assert of_page["model_gap"] == pytest.approx(0 - 1 / 8), "least by rise, second by score"
    assert of_page["model_gap_of"] == 9


async def test_a_film_is_handed_out_as_it_is_and_kept_for_ever(
    client: httpx.AsyncClient, put: Stored
) -> None:
    film = pack_film("segment-1", [Patch(0, 4, 0, 0, 2, 2, b"webp")])
    put.segment(film=film)
    answer = await client.get(f"{ONE}/pack")
    assert answer.content == film
    assert "immutable" in answer.headers["cache-control"]
    again = await client.get(f"{ONE}/pack", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


async def test_an_older_export_has_a_film_of_the_pictures_that_there_are(
    client: httpx.AsyncClient, put: Stored
) -> None:
    put.segment()
    index, [picture] = unpack_film((await client.get(f"{ONE}/pack")).content)
    assert (index.type, index.width, index.height, picture) == ("image/png", 160, 144, PNG)
    body = (await client.get(ONE)).json()
    assert (body["pictures_are"], body["video_url"]) == ("some steps", None)
    assert (await client.get(f"{ONE}/video.webp")).status_code == 404


async def test_another_object_in_the_films_place_is_not_handed_out(
    client: httpx.AsyncClient, put: Stored, file_store: FileStore
) -> None:
    put.segment(film=pack_film("segment-1", [Patch(0, 4, 0, 0, 2, 2, b"webp")]))
    file_store.put("film", b"other")
    answer = await client.get(f"{ONE}/pack")
    assert (answer.status_code, answer.json()["type"]) == (502, "/problems/unreadable-object")


async def test_the_page_says_what_the_trainer_noted_and_what_each_part_of_the_score_is(
    client: httpx.AsyncClient, state: HudState, put: Stored, file_store: FileStore
) -> None:
    pay = SegmentPay(game=((1, 0.5),), parts={"room": ((1, 0.5),)})
    put.segment(pay=pay)
    record = score_record(judge_config="config-1")
    file_store.put(keys.score("config-1", "segment-1"), record.model_dump_json().encode())
    captured_and_scored(state, 1)
    body = (await client.get(ONE)).json()
    assert body["capture"]["rooms"] == [{"group": 0, "room": 119, "name": "Seedling"}]
    assert body["rubric"][0]["criterion"] == "progress"
    steps = (await client.get(f"{ONE}/steps")).json()["steps"]
    assert [(each["game"], each["model"]) for each in steps] == [(0.0, None), (0.5, None)]


async def test_a_score_that_was_made_again_takes_the_place_of_the_provisional_one(
    client: httpx.AsyncClient, put: Stored, file_store: FileStore
) -> None:
    put.segment()
    for key, weighted in (
        (keys.score("config-1", "segment-1"), 0.25),
        (keys.rejudged("config-1", "segment-1"), 0.75),
    ):
        file_store.put(key, score_record(weighted=weighted).model_dump_json().encode())
    body = (await client.get(ONE, params={"judge_config": "config-1"})).json()
    assert body["weighted"] == 0.75


async def test_a_capture_that_is_gone_is_said_and_takes_nothing_else_along(
    client: httpx.AsyncClient, put: Stored, file_store: FileStore
) -> None:
    put.segment()
    file_store.delete_many(["captures/c"])
    body = (await client.get(ONE)).json()
    assert body["capture"] is None
    assert "captures/c" in body["capture_problem"]
    steps = (await client.get(f"{ONE}/steps")).json()
    assert "captures/c" in steps["pay_problem"]
    assert len(steps["steps"]) == 2
