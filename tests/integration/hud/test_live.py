import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.extensions.permessage_deflate import (
    ClientPerMessageDeflateFactory,
    PerMessageDeflate,
)
from websockets.frames import Frame, Opcode
from websockets.typing import Origin

from rlaif.bus.connection import Bus
from rlaif.contracts.telemetry.frames import FRAME_SUBJECT, ScreenFrame
from rlaif.contracts.telemetry.readings import TrainingProgress
from rlaif.hud.app import create_app
from rlaif.hud.settings import HudSettings
from rlaif.storage.ports import ObjectStore
from rlaif.testing.data.events import (
    reward_model_published,
    segment_captured,
    segment_exported,
    segment_scored,
)
from rlaif.testing.data.judging.scores import score_record
from rlaif.testing.servers.http_server import serve
from rlaif.testing.waiting import eventually

OpenPage = Callable[..., AbstractAsyncContextManager[Any]]
StartHud = Callable[..., AbstractAsyncContextManager[str]]


async def send_frame(bus: Bus, number: int, picture: bytes = b"picture") -> None:
    packed = ScreenFrame(number, int(time.time() * 1e6), number * 3, picture).pack()
    await bus.telemetry().send_bytes(f"{FRAME_SUBJECT}.env-0", packed)


@pytest.fixture
async def playing(bus: Bus) -> AsyncIterator[None]:
    """A trainer that sends 50 small frames per second."""

    async def play() -> None:
        number = 0
        while True:
            number += 1
            await send_frame(bus, number)
            await asyncio.sleep(0.02)

    task = asyncio.create_task(play())
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def progress(step: int) -> TrainingProgress:
    return TrainingProgress(
        at=datetime.now(UTC),
        run_id="run-1",
        status="training",
        iteration=1,
        env_steps=step,
        episodes=2,
    )


async def ready(url: str) -> None:
    async with httpx.AsyncClient(base_url=url) as client:

        async def is_ready() -> bool:
            return (await client.get("/readyz")).status_code == 200

        await eventually(is_ready, "the HUD is ready")


async def test_a_page_sees_snapshot_frames_readings_and_events(
    hud: str, bus: Bus, playing: None, open_page: OpenPage
) -> None:
    await ready(hud)
    async with open_page(hud) as page:
        await eventually(lambda: len(page.frames) >= 20, "more frames than are sent ahead")
        assert page.messages[0]["type"] == "snapshot"
        await bus.publisher("trainer").publish(segment_captured())
        await bus.telemetry().send(progress(4096))
        await eventually(lambda: "segment.captured" in page.event_kinds, "the event")
        await eventually(lambda: page.state["loop"]["captured"] == 1, "the count")
        await eventually(lambda: (page.state["run"] or {}).get("env_steps") == 4096, "the reading")
        await eventually(lambda: page.state["screen"] is not None, "the screen's facts")
        assert page.state["screen"]["env"] == "env-0"
    numbers = [frame.sequence for frame in page.frames]
    assert numbers == sorted(set(numbers))


async def test_a_restarted_hud_gets_its_state_back_from_the_streams(
    start_hud: StartHud, bus: Bus, open_page: OpenPage
) -> None:
    await bus.publisher("trainer").publish(segment_captured())
    await bus.publisher("exporter").publish(segment_exported())
    await bus.publisher("judge").publish(segment_scored())
    await bus.publisher("reward-model").publish(reward_model_published())
    epochs = set()
    for _ in range(2):
        async with start_hud() as url, open_page(url) as page:
            await eventually(partial(complete, page), "the whole loop")
            epochs.add(page.messages[0]["data"]["epoch"])
    assert len(epochs) == 2


def complete(page: Any) -> bool:
    loop = page.state.get("loop", {})
    counts = [loop.get(name) for name in ("captured", "exported", "scored")]
    models = page.state.get("reward_models", {"published": ()})
    return counts == [1, 1, 1] and [each["version"] for each in models["published"]] == [1]


@pytest.mark.parametrize(
    "path", ["/", "/static/js/router.js", "/static/css/parts.css", "/openapi.json"]
)
async def test_texts_travel_compressed(hud: str, path: str) -> None:
    async with httpx.AsyncClient(base_url=hud) as client:
        packed = await client.get(path, headers={"Accept-Encoding": "gzip"})
        plain = await client.get(path, headers={"Accept-Encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert "accept-encoding" in plain.headers["vary"].lower()
    assert packed.text == plain.text
    assert packed.num_bytes_downloaded < 0.6 * plain.num_bytes_downloaded


def problems(rows: dict[str, Any]) -> dict[str, str]:
    return {key: row["score_problem"] for key, row in rows.items() if row["score_problem"]}


async def test_a_score_object_is_read_from_the_store(
    hud: str, bus: Bus, file_store: ObjectStore, open_page: OpenPage
) -> None:
    record = score_record()
    data = record.model_dump_json().encode()
    event = segment_scored().model_copy(update={"score_sha256": sha256(data).hexdigest()})
    file_store.put_once(event.score_key, data)
    await bus.publisher("judge").publish(event)
    file_store.put_once(segment_scored("segment-3").score_key, b"of another digest")
    for other in (segment_scored("segment-2"), segment_scored("segment-3")):
        await bus.publisher("judge").publish(other)
    async with open_page(hud) as page:

        def rows() -> dict[str, Any]:
            return {row["segment_id"]: row for row in page.state.get("segments", [])}

        await eventually(lambda: rows().get("segment-1", {}).get("score") is not None, "the score")
        assert rows()["segment-1"]["score"]["criteria"]["progress"]["value"] == 1
        await eventually(lambda: len(problems(rows())) == 2, "the reasons")
        assert "digest" in problems(rows())["segment-3"]
        assert rows()["segment-2"]["score"] is None


def has_frames(page: Any, count: int) -> bool:
    return len(page.frames) >= count


async def test_a_page_that_never_reads_does_not_delay_another(
    hud: str, bus: Bus, open_page: OpenPage
) -> None:
    await ready(hud)
    big = b"x" * 150_000
    async with (
        open_page(hud, acknowledge=False, max_queue=1, close_timeout=0.1) as stuck,
        open_page(hud) as page,
    ):
        stuck.reader.cancel()
        await stuck.say(type="ack", seq=2**31)
        for number in range(1, 61):
            await send_frame(bus, number, big)
            await eventually(partial(has_frames, page, number), "the frame")


async def test_a_hidden_page_gets_no_frames_but_everything_else(
    hud: str, bus: Bus, playing: None, open_page: OpenPage
) -> None:
    await ready(hud)
    async with open_page(hud) as page:
        await page.say(type="rate", fps=0)
        await page.say(type="ping")
        await eventually(lambda: "pong" in page.types, "the answer")
        seen = len(page.frames)
        await bus.telemetry().send(progress(4096))
        await eventually(lambda: (page.state["run"] or {}).get("env_steps") == 4096, "the reading")
        assert len(page.frames) <= seen + 1


@pytest.mark.parametrize("origin", ["https://elsewhere.example", "http://[::1", "null"])
async def test_a_page_of_another_site_gets_the_reason_of_its_refusal(
    hud: str, origin: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    for _ in range(2):
        address = f"{hud.replace('http', 'ws')}/ws/v1"
        async with connect(address, proxy=None, origin=Origin(origin)) as socket:
            with pytest.raises(ConnectionClosed) as closed:
                await socket.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1008
        assert f'HUD_ALLOWED_ORIGINS=["{origin}"]' in closed.value.rcvd.reason
    assert caplog.text.count("HUD_ALLOWED_ORIGINS") == 1, "logged once, however often it tries"


async def test_a_page_at_a_name_that_was_pointed_here_is_refused(
    start_hud: StartHud, bus: Bus
) -> None:
    """DNS rebinding: for the browser, page and live connection are of one origin."""

    def as_a_browser(url: str) -> connect:
        port = urlsplit(url).port
        origin = Origin(f"http://evil.example:{port}")
        live = f"ws://evil.example:{port}/ws/v1"
        return connect(live, host="127.0.0.1", port=port, proxy=None, origin=origin)

    async with start_hud() as url:
        with pytest.raises(InvalidStatus) as refusal:
            async with as_a_browser(url):
                pass
        assert refusal.value.response.status_code == 421
    known = start_hud(allowed_origins=("https://evil.example",))
    async with known as url, as_a_browser(url) as socket:
        assert "snapshot" in str(await socket.recv())


async def test_the_huds_own_page_and_listed_sites_are_let_in(
    start_hud: StartHud, bus: Bus, open_page: OpenPage
) -> None:
    async with start_hud(allowed_origins=("https://hud.example.org",)) as url:
        for origin in (url, "https://hud.example.org", None):
            async with open_page(url, origin=origin) as page:
                await eventually(partial(bool, page.messages), "the snapshot")


async def test_one_page_too_many_gets_503(
    start_hud: StartHud, bus: Bus, open_page: OpenPage
) -> None:
    async with start_hud(max_clients=1) as url:
        async with open_page(url) as page:
            await eventually(lambda: page.messages, "the first page is in")
            with pytest.raises(InvalidStatus) as refusal:
                async with open_page(url):
                    pass
            assert refusal.value.response.status_code == 503

        async def there_is_place() -> bool:
            try:
                async with open_page(url):
                    return True
            except InvalidStatus:
                return False

        await eventually(there_is_place, "the place is free again")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("nonsense", 1008),
        ('{"type":"drop"}', 1008),
        ('{"type":"ack"}', 1008),
        ('{"type":"rate"}', 1008),
        ("x" * 5000, 1009),
    ],
)
async def test_an_invalid_message_closes_the_socket(
    hud: str, open_page: OpenPage, text: str, code: int
) -> None:
    async with open_page(hud) as page:
        await page.connection.send(text)
        with pytest.raises(ConnectionClosed) as closed:
            await page.reader
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == code


async def test_a_hud_without_bus_is_up_and_says_why(file_store: ObjectStore) -> None:
    app = create_app(HudSettings(nats_url="nats://127.0.0.1:1"), store=file_store)
    async with serve(app) as url, httpx.AsyncClient(base_url=url) as client:

        async def says_why() -> bool:
            body = (await client.get("/readyz")).json()
            return "no NATS at 127.0.0.1:1" in (body["checks"]["bus"]["detail"] or "")

        await eventually(says_why, "the reason")
        assert (await client.get("/livez")).status_code == 200
        assert (await client.get("/")).status_code == 200
        assert (await client.get("/api/v1/state")).json()["loop"]["captured"] is None


async def test_texts_are_compressed_on_the_wire_and_frames_are_not(
    hud: str, bus: Bus, open_page: OpenPage
) -> None:
    await ready(hud)
    wire: list[Frame] = []

    class Recorded(ClientPerMessageDeflateFactory):
        def process_response_params(self, *given: Any) -> PerMessageDeflate:
            deflate = super().process_response_params(*given)
            decode = deflate.decode

            def recorded(frame: Frame, **limits: Any) -> Frame:
                wire.append(frame)
                return decode(frame, **limits)

            deflate.decode = recorded  # type: ignore[method-assign]
            return deflate

    async with open_page(hud, compression=None, extensions=[Recorded()]) as page:
        await eventually(lambda: bool(page.messages), "the snapshot")
        await send_frame(bus, 1, b"picture" * 100)
        await eventually(lambda: bool(page.frames), "the frame")
    assert page.frames[0].picture == b"picture" * 100
    compressed = {frame.opcode: frame.rsv1 for frame in wire if len(frame.data) > 256}
    assert compressed == {Opcode.TEXT: True, Opcode.BINARY: False}
