"""The routes of the reward models and of the review."""

from collections.abc import AsyncIterator
from datetime import timedelta

import httpx
import pytest

from rlaif.contracts.catalog import envelop
from rlaif.contracts.reward_models import GateMetrics
from rlaif.hud.read_model.projections import HudState
from rlaif.hud.routes.models import FORWARDED, MODELS, REVIEW, models_router
from rlaif.hud.upstream import Upstream
from rlaif.testing.data.events import NOON, reward_model_published, reward_model_rejected
from rlaif.testing.data.readings import reward_model_status
from rlaif.testing.servers.client import client_of

NAMES = {"version": 3, "other": 2, "pair_id": "one--two", "number": 7}


@pytest.fixture
async def hud(state: HudState) -> AsyncIterator[httpx.AsyncClient]:
    """Its reward-model service answers with the method and path of the request."""

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"got": f"{request.method} {request.url.path}"})

    upstream = Upstream("reward-model", "http://rm", transport=httpx.MockTransport(answer))
    async with client_of(models_router(state, upstream)) as client:
        yield client


@pytest.mark.parametrize(("method", "path", "target"), [*FORWARDED, *REVIEW])
async def test_the_service_answers_under_the_same_path(
    hud: httpx.AsyncClient, method: str, path: str, target: str
) -> None:
    answer = await hud.request(method, path.format(**NAMES))
    assert answer.json() == {"got": f"{method} {(target or path).format(**NAMES)}"}


async def test_rejected_candidates_have_measurements_and_reasons(
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


def test_the_reason_of_a_withdrawal_is_shown_until_a_model_is_live(state: HudState) -> None:
    state.apply_event(envelop(reward_model_published(version=1), source="t", time=NOON))
    later = NOON + timedelta(seconds=5)
    status = reward_model_status(withdrawn="version 1 no longer holds")
    state.apply_reading(status, later)
    models = state.sections.make("reward_models")
    assert (models.champion, models.withdrawn) == (None, "version 1 no longer holds")
    live = status.model_copy(update={"withdrawn": None, "champion_version": 1, "activation": 1})
    state.apply_reading(live, later)
    models = state.sections.make("reward_models")
    assert (models.champion.version, models.withdrawn) == (1, None)
