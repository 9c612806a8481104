"""The reward models' pages over their service's own routes, with networks that it fitted."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from rlaif.bus.connection import Bus
from rlaif.bus.outbox import Outbox
from rlaif.contracts.events import RewardModelRejected
from rlaif.contracts.reward_models import GateMetrics
from rlaif.hud.app import create_app
from rlaif.hud.settings import HudSettings
from rlaif.reward_model.api.labels import build_router
from rlaif.reward_model.api.versions import build_versions_router
from rlaif.reward_model.champions.registry import ModelRegistry
from rlaif.reward_model.champions.reward_hacking_monitor import RewardHackingMonitor
from rlaif.reward_model.labels.label_log import LabelLog
from rlaif.reward_model.learning.settings import CandidateSettings, FitSettings, GateSettings
from rlaif.reward_model.metrics import RewardModelMetrics
from rlaif.reward_model.runtime import status_of
from rlaif.reward_model.settings import TrainingSettings
from rlaif.reward_model.training_loop import TrainingLoop
from rlaif.service.app import build_app
from rlaif.service.health import Readiness
from rlaif.service.metrics import ServiceMetrics
from rlaif.service.settings import ServiceSettings
from rlaif.storage.file import FileStore
from rlaif.testing.data.judging.candidates import train_here
from rlaif.testing.data.judging.scored_segments import play, write_scored
from rlaif.testing.page.browser import Shoot
from rlaif.testing.page.figures import FIGURES, UNNAMED, contradictions, documents_of
from rlaif.testing.page.stage import Stage
from rlaif.testing.servers.http_server import serve
from rlaif.testing.waiting import eventually

TOKEN = "sesame"
SEGMENTS = play(episodes=9, each=8, signal=True, distractors=2, wrong=0.0)
REASON = "it was better in yesterday's run"
REFUSED = GateMetrics(
    heldout_accuracy=0.55,
    heldout_accuracy_low=0.41,
    heldout_accuracy_high=0.68,
    heldout_pairs=44,
    crossfit_accuracy=0.57,
    crossfit_accuracy_low=0.47,
)


@dataclass
class Service:
    """The reward-model service, its task run by hand."""

    training: TrainingLoop
    bus: Bus
    url: str

    @property
    def champion(self) -> Any:
        """What its registry says."""
        live = self.training.champions.registry.live()
        assert live is not None
        return live.champion

    async def tell(self) -> None:
        """Send its status, as it does every two seconds."""
        await self.bus.telemetry().send(
            status_of(self.training, RewardHackingMonitor(), datetime.now(UTC))
        )


@pytest.fixture
async def service(bus: Bus, tmp_path: Path) -> AsyncIterator[Service]:
    """Two versions, fitted to made-up play, and a refused candidate."""
    store = FileStore(tmp_path / "models")
    training = TrainingLoop(
        LabelLog(store, judge_config=None, most_labels=500),
        ModelRegistry(store, now=lambda: datetime.now(UTC)),
        Outbox(bus.publisher("reward-model")),
        CandidateSettings(
            fit=FitSettings(epochs=20, members=2),
            gate=GateSettings(simple_margin=-1.0),
        ),
        TrainingSettings(relist_seconds=1e-9),
        RewardModelMetrics(ServiceMetrics("reward-model")),
        now=lambda: datetime.now(UTC),
        train=train_here,
    )
    for last in (48, len(SEGMENTS)):
        for segment in SEGMENTS[:last]:
            write_scored(store, segment)
        await training.step()
    await bus.publisher("reward-model").publish(
        RewardModelRejected(
            candidate_id="candidate-0123456789abcdef01234567",
            reasons=("nothing proves a signal in the labels",),
            labels=30,
            episodes=4,
            heldout_accuracy=REFUSED.heldout_accuracy,
            metrics=REFUSED,
        )
    )
    app = build_app(
        name="reward-model",
        title="Reward model",
        settings=ServiceSettings.model_validate({"api_token": TOKEN}),
        lifespan=None,
        routers=[
            build_router(lambda: training),
            build_versions_router(lambda: training, RewardHackingMonitor),
        ],
        readiness=Readiness(),
        metrics=ServiceMetrics("reward-model"),
    )
    async with serve(app) as url:
        yield Service(training, bus, url)


@pytest.fixture
async def hud(service: Service, nats_url: str, tmp_path: Path) -> AsyncIterator[str]:
    settings = HudSettings.model_validate(
        {
            "nats_url": nats_url,
            "episodes_store": f"file://{tmp_path / 'episodes'}",
            "reward_model_url": service.url,
            "api_token": TOKEN,
        }
    )
    async with serve(create_app(settings)) as url:
        yield url


def text_of(selector: str) -> str:
    return f"(document.querySelector({selector!r})?.innerText ?? '').replace(/\\s+/g, ' ')"


def says(selector: str, words: str) -> str:
    return f"{text_of(selector)}.includes({words!r})"


def click(selector: str, words: str) -> str:
    """JavaScript: click the button with these words."""
    return (
        f"[...document.querySelectorAll({selector!r})]"
        f".find(each => each.textContent.includes({words!r})).click()"
    )


async def type_in(chromium: Any, selector: str, words: str) -> None:
    await chromium.evaluate(f"document.querySelector({selector!r}).value = {words!r}")


async def hold_numbers(chromium: Any, hud: str, least: int) -> None:
    """Every number of the page is that of the REST interface, and says which."""
    found: list[str] = []

    async def agree() -> bool:
        figures = await chromium.evaluate(FIGURES)
        async with httpx.AsyncClient(base_url=hud, timeout=20) as client:
            paths = {"/api/v1/state", *documents_of(figures)}
            bodies = {path: (await client.get(path)).json() for path in paths}
            state = bodies["/api/v1/state"]
        found[:] = contradictions(figures, state, documents=bodies)
        if len(figures) < least:
            found.append(f"{len(figures)} figures")
        return not found

    try:
        await eventually(agree, "page and REST interface agree")
    finally:
        assert found == []
    assert await chromium.evaluate(UNNAMED) == [], "numbers that name no field"


async def test_models_are_judged_compared_pinned_and_brought_back(
    chromium: Any, hud: str, service: Service, bus: Bus, shoot: Shoot, tmp_path: Path
) -> None:
    assert service.training.champions.registry.versions() == [1, 2]
    stage = Stage(bus, FileStore(tmp_path / "episodes"))
    await chromium.open(f"{hud}/models")
    stage.curve = [(1500 * n, 0.5 + 0.01 * n) for n in range(1, 41)]
    for version, step in ((1, 12_000), (2, 30_000)):
        await stage.load(version, step)
    await stage.progress()
    await service.tell()
    await chromium.wait_for("document.querySelectorAll('.versions .whisker .range').length >= 6")
    await chromium.wait_for(
        "document.querySelectorAll('.rejected-table .whisker .dot').length === 1"
    )
    assert await chromium.evaluate(says("#models-rejected", "nothing proves a signal"))
    await chromium.wait_for(says("#models-watch", "no alarm"))
    await chromium.wait_for(says(".versions", "gate relaxed: 100 % below simple predictors"))
    await hold_numbers(chromium, hud, 50)
    await shoot("models")

    # Pinning asks for a reason, then for the token: a wrong one is said to be wrong.
    await chromium.evaluate(click("#models-now button", "Pin"))
    await type_in(chromium, "#change-reason", REASON)
    await chromium.evaluate(click("dialog.change button", "Pin it"))
    for typed in ("wrong", TOKEN):
        await chromium.wait_for("document.querySelector('#token-field') !== null")
        assert not service.champion.pinned
        await type_in(chromium, "#token-field", typed)
        await chromium.evaluate(click("dialog.token button", "Continue"))
        if typed != TOKEN:
            await chromium.wait_for(says("dialog.token", "Wrong token"))
    await chromium.wait_for("document.querySelector('dialog.change') === null")
    assert (service.champion.version, service.champion.pin_reason) == (2, REASON)
    await service.tell()
    await chromium.wait_for(says("#models-now", f"pinned — {REASON}"))

    # One version: its gate, calibration and rewards by slot, compared with the live one.
    await chromium.evaluate("document.querySelector('tr[data-version=\"1\"] a.name').click()")
    await chromium.wait_for("document.querySelectorAll('table.gate tbody tr').length > 10")
    await chromium.wait_for("document.querySelectorAll('table.bins .whisker .dot').length > 0")
    await chromium.wait_for("document.querySelectorAll('table.compare tbody tr').length > 5")
    await chromium.wait_for("document.querySelectorAll('table.slots tbody tr').length > 1")
    assert (
        await chromium.evaluate("document.querySelectorAll('[data-holds=\"false\"]').length") == 0
    )
    await hold_numbers(chromium, hud, 100)
    await shoot("model")

    # Going back: the token is known by now.
    await chromium.evaluate(click("#model-head button", "Make live"))
    await type_in(chromium, "#change-reason", "v2 pays for the corner")
    await chromium.evaluate(click("dialog.change button", "Make v1 live"))
    await chromium.wait_for("document.querySelector('dialog.change') === null")
    champion = service.champion
    assert (champion.version, champion.pin_reason) == (1, "v2 pays for the corner")
    await service.tell()
    await chromium.wait_for(says("#model-head", "★ live"))
    assert await chromium.evaluate(
        f"localStorage.length === 0 || !JSON.stringify(localStorage).includes({TOKEN!r})"
    )
    assert not [url for url in chromium.requested if TOKEN in url]
    assert [error for error in chromium.errors if "401" not in error] == []
