"""Whatever form a model answers in: it is scored, or its route has an issue and nothing is lost."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from rlaif.bus.connection import Bus
from rlaif.contracts.judging.scores import ScoreRecord
from rlaif.llm.route import RouteLimits
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore
from rlaif.testing.data.judging.segments import described_state, write_segment
from rlaif.testing.planner.answer_forms import (
    FAILURES,
    FORMS,
    READABLE,
    UNREADABLE,
    FormProxy,
    form_proxy,
)
from rlaif.testing.waiting import eventually

SETTINGS = {
    # Long enough that no route is given up on while a test looks.
    "patience_refused_seconds": 600.0,
    "patience_outage_seconds": 600.0,
    "limits": RouteLimits(attempts=2, pause_seconds=0.2),
    "votes": 1,
}


@pytest.fixture
async def proxy(stand_in: Any) -> AsyncIterator[FormProxy]:
    async with form_proxy(stand_in.url) as made:
        yield made


async def _export(bus: Bus, store: ObjectStore, name: str, at: int = 0) -> None:
    states = [described_state(step + at) for step in range(75)]
    event = await asyncio.to_thread(write_segment, store, name, states=states)
    await bus.publisher("exporter").publish(event)


async def _scores(store: ObjectStore) -> dict[str, ScoreRecord]:
    def read() -> dict[str, ScoreRecord]:
        data = [store.get(info.key) for info in list(store.list(keys.scores()))]
        return {r.segment_id: r for r in map(ScoreRecord.model_validate_json, data)}

    return await asyncio.to_thread(read)


async def _issue(client: httpx.AsyncClient, route: str) -> str:
    checks = (await client.get("/readyz")).json()["checks"]
    return checks[f"route:{route}"]["detail"] or ""


@pytest.mark.parametrize("form", FORMS)
async def test_every_form_is_scored_or_its_route_has_an_issue_and_nothing_is_committed(
    bus: Bus, episodes_store: ObjectStore, start_judge: Any, proxy: FormProxy, form: str
) -> None:
    proxy.form = FORMS[form]
    client = await start_judge(**SETTINGS, wait=False, llm_state_url=f"{proxy.url}/dialog")
    await _export(bus, episodes_store, "seg-0")

    async def settled() -> bool:
        return bool(await _scores(episodes_store) or await _issue(client, "state"))

    await eventually(settled, "scored, or the route has an issue")
    scores = await _scores(episodes_store)
    if form in READABLE:
        assert "progress" in scores["seg-0"].criteria
        assert await _issue(client, "state") == ""
        return
    assert scores == {}
    judges = (await client.get("/api/v1/judges")).json()["judges"]
    trouble = next(judge for judge in judges if judge["name"] == "state")["health"]["trouble"]
    named = trouble or await _issue(client, "state")
    if form in UNREADABLE:
        assert "JUDGE_STATE_MODEL" in named
        assert ("JUDGE_SCHEMA_MODE" in named) or ("JUDGE_MAX_TOKENS" in named) or "filter" in named
    else:
        assert form in FAILURES
        assert "refuses" not in named
    # The server is repaired: the segment that waited is scored.
    proxy.form = None

    async def scored() -> bool:
        return "seg-0" in await _scores(episodes_store)

    await eventually(scored, "the segment that waited is scored")
    assert "progress" in (await _scores(episodes_store))["seg-0"].criteria
    assert await bus.dead_letters() == []


async def _scored_for_good(bus: Bus, store: ObjectStore, count: int) -> None:
    """Export further segments until none of the first `count` has a provisional score.

    One provisional segment is scored again after each new one.
    """
    newest = count - 1

    async def final() -> bool:
        nonlocal newest
        scores = await _scores(store)
        if f"seg-{newest}" in scores:
            newest += 1
            await _export(bus, store, f"seg-{newest}", newest)
        first = [scores.get(f"seg-{at}") for at in range(count)]
        return all(score is not None and score.distrusted == () for score in first)

    await eventually(final, "no score is provisional any more")


async def test_a_segment_of_a_route_that_stays_unreadable_is_provisional_and_scored_again(
    bus: Bus, episodes_store: ObjectStore, start_judge: Any, proxy: FormProxy
) -> None:
    proxy.form = UNREADABLE["prose only"]
    url = f"{proxy.url}/dialog"
    await start_judge(**SETTINGS | {"patience_refused_seconds": 1.0}, llm_state_url=url)
    await _export(bus, episodes_store, "seg-0")

    async def provisional() -> bool:
        return "seg-0" in await _scores(episodes_store)

    await eventually(provisional, "the segment has a provisional score")
    record = (await _scores(episodes_store))["seg-0"]
    assert record.abstentions["progress"] == "route_unreadable"
    assert record.distrusted == ("state",)
    proxy.form = None
    await _scored_for_good(bus, episodes_store, 1)
    assert "progress" in (await _scores(episodes_store))["seg-0"].criteria


async def test_a_route_that_reads_the_known_question_and_loses_all_votes_has_an_issue_too(
    bus: Bus, episodes_store: ObjectStore, start_judge: Any, proxy: FormProxy
) -> None:
    proxy.form = UNREADABLE["prose only"]
    proxy.concerns = lambda body: body["temperature"] > 0  # votes, and no known question
    client = await start_judge(**SETTINGS | {"votes": 3}, llm_state_url=f"{proxy.url}/dialog")
    assert await _issue(client, "state") == ""
    for at in range(8):
        await _export(bus, episodes_store, f"seg-{at}", at)

    async def named() -> bool:
        return "JUDGE_SCHEMA_MODE" in await _issue(client, "state")

    await eventually(named, "the route has an issue")
    proxy.form = None
    await _scored_for_good(bus, episodes_store, 8)
    scores = await _scores(episodes_store)
    assert all("progress" in scores[f"seg-{at}"].criteria for at in range(8)), "nothing was lost"
