import csv
import io
from collections.abc import AsyncIterator

import httpx
import pytest

from rlaif.contracts.catalog import envelop
from rlaif.contracts.events import RunDescribed
from rlaif.contracts.run_origin import RunProvenance
from rlaif.contracts.telemetry.readings import PaidStep, PaidSteps
from rlaif.hud.read_model.projections import HudState
from rlaif.hud.routes.state import history_router
from rlaif.testing.data.events import (
    NOON,
    run_iterated,
    run_started,
    segment_captured,
    segment_scored,
)
from rlaif.testing.data.readings import training_progress
from rlaif.testing.servers.client import client_of


@pytest.fixture
async def client(state: HudState) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(history_router(state, lambda: None)) as made:
        yield made


def score(state: HudState, segment_id: str, step: int, weighted: float) -> None:
    captured = segment_captured(segment_id).model_copy(update={"env_step": step})
    for data in (captured, segment_scored(segment_id, weighted=weighted)):
        state.apply_event(envelop(data, source="t", time=NOON))


async def test_the_scores_of_the_current_run_come_in_the_order_of_their_steps(
    client: httpx.AsyncClient, state: HudState
) -> None:
    score(state, "s-2", 20, 0.75)
    score(state, "s-1", 10, 0.25)
    body = (await client.get("/api/v1/score-points")).json()
    assert [(each["segment_id"], each["env_step"]) for each in body["points"]] == [
        ("s-1", 10),
        ("s-2", 20),
    ]
    assert (body["run_id"], body["scored"], body["means"][-1]) == ("run-1", 2, [20, 0.5])


async def test_the_newest_steps_come_once_and_then_only_what_is_new(
    client: httpx.AsyncClient, state: HudState
) -> None:
    empty = (await client.get("/api/v1/steps")).json()
    assert (empty["env"], empty["reward_sum"], empty["steps"]) == (None, None, [])
    steps = tuple(
        PaidStep(number=n, env_step=8 * n, reward=0.5, parts={"room": 0.5}) for n in (1, 2, 3)
    )
    state.apply_reading(PaidSteps(at=NOON, env="1-0", steps=steps), NOON)
    body = (await client.get("/api/v1/steps", params={"after": 2})).json()
    assert (body["env"], body["kept"], body["reward_sum"]) == ("1-0", 3, 1.5)
    assert [step["number"] for step in body["steps"]] == [3]
    assert body["paid_sum"] is None, "no model paid, which is not the same as 0"


async def test_the_points_of_a_run_are_a_table(client: httpx.AsyncClient, state: HudState) -> None:
    for since, kl in ((0, 0.01), (100, 0.03)):
        data = run_iterated(
            since, since + 100, gained=[2, 4], paid={"room": 0.5}, learner={"mean_kl_loss": kl}
        )
        state.apply_event(envelop(data, source="t", time=NOON))
    answer = await client.get("/api/v1/history.csv", params={"run": data.run_id})
    assert answer.headers["content-type"].startswith("text/csv")
    assert answer.headers["content-disposition"].endswith(f'"{data.run_id}.csv"')
    first, second = csv.DictReader(io.StringIO(answer.text))
    assert (first["env_step"], first["milestones_mean"]) == ("100", "3.0")
    assert (second["learner.mean_kl_loss"], second["paid.room"]) == ("0.03", "0.5")
    assert (second["min.milestones"], second["reward_model_version"]) == ("3.0", "")


def origin(**settings: str) -> RunProvenance:
    return RunProvenance(
        seed=7, game="seedling-vale", settings=settings, command="rlaif train", commit=None,
        packages={"python": "3.13"}, host="here",
    )  # fmt: skip


async def test_runs_are_distinguished_by_name_progress_and_the_settings_that_differ(
    client: httpx.AsyncClient, state: HudState
) -> None:
    for run_id, rate in (("r-1", "0.0003"), ("r-2", "0.001")):
        settings = origin(TRAINER_PPO_LEARNING_RATE=rate, TRAINER_PPO_GAMMA="0.99")
        for data in (
            run_started(run_id=run_id, provenance=settings),
            run_iterated(0, 100, gained=[2, 4], run_id=run_id),
        ):
            state.apply_event(envelop(data, source="t", time=NOON))
    named = RunDescribed(run_id="r-1", at=NOON, name="slow", note="a control", tags=("baseline",))
    state.apply_event(envelop(named, source="t", time=NOON))
    newest, first = (await client.get("/api/v1/runs")).json()
    assert [newest["run_id"], first["run_id"]] == ["r-2", "r-1"], "a description changes no order"
    assert (first["name"], first["note"], first["tags"]) == ("slow", "a control", ["baseline"])
    assert (newest["name"], newest["seed"], newest["game"]) == (None, 7, "seedling-vale")
    assert (newest["env_step"], newest["settings"]) == (100, {"TRAINER_PPO_LEARNING_RATE": "0.001"})
    cleared = RunDescribed(run_id="r-1", at=NOON, name="", note=" ")
    state.apply_event(envelop(cleared, source="t", time=NOON))
    detail = (await client.get("/api/v1/runs/r-1")).json()
    assert (detail["name"], detail["note"]) == (None, None), "a link without a text is invisible"
    assert detail["provenance"]["settings"]["TRAINER_PPO_GAMMA"] == "0.99"
    assert (await client.get("/api/v1/runs/r-3")).status_code == 404


async def test_two_runs_are_compared_over_the_steps_that_both_have(
    client: httpx.AsyncClient, state: HudState
) -> None:
    for run_id, gained in (("r-1", [2] * 100), ("r-2", [2, 4] * 50)):
        for data in (
            run_started(run_id=run_id),
            *(
                run_iterated(at, at + 100, gained=gained, run_id=run_id)
                for at in (0, 100, 200, 300)
            ),
        ):
            state.apply_event(envelop(data, source="t", time=NOON))
    answer = await client.get("/api/v1/runs/r-2/comparison", params={"before": "r-1"})
    body, found = answer.json(), answer.json()["milestones"]
    assert (body["before_run"], body["after_run"], body["until_step"]) == ("r-1", "r-2", 400)
    assert (found["before"], found["after"], found["change"]) == (2.0, 3.0, 1.0)
    assert found["low"] <= found["change"] <= found["high"]
    unknown = await client.get("/api/v1/runs/r-2/comparison", params={"before": "r-3"})
    assert unknown.status_code == 404
    assert "r-3" in unknown.json()["detail"]


async def test_a_starting_run_is_distinguished_from_an_unknown_one(
    client: httpx.AsyncClient, state: HudState
) -> None:
    state.apply_reading(training_progress(run_id="r-1", status="starting"), NOON)
    refused = await client.get("/api/v1/runs/r-1")
    assert refused.status_code == 404
    assert "r-1 is starting" in refused.json()["detail"]
    assert "is starting" not in (await client.get("/api/v1/runs/r-3")).json()["detail"]
