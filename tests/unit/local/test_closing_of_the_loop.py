"""When the loop has closed, asked of services that answer, fail or are away."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from rlaif.local.loop_watch import LastingIssues, LoopWatch
from rlaif.reward_model.learning.settings import CandidateSettings, GateSettings, settings_text

URLS = {"trainer": "http://trainer", "reward-model": "http://reward-model", "hud": "http://hud"}
RUN = {"status": "training", "reward_model_version": 2, "reward_model_loaded_at_step": 41_472}
MANIFEST = {
    "labels": 72,
    "episodes": 41,
    "metrics": {"heldout_accuracy": 0.8234, "heldout_pairs": 96},
}


class Services:
    """Address → what is answered there; nothing else answers."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {
            "http://trainer/api/v1/runs/current": RUN,
            "http://reward-model/api/v1/training": {"state": "idle"},
            "http://reward-model/api/v1/reward-models": {"items": []},
            "http://reward-model/api/v1/reward-models/2": MANIFEST,
        }

    def __call__(self, request: httpx.Request) -> httpx.Response:
        address = str(request.url.copy_with(query=None))
        if address not in self.answers:
            raise httpx.ConnectError("away")
        answer = self.answers[address]
        return answer if isinstance(answer, httpx.Response) else httpx.Response(200, json=answer)


@pytest.fixture
def services() -> Services:
    return Services()


@pytest.fixture
async def watch(services: Services) -> AsyncIterator[LoopWatch]:
    made = LoopWatch(URLS)
    await made.close()
    made._client = httpx.AsyncClient(transport=httpx.MockTransport(services))
    yield made
    await made.close()


async def test_a_loaded_model_closes_the_loop_once(watch):
    snapshot, closing = await watch.poll()
    assert closing.sentence() == (
        "Loop closed: reward model v2 from 72 labels of 41 episodes, held-out accuracy 0.82 "
        "(96 pairs), loaded at environment step 41,472"
    )
    assert snapshot.status == "training"
    assert await watch.poll() == (snapshot, None)


async def test_a_relaxed_gate_is_reported(watch, services):
    settings = settings_text(CandidateSettings(gate=GateSettings(simple_margin=-0.1)))
    services.answers["http://reward-model/api/v1/reward-models/2"] = MANIFEST | {
        "lineage": {"settings": settings}
    }
    _, closing = await watch.poll()
    assert closing.sentence().endswith("step 41,472; gate relaxed, margin -0.1")


async def test_models_of_an_earlier_start_closed_their_loop_then(watch, services):
    services.answers["http://reward-model/api/v1/reward-models"] = {
        "items": [{"version": 1}, {"version": 2}]
    }
    assert await watch.remember_known() == {1, 2}
    assert (await watch.poll())[1] is None


async def test_a_model_that_was_published_and_not_loaded_closes_nothing(watch, services):
    services.answers["http://trainer/api/v1/runs/current"] = RUN | {
        "reward_model_loaded_at_step": None
    }
    assert (await watch.poll())[1] is None


async def test_a_closing_is_reported_when_its_figures_can_be_had(watch, services):
    manifest = services.answers.pop("http://reward-model/api/v1/reward-models/2")
    assert (await watch.poll())[1] is None
    services.answers["http://reward-model/api/v1/reward-models/2"] = manifest
    assert (await watch.poll())[1].version == 2


async def test_services_that_are_away_or_say_no_leave_nothing_known(watch, services):
    services.answers = {}
    snapshot, closing = await watch.poll()
    assert (snapshot.status, closing) == (None, None)
    assert snapshot.sentence(starting=3.0) == "training is starting emulators, 3 s"


async def test_a_trainer_without_a_run_is_not_called_starting(watch, services):
    services.answers["http://trainer/api/v1/runs/current"] = httpx.Response(404, json={})
    snapshot, _ = await watch.poll()
    assert snapshot.sentence(starting=102.0) == "no run; POST /api/v1/runs starts one"
    services.answers["http://trainer/api/v1/runs/current"] = {"status": "on disk"}
    snapshot, _ = await watch.poll()
    assert snapshot.sentence(starting=102.0) == "the run is stopped"


ISSUES = "http://hud/api/v1/issues"


async def test_issues_are_those_of_the_page(watch, services):
    issue = {"key": "judge: llm", "service": "judge", "description": "no answer"}
    services.answers[ISSUES] = {"issues": [issue]}
    assert await watch.issues() == {"judge: llm": "judge: no answer"}
    services.answers[ISSUES] = {"issues": []}
    assert await watch.issues() == {}


NO_PAGE = [
    pytest.param(None, id="no answer"),
    pytest.param(httpx.Response(503, json={}), id="an error"),
    pytest.param(httpx.Response(200, text="<html>"), id="another server"),
    pytest.param({"other": 1}, id="another service"),
]


@pytest.mark.parametrize("answer", NO_PAGE)
async def test_without_the_page_that_is_an_issue_and_the_last_ones_stay(watch, services, answer):
    issue = {"key": "judge: llm", "service": "judge", "description": "no answer"}
    services.answers[ISSUES] = {"issues": [issue]}
    await watch.issues()
    services.answers = {ISSUES: answer} if answer else {}
    assert (await watch.issues()).keys() == {"judge: llm", "hud"}


def test_an_issue_that_lasts_is_reported_once_and_so_is_its_end():
    issues = LastingIssues()
    broken = {"judge: llm": "judge: no answer"}
    assert issues.update(0, broken) == ([], [])
    assert issues.update(5, broken) == (["judge: no answer"], [])
    assert issues.update(6, {"judge: llm": "judge: no answer since noon"}) == ([], [])
    assert issues.update(7, {}) == ([], ["judge: no answer"])
    assert issues.update(8, broken) == issues.update(9, {}) == ([], [])
