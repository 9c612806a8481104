"""The routes of the models' page over a stand-in of the reward-model service."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from fastapi import APIRouter, FastAPI

from rlaif.contracts.catalog import envelop
from rlaif.contracts.reward_model_rest import ActivationRequest, ChampionReport, PinRequest
from rlaif.contracts.reward_models import GateMetrics, Lineage, RewardModelManifest, RewardNetSpec
from rlaif.contracts.telemetry.readings import RewardModelStatus
from rlaif.hud.read_model.models import TrainingView
from rlaif.hud.read_model.projections import HudState
from rlaif.hud.routes.models import models_router
from rlaif.hud.upstream import Upstream
from rlaif.reward_model.status import Attempt, Need, TrainingStatus
from rlaif.service.app import build_app
from rlaif.service.health import Readiness
from rlaif.service.metrics import ServiceMetrics
from rlaif.service.problems import install_problem_handlers, not_found
from rlaif.service.settings import ServiceSettings
from rlaif.testing.data.events import reward_model_published, reward_model_rejected

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
MODELS = "/api/v1/reward-models"
TOKEN = {"Authorization": "Bearer sesame"}


def manifest(version: int) -> RewardModelManifest:
    return RewardModelManifest(
        version=version,
        model_key=f"reward_model/epoch_{version}/rm.safetensors",
        model_sha256="0" * 64,
        spec=RewardNetSpec(layout_version="v1"),
        judge_config="config-1",
        parent_version=version - 1 or None,
        labels=60,
        preferences=300,
        episodes=6,
        label_digest="1" * 64,
        seed=0,
        metrics=GateMetrics(heldout_accuracy=0.75, heldout_accuracy_low=0.6),
        created_at=NOON,
        lineage=Lineage(statistic="pay", overrides=2),
    )


STATUS = TrainingStatus(
    state="idle",
    judge_config="config-1",
    labels=60,
    new_labels=3,
    episodes=6,
    needs=(Need(what="new labels", found=3, least=12),),
    pairs=None,
    skipped={"too short": 2},
    last_attempt=Attempt(
        candidate_id="candidate-1",
        outcome="rejected",
        version=None,
        reasons=("not above chance",),
        metrics=GateMetrics(),
        labels=60,
        episodes=6,
        seconds=3.0,
        ended_at=NOON,
    ),
    last_rejection=None,
)


class Service:
    """The reward-model service as far as the page needs it; notes what was changed."""

    def __init__(self) -> None:
        self.done: list[Any] = []
        router = APIRouter(prefix="/api/v1")

        def champion(version: int, reason: str | None) -> ChampionReport:
            return ChampionReport(
                version=version,
                activation=3,
                pinned=reason is not None,
                pin_reason=reason,
                pinned_until=None,
                manifest=manifest(version),
            )

        @router.get("/reward-models")
        async def models(limit: int, cursor: str | None = None) -> dict[str, Any]:
            items = [manifest(v).model_dump(mode="json") for v in ((2, 1) if not cursor else ())]
            junk = {"version": 3, "reason": "no JSON"}
            return {"items": items[:limit], "next_cursor": None, "unreadable": [junk], "new": 1}

        @router.get("/reward-models/{version}")
        async def one(version: int) -> RewardModelManifest:
            if version > 2:
                raise not_found("reward-model", str(version))
            return manifest(version)

        @router.post("/reward-models/{version}/activate")
        async def activate(version: int, how: ActivationRequest) -> ChampionReport:
            self.done.append((version, how))
            return champion(version, how.reason if how.pin else None)

        @router.put("/reward-models/champion/pin")
        async def pin(why: PinRequest) -> ChampionReport:
            self.done.append(why)
            return champion(2, why.reason)

        @router.delete("/reward-models/champion/pin")
        async def unpin() -> ChampionReport:
            self.done.append("unpinned")
            return champion(2, None)

        @router.post("/reward-models", status_code=202)
        async def train() -> TrainingStatus:
            self.done.append("train")
            return STATUS

        @router.get("/training")
        async def training() -> TrainingStatus:
            return STATUS

        self.app = build_app(
            name="common",
            title="Reward model",
            settings=ServiceSettings.model_validate({"api_token": "sesame"}),
            lifespan=None,
            routers=[router],
            readiness=Readiness(),
            metrics=ServiceMetrics("common"),
        )


@pytest.fixture
def service() -> Service:
    return Service()


@pytest.fixture
def state() -> HudState:
    return HudState(epoch="e")


@pytest.fixture
async def hud(state: HudState, service: Service) -> AsyncIterator[httpx.AsyncClient]:
    upstream = Upstream("reward-model", "http://rm", transport=httpx.ASGITransport(service.app))
    app = FastAPI()
    install_problem_handlers(app)
    app.include_router(models_router(state, upstream))
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://hud"
    ) as client:
        yield client


async def test_versions_are_listed_with_their_records_and_what_became_of_them(
    hud: httpx.AsyncClient, state: HudState
) -> None:
    state.apply_event(envelop(reward_model_published(version=1), source="t", time=NOON))
    body = (await hud.get(MODELS)).json()
    newest, first = body["items"]
    assert (newest["manifest"]["version"], newest["standing"]) == (2, None)
    assert first["manifest"]["lineage"]["overrides"] == 2
    assert first["standing"]["champion"] is True
    assert first["standing"]["activated_at"] == ["2026-11-20T12:00:00Z"]
    assert body["unreadable"] == [{"version": 3, "reason": "no JSON"}]
    assert (await hud.get(f"{MODELS}/1")).json() == first


async def test_the_paging_of_the_service_is_passed_on(hud: httpx.AsyncClient) -> None:
    assert len((await hud.get(MODELS, params={"limit": 1})).json()["items"]) == 1
    assert (await hud.get(MODELS, params={"cursor": "Mg"})).json()["items"] == []


async def test_refused_candidates_have_all_that_was_measured_and_why(
    hud: httpx.AsyncClient, state: HudState
) -> None:
    metrics = GateMetrics(heldout_accuracy=0.48, heldout_accuracy_low=0.3, heldout_pairs=40)
    for name in ("candidate-1", "candidate-2", "candidate-3"):
        data = reward_model_rejected(name).model_copy(update={"metrics": metrics})
        state.apply_event(envelop(data, source="t", time=NOON))
    body = (await hud.get(f"{MODELS}/rejected", params={"limit": 2})).json()
    assert body["items"][0]["metrics"]["heldout_accuracy_low"] == 0.3
    assert body["items"][0]["reasons"]
    more = {"limit": 2, "cursor": body["next_cursor"]}
    rest = (await hud.get(f"{MODELS}/rejected", params=more)).json()
    assert len(body["items"]) + len(rest["items"]) == 3
    # The snapshot goes to every page at every change: it has the figures that it shows, no more.
    assert "metrics" not in state.section("reward_models").model_dump()["rejected"][0]


async def test_every_change_needs_the_token_and_reaches_the_service(
    hud: httpx.AsyncClient, service: Service
) -> None:
    why = {"reason": "looks odd"}
    asked: list[tuple[str, str, Any]] = [
        ("POST", f"{MODELS}/1/activate", why),
        ("PUT", f"{MODELS}/champion/pin", why),
        ("DELETE", f"{MODELS}/champion/pin", None),
        ("POST", MODELS, None),
    ]
    for method, path, body in asked:
        assert (await hud.request(method, path, json=body)).status_code == 401
    assert service.done == []
    for method, path, body in asked:
        assert (await hud.request(method, path, json=body, headers=TOKEN)).is_success
    assert service.done == [
        (1, ActivationRequest(reason="looks odd")),
        PinRequest(reason="looks odd"),
        "unpinned",
        "train",
    ]


async def test_a_reason_is_bounded_before_anybody_is_asked(
    hud: httpx.AsyncClient, service: Service
) -> None:
    answer = await hud.put(f"{MODELS}/champion/pin", json={"reason": ""}, headers=TOKEN)
    assert answer.status_code == 422
    assert service.done == []


async def test_problems_of_the_service_are_the_page_s(hud: httpx.AsyncClient) -> None:
    answer = await hud.get(f"{MODELS}/9")
    assert (answer.status_code, answer.json()["type"]) == (404, "/problems/reward-model-not-found")
    assert answer.json()["instance"] == f"{MODELS}/9"


async def test_the_training_is_told_as_the_service_tells_it(hud: httpx.AsyncClient) -> None:
    told = TrainingView.model_validate((await hud.get(f"{MODELS}/training")).json())
    assert told.model_dump(mode="json").items() <= STATUS.model_dump(mode="json").items()


def test_why_no_model_is_live_is_told_until_one_is(state: HudState) -> None:
    state.apply_event(envelop(reward_model_published(version=1), source="t", time=NOON))
    later = NOON + timedelta(seconds=5)
    told = RewardModelStatus(
        at=later, state="idle", labels=60, missing=(), withdrawn="version 1 no longer holds"
    )
    state.apply_reading(told, later)
    models = state.section("reward_models")
    assert (models.champion, models.withdrawn) == (None, "version 1 no longer holds")
    live = told.model_copy(update={"withdrawn": None, "champion_version": 1, "activation": 1})
    state.apply_reading(live, later)
    models = state.section("reward_models")
    assert (models.champion.version, models.withdrawn) == (1, None)
