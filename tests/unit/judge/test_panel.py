import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from rlaif.contracts.scores import CriterionScore, JudgeCallRecord
from rlaif.judge.breaker import Breaker
from rlaif.judge.judges import INSUFFICIENT, JUDGES
from rlaif.judge.panel import Case, Panel, VotePolicy
from rlaif.judge.ports import (
    Answer,
    CompletionRequest,
    OutageError,
    RefusedError,
    ThrottledError,
    UnavailableError,
)
from rlaif.judge.routes import RetryPolicy, Route
from rlaif.judge.votes import NoVote

CASE = Case({"rooms": {"first_visits": 1}}, [b"png"] * 4)
Reply = Callable[[CompletionRequest], str]


def _levels(request: CompletionRequest, level: int | str) -> str:
    names = request.schema["properties"]
    return json.dumps({name: "because" if name == "rationale" else level for name in names})


class Fake:
    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.requests: list[CompletionRequest] = []

    async def complete(self, request: CompletionRequest) -> Answer:
        self.requests.append(request)
        return Answer(self.reply(request))


class Calls:
    def __init__(self) -> None:
        self.records: list[JudgeCallRecord] = []

    async def __call__(self, record: JudgeCallRecord) -> None:
        self.records.append(record)


def _panel(**replies: Reply) -> tuple[Panel, dict[str, Fake]]:
    fakes = {
        judge.name: Fake(replies.get(judge.name, lambda request: _levels(request, 2)))
        for judge in JUDGES
    }
    slots = asyncio.Semaphore(8)
    routes = {
        name: Route(f"/{name}", fake, slots=slots, retry=RetryPolicy(1), breaker=Breaker(2, 30))
        for name, fake in fakes.items()
    }
    return Panel(JUDGES, routes, VotePolicy(votes=3)), fakes


async def test_three_judges_vote_three_times_and_cover_the_rubric() -> None:
    panel, fakes = _panel()
    calls = Calls()
    results = await panel.judge(CASE, calls)
    assert list(results) == ["progress", "dialog", "efficiency", "puzzle", "novelty"]
    assert all(isinstance(r, CriterionScore) and r.value == 1.0 for r in results.values())
    assert [len(fake.requests) for fake in fakes.values()] == [3, 3, 3]
    assert {record.outcome for record in calls.records} == {"ok"}
    assert len({record.prompt_sha256 for record in calls.records}) == 9
    assert {record.rationale for record in calls.records} == {"because"}


async def test_votes_of_a_judge_differ_in_seed_and_prompt() -> None:
    panel, fakes = _panel()
    await panel.judge(CASE, Calls())
    requests = fakes["state"].requests
    assert len({request.seed for request in requests}) == 3
    assert len({str(request.messages[1]) for request in requests}) == 3
    assert len({str(request.messages[0]) for request in requests}) == 1


async def test_an_unreadable_answer_is_asked_for_once_more_with_another_seed() -> None:
    answers = iter(["no json"])
    panel, fakes = _panel(puzzle=lambda request: next(answers, _levels(request, 1)))
    calls = Calls()
    results = await panel.judge(CASE, calls)
    assert results["puzzle"] == CriterionScore(
        value=0.5, votes=(1, 1, 1), agreement=1.0, judge="puzzle"
    )
    assert len(fakes["puzzle"].requests) == 4
    assert len({request.seed for request in fakes["puzzle"].requests}) == 4
    assert [r.outcome for r in calls.records if r.judge == "puzzle"].count("invalid") == 1


async def test_a_judge_that_only_writes_garbage_abstains_after_one_repair_a_vote() -> None:
    panel, fakes = _panel(vision=lambda request: '{"novelty": 11}')
    results = await panel.judge(CASE, Calls())
    assert results["novelty"] is NoVote.INVALID
    assert isinstance(results["puzzle"], CriterionScore)
    assert len(fakes["vision"].requests) == 6


async def test_a_judge_may_say_that_the_evidence_is_not_enough() -> None:
    panel, _ = _panel(puzzle=lambda request: _levels(request, INSUFFICIENT))
    assert (await panel.judge(CASE, Calls()))["puzzle"] is NoVote.INSUFFICIENT


async def test_a_refused_request_makes_its_judge_unavailable_without_a_repair() -> None:
    def refuse(request: CompletionRequest) -> str:
        raise RefusedError("no pictures here")

    panel, fakes = _panel(vision=refuse)
    results = await panel.judge(CASE, Calls())
    assert results["novelty"] is NoVote.UNAVAILABLE
    assert len(fakes["vision"].requests) == 3


async def test_an_outage_of_one_route_ends_the_whole_round() -> None:
    def down(request: CompletionRequest) -> str:
        raise ThrottledError("slow down", 9.0)

    panel, _ = _panel(puzzle=down)
    with pytest.raises(OutageError) as raised:
        await panel.judge(CASE, Calls())
    assert raised.value.retry_after == 9.0


async def test_while_a_route_rests_no_judge_is_called() -> None:
    def down(request: CompletionRequest) -> str:
        raise UnavailableError("connection refused")

    panel, fakes = _panel(puzzle=down)
    for _ in range(2):
        with pytest.raises(OutageError):
            await panel.judge(CASE, Calls())
    before = sum(len(fake.requests) for fake in fakes.values())
    with pytest.raises(OutageError, match="rests"):
        await panel.judge(CASE, Calls())
    assert sum(len(fake.requests) for fake in fakes.values()) == before


async def test_a_bug_is_not_taken_for_an_outage() -> None:
    def broken(request: CompletionRequest) -> str:
        raise KeyError("bug")

    panel, _ = _panel(puzzle=broken)
    with pytest.raises(KeyError):
        await panel.judge(CASE, Calls())


async def test_only_the_vision_judge_is_shown_pictures() -> None:
    panel, fakes = _panel()
    await panel.judge(CASE, Calls())

    def kinds(name: str) -> set[Any]:
        return {type(request.messages[1]["content"]) for request in fakes[name].requests}

    assert kinds("vision") == {list}
    assert kinds("state") == kinds("puzzle") == {str}
