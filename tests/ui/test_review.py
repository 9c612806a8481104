"""The review in a browser, before the real reward-model service: a vote reaches its log.

With `SCREENSHOTS=folder` each state is also saved as a picture.
"""

import zlib
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from rlaif.bus.connection import Bus
from rlaif.contracts.game.films import Patch, pack_film
from rlaif.contracts.judging.reviews import VoteRecord
from rlaif.game.machine.pictures import png
from rlaif.hud.app import create_app as hud_app
from rlaif.hud.settings import HudSettings
from rlaif.reward_model.app import create_app as reward_model_app
from rlaif.reward_model.settings import RewardModelSettings, TrainingSettings
from rlaif.storage import keys
from rlaif.storage.file import FileStore
from rlaif.testing.data.judging.scored_segments import ForReview, play, write_scored
from rlaif.testing.page.browser import Shoot
from rlaif.testing.page.figures import FIGURES, contradictions, differing
from rlaif.testing.servers.http_server import serve
from rlaif.testing.waiting import eventually

EVIL = "<img src=x onerror=\"document.title='owned'\"> the key was found"
JUDGES = {"puzzle": "puzzle", "novelty": "vision"}
SEGMENTS = play(episodes=7, each=4, signal=True)
PHASE = "document.querySelector('.review').dataset.phase"
PAIR = "new URLSearchParams(location.search).get('pair')"
SHOWN = """['a', 'b'].map(side => {
    const clip = document.querySelector(`.clip[data-side=${side}]`);
    const pixel = clip.querySelector('canvas').getContext('2d').getImageData(2, 2, 1, 1).data;
    return [clip.dataset.segment, [...pixel].slice(0, 3)];
})"""


def colour_of(segment_id: str) -> tuple[int, int, int]:
    """A colour that tells segments apart; no two of some hundred are alike."""
    mixed = zlib.crc32(segment_id.encode())
    return (mixed >> 16) & 0xF8, (mixed >> 8) & 0xF8, mixed & 0xF8


def walking_film(segment_id: str) -> bytes:
    """A white square walks over a ground of the segment's own colour."""
    screen = np.full((144, 160, 3), colour_of(segment_id), np.uint8)
    patches = []
    for step in range(20):
        picture = screen.copy()
        picture[72:88, 2 * step : 2 * step + 16] = 255
        patches.append(Patch(step, 4 * (step + 1), 0, 0, 160, 144, png(picture)))
    return pack_film(segment_id, patches, type="image/png")


@dataclass
class Pipeline:
    """The HUD and the reward-model service behind it."""

    hud: str
    models: FileStore

    def votes(self) -> list[VoteRecord]:
        found = [self.models.get(info.key) for info in self.models.list(keys.VOTES)]
        return [VoteRecord.model_validate_json(data) for data in found]


@pytest.fixture
async def pipeline(bus: Bus, nats_url: str, tmp_path: Path) -> AsyncIterator[Pipeline]:
    episodes, models = FileStore(tmp_path / "episodes"), FileStore(tmp_path / "models")
    for segment in SEGMENTS:
        write_scored(
            episodes,
            segment,
            more=ForReview(
                judges={name: JUDGES.get(name, "state") for name in segment.values},
                words={"state": f"{EVIL} in {segment.segment_id}"},
                film=walking_film(segment.segment_id),
            ),
        )
    shared: dict[str, Any] = {"nats_url": nats_url, "api_token": "sesame"}
    settings = RewardModelSettings.model_validate(shared)
    timing = TrainingSettings(poll_seconds=0.2, retrain_min_new=10_000)
    app = reward_model_app(settings, stores=(episodes, models), timing=timing)
    async with serve(app) as service:
        hud = HudSettings.model_validate(
            shared | {"episodes_store": episodes.url, "reward_model_url": service}
        )
        async with httpx.AsyncClient(base_url=service) as client:
            await eventually(lambda: _has_labels(client), "the service has read the labels")
        async with serve(hud_app(hud)) as url:
            yield Pipeline(url, models)


async def _has_labels(client: httpx.AsyncClient) -> bool:
    answer = await client.get("/api/v1/pairs/next")
    return answer.status_code == 200 and answer.json()["labels"] == len(SEGMENTS)


async def text(chromium: Any) -> str:
    return str(await chromium.evaluate("document.querySelector('main').innerText"))


async def shown(chromium: Any) -> tuple[str, str]:
    """The segments of A and B, after it was seen that each canvas shows its own one's film."""
    sides = await chromium.evaluate(SHOWN)
    for name, pixel in sides:
        assert tuple(pixel) == colour_of(name)
    (a, _), (b, _) = sides
    assert a != b
    assert colour_of(a) != colour_of(b)
    return a, b


async def test_a_vote_by_keys_is_blind_reaches_the_log_and_can_be_withdrawn(
    chromium: Any, pipeline: Pipeline, shoot: Shoot
) -> None:
    await chromium.open(f"{pipeline.hud}/review")
    await chromium.wait_for(f"{PHASE} === 'asking'")
    a, b = await shown(chromium)
    first = await chromium.evaluate(PAIR)
    assert set(first.split("--")) == {a, b}
    # Nothing gives the judges away, neither on the page nor in what it asked for.
    assert "the key was found" not in await text(chromium)
    assert not any("/votes" in url and first in url for url in chromium.requested)
    await shoot("asking")

    await chromium.press("a", "a")
    await chromium.wait_for("document.activeElement.id === 'reviewer'")
    assert pipeline.votes() == [], "without a name nothing is sent"
    await type_in(chromium, "Ada")
    await chromium.wait_for("document.activeElement.id === 'token-field'")
    await type_in(chromium, "sesame")
    await chromium.wait_for(f"{PHASE} === 'revealed'")
    (vote,) = pipeline.votes()
    assert (vote.actor, vote.a, vote.b, vote.choice, vote.blind) == ("Ada", a, b, "a", True)
    judges = [
        item.says for item in vote.verdict.opinions if item.rater in {*JUDGES.values(), "state"}
    ]
    page = await text(chromium)
    assert f"You agreed with {judges.count('a')} of" in page.replace("none", "0")
    assert f"{EVIL} in {a}" in page, "words of a model stay words"
    assert await chromium.evaluate("document.title") == "Review · Zelda RLAIF"
    await shoot("revealed")

    await chromium.press("u", "u")
    await chromium.wait_for(f"{PHASE} === 'asking'")
    await chromium.press("b", "b")
    await chromium.wait_for(f"{PHASE} === 'revealed'")
    assert [(line.kind, line.choice, line.blind) for line in pipeline.votes()] == [
        ("vote", "a", True), ("undo", None, False), ("vote", "b", False)
    ]  # fmt: skip
    await figures_agree(chromium, pipeline)

    # The next pair's films were here before it was asked for.
    loaded = [url for url in chromium.requested if url.endswith("/pack")]
    await chromium.press("Enter", "\r")
    await chromium.wait_for(f"{PHASE} === 'asking' && {PAIR} !== {first!r}")
    second = await shown(chromium)
    assert all(any(f"/{name}/pack" in url for url in loaded) for name in second)
    # The browser itself notes that the token was asked for.
    assert [each for each in chromium.errors if "401 (Unauthorized)" not in each] == []
    here = (pipeline.hud, pipeline.hud.replace("http", "ws"), "blob:")
    assert [url for url in chromium.requested if not url.startswith(here)] == []


async def test_a_service_that_is_away_is_said_and_asked_again(
    chromium: Any, nats_url: str, episodes: FileStore, shoot: Shoot
) -> None:
    settings = HudSettings(
        nats_url=nats_url, episodes_store=episodes.url, reward_model_url="http://127.0.0.1:9"
    )
    async with serve(hud_app(settings)) as url:
        await chromium.open(f"{url}/review?pair=one--two")
        await chromium.wait_for(f"{PHASE} === 'none'")
        page = await text(chromium)
        assert "reward-model at http://127.0.0.1:9 cannot be reached" in page
        assert "Try again" in page
        await shoot("away")


async def type_in(chromium: Any, words: str) -> None:
    """Type into what has the focus, and press Enter."""
    await chromium.command("Input.insertText", text=words)
    await chromium.press("Enter", "\r")


async def figures_agree(chromium: Any, pipeline: Pipeline) -> None:
    """Every number of the page is the one of the REST interface."""
    figures: list[Any] = []
    wrong: list[str] = []
    async with httpx.AsyncClient(base_url=f"{pipeline.hud}/api/v1") as client:

        async def at_rest() -> bool:  # the page reads the agreement after the vote
            nonlocal wrong, figures
            figures = await chromium.evaluate(FIGURES)
            lines = (await client.get("/votes")).json()["items"]
            state = {
                "agreement": (await client.get("/agreement")).json(),
                "votes": {str(line["number"]): line for line in lines},
                "vote": report(lines[0]),
            }
            wrong = contradictions(figures, state)
            return wrong == [] and len(figures) > 30

        with suppress(AssertionError):
            await eventually(at_rest, "page and REST interface agree")
    assert wrong == []
    assert len(figures) > 30
    assert differing(figures) == []


def report(line: dict[str, Any]) -> dict[str, Any]:
    """The answer to the newest vote, made of its line of the log."""
    whole = ("panel", "side-by-side", "ram", "reward-model")
    opinions = {item["rater"]: item for item in line["verdict"]["opinions"]}
    judges = [item["says"] for name, item in opinions.items() if name not in whole]
    asked = [says for says in judges if says]
    record = line | {"verdict": line["verdict"] | {"opinions": opinions}}
    return {"record": record, "agreed": asked.count(line["choice"]), "asked": len(asked)}
