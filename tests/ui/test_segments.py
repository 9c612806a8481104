"""The list of segments and the page of one, in a real browser; the segments were really played."""

import asyncio
import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from rlaif.bus.connection import Bus
from rlaif.contracts.events import SegmentCaptured, SegmentExported, SegmentScored
from rlaif.contracts.game.captures import Capture
from rlaif.contracts.judging.scores import RUBRIC_WEIGHTS, CriterionScore, ScoreRecord, rubric_mean
from rlaif.exporter.committing import commit, exported_event
from rlaif.exporter.replaying import replay_segment
from rlaif.game.description.words import words_of
from rlaif.game.machine.cartridges import Cartridge, load_cartridge
from rlaif.game.machine.emulator import Emulator, new_emulator
from rlaif.reward_net.pay import Float32
from rlaif.storage import keys
from rlaif.storage.file import FileStore
from rlaif.storage.ports import ObjectStore
from rlaif.testing.data.captures import write_capture
from rlaif.testing.data.judging.scores import judge_call
from rlaif.testing.page.figures import FIGURES, UNNAMED, contradictions, differing, shows
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.config import EnvConfig, PayingModel
from rlaif.trainer.play.vector import EmulatorVector
from rlaif.trainer.run_folder.spool import SpooledCapture
from rlaif.trainer.settings.game import GameSettings

FILM = """(() => {
    const canvas = document.querySelector('#film canvas');
    const data = canvas.getContext('2d').getImageData(0, 0, 160, 144).data;
    return data.reduce((sum, value, index) => (sum * 31 + value * (index % 977)) % 1e9, 7);
})()"""
FAST = """(() => {
    const speed = document.querySelector('#film select');
    speed.value = '8';
    speed.dispatchEvent(new Event('change'));
})()"""
ROWS = "[...document.querySelectorAll('[data-segment]')].map(row => row.dataset.segment)"
NOT_WIDER = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
MIN_FIGURES = 30


_STEPS, _GAMES = 375, 6
_WORDS = (
    "The player crossed the meadow towards the tree and stayed clear of both slimes.",
    "Most of the segment is spent walking against a wall.",
    "A text was read to its end; nothing else changed.",
)


@dataclass(frozen=True)
class RingEvents:
    """The events of one segment in the order of the pipeline."""

    captured: SegmentCaptured
    exported: SegmentExported
    scored: SegmentScored


def segments_of_a_ring(store: ObjectStore, most: int) -> Iterator[RingEvents]:
    """Play the built-in game, and put at most so many segments of it into the store."""
    cartridge = load_cartridge()
    emulator = new_emulator(cartridge)
    for number, item in enumerate(_played()[:most]):
        yield _around(store, emulator, cartridge, item, number)
    emulator.close()


def _played() -> Sequence[SpooledCapture]:
    game = GameSettings(actions="seed", episode_length=_STEPS + 20)
    vector = EmulatorVector(EnvConfig(run_id="run-1", game=game), count=_GAMES, runner=1, seed=4)
    vector.pay_by(PayingModel(3, _opinion, 0.999, 4.0))
    context = CaptureContext(env_step=40_960, policy_iteration=5, reward_model_version=3)
    vector.begin_fragment(_STEPS, capture_quota=100, context=context)
    actions = np.random.default_rng(4).integers(0, 6, (_STEPS, _GAMES))
    for step in range(_STEPS):
        vector.step(step, actions[step - step % 9])
    shape = (_STEPS, _GAMES)
    fragment = vector.end_fragment(np.zeros((*shape, 8), np.float32), np.zeros(shape, np.float32))
    vector.close()
    return fragment.captures


def _opinion(observations: Float32) -> Float32:
    """What a made-up reward model thinks: it likes where the player stands."""
    likes: Float32 = np.tanh(observations[:, 1] + observations[:, 2] - 1.0).astype(np.float32)
    return likes


def _around(
    store: ObjectStore,
    emulator: Emulator,
    cartridge: Cartridge,
    item: SpooledCapture,
    number: int,
) -> RingEvents:
    capture = item.capture
    captured = write_capture(store, capture, item.keyframe)
    files = replay_segment(
        emulator,
        capture,
        item.keyframe,
        rom_sha256=cartridge.sha256,
        words=words_of(cartridge.game, cartridge.data),
        png_interval_frames=30,
        film_pictures=600,
    )
    now = datetime.now(UTC)
    manifest, _ = commit(store, captured, capture, files, exporter_version="1", created_at=now)
    exported = exported_event(manifest, keys.manifest(capture.episode_id, capture.segment_id))
    return RingEvents(captured, exported, _judged(store, capture, exported, number))


def _judged(
    store: ObjectStore, capture: Capture, exported: SegmentExported, number: int
) -> SegmentScored:
    level = number % 3
    split = number % 4 == 1
    voted = CriterionScore(
        value=level / 2,
        votes=(level, level, (level + 1) % 3) if split else (level, level, level),
        agreement=2 / 3 if split else 1.0,
        judge="vision",
    )
    sure = CriterionScore(value=0.5, votes=(1,), agreement=1, judge="ram", source="computed")
    criteria = {"progress": voted, "novelty": sure, "efficiency": sure}
    weighted = rubric_mean({name: each.value for name, each in criteria.items()}, RUBRIC_WEIGHTS)
    calls = tuple(
        judge_call(
            judge=judge,
            route=f"/{judge}",
            model="qwen-vl-7b" if judge == "vision" else "mock-7b",
            vote=vote,
            rationale=_WORDS[(number + vote) % 3],
            answer=f'{{"rationale": "…", "progress": {criteria["progress"].votes[vote]}}}',
            prompt_tokens=1843,
            completion_tokens=64,
            latency_seconds=1.1 + vote / 10,
        )
        for judge in ("state", "vision")
        for vote in range(3)
    )
    record = ScoreRecord(
        segment_id=capture.segment_id,
        episode_id=capture.episode_id,
        run_id=capture.run_id,
        judge_config="config-1",
        manifest_key=exported.manifest_key,
        manifest_sha256=exported.manifest_sha256,
        criteria=criteria,
        abstentions={"dialog": "insufficient_evidence", "puzzle": "split_votes"},
        weights=RUBRIC_WEIGHTS,
        weighted=weighted,
        calls=calls,
        env_step=capture.env_step,
        created_at=datetime.now(UTC),
    )
    data = record.model_dump_json().encode()
    key = keys.score("config-1", capture.segment_id)
    store.put(key, data)
    return SegmentScored(
        segment_id=capture.segment_id,
        episode_id=capture.episode_id,
        run_id=capture.run_id,
        judge_config="config-1",
        score_key=key,
        score_sha256=hashlib.sha256(data).hexdigest(),
        weighted=record.weighted,
        abstained=tuple(sorted(record.abstentions)),
        agreement=record.votes_agreement,
    )


@pytest.fixture
async def played(episodes: FileStore) -> list[RingEvents]:
    """Played, exported and judged segments whose events are not published yet."""
    return await asyncio.to_thread(lambda: list(segments_of_a_ring(episodes, 12)))


@pytest.fixture
async def ring(bus: Bus, played: list[RingEvents]) -> list[RingEvents]:
    """The same, published."""
    await publish(bus, played)
    return played


@pytest.fixture
async def ring_over_steps(bus: Bus, played: list[RingEvents]) -> list[RingEvents]:
    """The same, captured one after the other in the course of the run."""
    apart = [
        replace(each, captured=each.captured.model_copy(update={"env_step": 40_960 + 1500 * n}))
        for n, each in enumerate(played)
    ]
    await publish(bus, apart)
    return apart


async def publish(bus: Bus, events: list[RingEvents]) -> None:
    for each in events:
        await bus.publisher("trainer").publish(each.captured)
        await bus.publisher("exporter").publish(each.exported)
        await bus.publisher("judge").publish(each.scored)


async def look(chromium: Any, name: str) -> None:
    """Save a screenshot if requested."""
    if folder := os.environ.get("SCREENSHOTS"):
        await asyncio.to_thread(os.makedirs, folder, exist_ok=True)
        await chromium.screenshot(Path(folder) / f"{name}.png")


def there(selector: str, count: int = 1) -> str:
    return f"document.querySelectorAll({selector!r}).length === {count}"


def says(selector: str, text: str) -> str:
    return f"document.querySelector({selector!r})?.innerText.includes({text!r})"


async def drawn(chromium: Any) -> None:
    """The segment's page has all its parts."""
    await chromium.wait_for("document.querySelector('#film input[type=range]')?.disabled === false")
    await chromium.wait_for(there("#pay-of .time-chart", 2))
    await chromium.wait_for(there(".judge", 2))


async def test_from_the_list_to_the_film_and_along_its_steps(
    chromium: Any, hud_url: str, ring: list[RingEvents]
) -> None:
    await chromium.open(f"{hud_url}/segments")
    await chromium.wait_for(there("[data-segment]", len(ring)))
    await look(chromium, "segments-list")
    await chromium.evaluate("document.getElementById('order-lowest_score').click()")
    await chromium.wait_for("location.search === '?order=lowest_score'")
    await chromium.wait_for(there("#order-lowest_score[aria-pressed=true]"))
    async with httpx.AsyncClient(base_url=f"{hud_url}/api/v1") as rest:
        worst = (await rest.get("/segments", params={"order": "lowest_score"})).json()["items"]
        facets = (await rest.get("/segments/facets")).json()
        assert await chromium.evaluate(ROWS) == [row["segment_id"] for row in worst]
        figures = await chromium.evaluate(FIGURES)
        assert contradictions(figures, {"segment-list": worst, "facets": facets}) == []
        assert await chromium.evaluate(UNNAMED) == [], "numbers that name no field"

        await chromium.evaluate("document.querySelector('table.segments a.open').click()")
        name = f"{worst[0]['episode_id']}/{worst[0]['segment_id']}"
        await chromium.wait_for(f"location.pathname === '/segments/{name}'")
        await drawn(chromium)
        detail = (await rest.get(f"/segments/{name}")).json()
        reported = (await rest.get(f"/segments/{name}/steps")).json()

    figures = await chromium.evaluate(FIGURES)
    assert len(figures) >= MIN_FIGURES
    assert contradictions(figures, {"segment": detail, "steps": reported}) == []
    assert differing(figures) == []
    assert sum(line["part"] or 0 for line in detail["rubric"]) == pytest.approx(detail["weighted"])

    # Cursor, words and address go along with the film.
    first = await chromium.evaluate(FILM)
    for _ in range(30):
        await chromium.press("ArrowRight", "")
    await chromium.wait_for(says(".moment", "Emulator step 30 of 74"))
    assert await chromium.evaluate(FILM) != first
    await chromium.wait_for("location.search === '?step=30'")
    await chromium.wait_for(says("#pay-of .at", f"step 30, {reported['steps'][30]['action']}:"))
    await look(chromium, "segment")

    # It is played in the page: nothing more is asked for.
    asked = len(chromium.requested)
    await chromium.evaluate(FAST)
    await chromium.press(" ", " ")
    await chromium.wait_for(says(".moment", "Emulator step 74 of 74"))
    assert len(chromium.requested) == asked

    # Along the list that the reader came from.
    await chromium.press("j", "j")
    await chromium.wait_for(f"location.pathname.endsWith('/{worst[1]['segment_id']}')")
    await chromium.press("k", "k")
    await chromium.wait_for(f"location.pathname.endsWith('/{worst[0]['segment_id']}')")
    # However fast: pressed before the next segment's page is there, too.
    await drawn(chromium)
    await chromium.evaluate(PRESSED_AT_ONCE)
    await chromium.wait_for(f"location.pathname.endsWith('/{worst[2]['segment_id']}')")
    assert chromium.errors == []


PRESSED_AT_ONCE = """for (const key of "jjjk")
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }))"""


SCORES = "document.querySelector('#chart-scores .plot')"
DOT = """(index => {
    const dots = [...document.querySelectorAll('#chart-scores .plot svg .dots')].at(-1);
    const [, x, y] = [...dots.getAttribute('d').matchAll(/M([^,]+),([^h]+)h0/g)][index];
    const { a, d, e, f } = dots.getScreenCTM();
    return [a * x + e, d * y + f];
})"""
"""JavaScript: where in the window the dot of a chart's point is."""


async def points_are_drawn(chromium: Any, count: int) -> None:
    dots = f"{SCORES}?.querySelector('svg .dots')?.getAttribute('d').split('M').length"
    await chromium.wait_for(f"{dots} === {count + 1}")
    await chromium.evaluate(f"{SCORES}.scrollIntoView({{ block: 'center' }})")


async def click(chromium: Any, at: tuple[float, float]) -> None:
    """As a mouse does."""
    for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
        await chromium.command(
            "Input.dispatchMouseEvent", type=kind, x=at[0], y=at[1], button="left", clickCount=1
        )


async def test_a_click_or_enter_on_a_score_shows_that_very_segment(
    chromium: Any, hud_url: str, ring_over_steps: list[RingEvents]
) -> None:
    count = len(ring_over_steps)
    async with httpx.AsyncClient(base_url=f"{hud_url}/api/v1") as rest:
        await chromium.open(hud_url)
        await points_are_drawn(chromium, count)
        points = (await rest.get("/score-points")).json()["points"]
        assert [each["segment_id"] for each in points] == [
            each.captured.segment_id for each in ring_over_steps
        ]
        for index, by in ((4, "click"), (count - 3, "Enter")):
            point = points[index]
            name = f"{point['episode_id']}/{point['segment_id']}"
            if by == "click":
                await click(chromium, await chromium.evaluate(f"{DOT}({index})"))
            else:
                await chromium.evaluate(f"{SCORES}.focus()")
                for key in ("End", "ArrowLeft", "ArrowLeft", "Enter"):
                    await chromium.press(key, "")
            await chromium.wait_for(f"location.pathname === '/segments/{name}'")
            await drawn(chromium)
            shown = "document.querySelector('.segment-name code').title"
            assert await chromium.evaluate(shown) == point["segment_id"]
            asked = [url for url in chromium.requested if url.endswith("/pack")]
            assert asked[-1].endswith(f"/segments/{name}/pack"), "the film of another one"

            detail = (await rest.get(f"/segments/{name}")).json()
            reported = (await rest.get(f"/segments/{name}/steps")).json()
            figures = await chromium.evaluate(FIGURES)
            assert len(figures) >= MIN_FIGURES
            assert contradictions(figures, {"segment": detail, "steps": reported}) == []
            scores = [text for field, text in figures if field == "segment.weighted"]
            assert scores
            assert all(shows(text, point["weighted"]) for text in scores)
            await chromium.evaluate("history.back()")
            await points_are_drawn(chromium, count)
    assert chromium.errors == []


async def test_an_address_shows_its_moment_at_once_and_a_phone_has_room_for_it(
    chromium: Any, hud_url: str, ring: list[RingEvents]
) -> None:
    reported = ring[0].captured
    address = f"{hud_url}/segments/{reported.episode_id}/{reported.segment_id}?step=39"
    await chromium.open(address, width=390, height=844)
    await drawn(chromium)
    await chromium.wait_for(says(".moment", "Emulator step 39 of 74"))
    assert await chromium.evaluate(NOT_WIDER)
    await look(chromium, "segment-phone")
    await chromium.evaluate("document.querySelector('#nav a[href=\"/segments\"]').click()")
    await chromium.wait_for(there("[data-segment]", len(ring)))
    assert await chromium.evaluate(NOT_WIDER)
    await look(chromium, "segments-list-phone")
    assert chromium.errors == []


async def test_a_missing_segment_is_reported(chromium: Any, hud_url: str) -> None:
    await chromium.open(f"{hud_url}/segments/ep-1/s-1")
    await chromium.wait_for(says("#worth-of", "No such segment"))
    await chromium.wait_for(says("#film .overlay", "No video"))
    await look(chromium, "segment-missing")
