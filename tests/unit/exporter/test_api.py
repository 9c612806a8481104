from typing import Any

import httpx
import pytest

from rlaif.exporter.api import build_router, manifests
from rlaif.exporter.settings import ExporterSettings
from rlaif.service.app import build_app
from rlaif.service.health import Readiness
from rlaif.service.metrics import ServiceMetrics
from rlaif.storage import keys


@pytest.fixture
def client_for():
    """A client of the routes over a store, or over none."""

    def make(store):
        app = build_app(
            name="exporter",
            title="Exporter",
            settings=ExporterSettings(),
            lifespan=None,
            routers=[build_router(lambda: store)],
            readiness=Readiness(),
            metrics=ServiceMetrics("exporter"),
        )
        return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://exporter")

    return make


@pytest.fixture
async def exported(handle, stored):
    """Segment 0 is exported, segment 1 is not; gives both events."""
    first, second = stored(0), stored(1)
    await handle(first)
    return first, second


async def test_segments_are_listed_without_their_pictures(client_for, file_store, exported, handle):
    file_store.put("scores/config/x.json", b"{}")
    file_store.put("zz-not-a-segment/note.txt", b"")
    await handle(exported[1])
    async with client_for(file_store) as client:
        first = (await client.get("/api/v1/segments?limit=1")).json()
        rest = (await client.get(f"/api/v1/segments?cursor={first['next_cursor']}")).json()
        none = (await client.get("/api/v1/segments?episode_id=ep-2")).json()
    found = first["items"] + rest["items"]
    assert [s["segment_id"] for s in found] == [event.segment_id for event in exported]
    assert "pictures" not in found[0]
    assert none == {"items": [], "damaged": 0, "next_cursor": None}


async def test_a_page_of_segments_does_not_walk_through_all_captures(file_store, exported):
    for number in range(40):
        file_store.put(f"captures/ep-9/seg-{number:03d}.capture", b"")
    seen = []

    class Counting:
        def list(self, prefix="", *, after=""):
            for info in file_store.list(prefix, after=after):
                seen.append(info.key)
                yield info

    counting: Any = Counting()
    found = [info.key for info in manifests(counting, "", "")]
    assert found == [keys.manifest("ep-1", exported[0].segment_id)]
    assert len([key for key in seen if key.startswith("captures/")]) == 1


async def test_a_segment_is_its_manifest(client_for, file_store, exported):
    async with client_for(file_store) as client:
        found = await client.get(f"/api/v1/segments/ep-1/{exported[0].segment_id}")
        missing = await client.get(f"/api/v1/segments/ep-1/{exported[1].segment_id}")
    assert found.json()["decision_steps"] == 20
    assert missing.status_code == 404
    assert missing.json()["type"] == "/problems/segment-not-found"


async def test_a_damaged_manifest_is_left_out_of_the_list_and_counted(
    client_for, file_store, exported
):
    for junk in (b"{", b"[" * 100_000, b"\xff", b"{}"):
        file_store.put(keys.manifest("ep-0", "seg-junk"), junk)
        async with client_for(file_store) as client:
            answer = await client.get("/api/v1/segments")
        assert answer.status_code == 200
        page = answer.json()
        assert [each["segment_id"] for each in page["items"]] == [exported[0].segment_id]
        assert page["damaged"] == 1


@pytest.mark.parametrize("id", ["..", "A", "%2e%2e", "a%2Fb"])
async def test_ids_that_could_leave_the_folder_are_refused(client_for, file_store, id):
    async with client_for(file_store) as client:
        answer = await client.get(f"/api/v1/segments/{id}/seg")
    assert answer.status_code in (404, 422)


async def test_without_a_store_there_is_a_problem_that_reports_it(client_for):
    async with client_for(None) as client:
        for path in ("segments", "segments/ep-1/seg-1"):
            answer = await client.get(f"/api/v1/{path}")
            assert (answer.status_code, answer.json()["type"]) == (
                503,
                "/problems/store-unavailable",
            )
