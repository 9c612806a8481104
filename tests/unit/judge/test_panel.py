import asyncio
import contextlib
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rlaif.contracts.judging.evidence import Evidence, Moment, Rooms
from rlaif.contracts.judging.quest import QuestPosition
from rlaif.contracts.judging.scores import CriterionScore, JudgeCallRecord
from rlaif.judge.panel.calls import reported_outcome
from rlaif.judge.panel.panel import Case, Excluded, Panel
from rlaif.judge.panel.prompts import messages, tokens
from rlaif.judge.rubric.judges import INSUFFICIENT, JUDGES, Judge
from rlaif.judge.rubric.votes import NoVote
from rlaif.judge.settings import VoteSettings
from rlaif.llm.cache import AnswerCache
from rlaif.llm.ports import (
    Answer,
    BrokenRouteError,
    CallTimeoutError,
    CompletionRequest,
    InvalidReplyError,
    ModelError,
    OutageError,
    RefusedError,
    ThrottledError,
    UnavailableError,
)
from rlaif.llm.route import Route, RouteLimits
from rlaif.testing.waiting import PATIENCE_SECONDS

CASE = Case(Evidence(rooms=Rooms(first_visits=1)), b"png")
THREE = VoteSettings(votes=3)
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


def _panel(
    *,
    voting: VoteSettings = THREE,
    judges: tuple[Judge, ...] = JUDGES,
    excluded: Callable[[], Excluded] = dict,
    failures: int = 2,
    **replies: Reply,
) -> tuple[Panel, dict[str, Fake]]:
    fakes = {
        judge.name: Fake(replies.get(judge.name, lambda request: _levels(request, 2)))
        for judge in JUDGES
    }
    routes = {
        name: Route(
            f"/{name}",
            fake,
            RouteLimits(attempts=1, failures=failures, pause_seconds=30, patience_seconds=1.0),
            cache=AnswerCache(100),
        )
        for name, fake in fakes.items()
    }
    return Panel(judges, routes, voting, excluded=excluded), fakes


async def test_three_judges_vote_three_times_and_cover_the_rubric() -> None:
    panel, fakes = _panel()
    calls = Calls()
    results = (await panel.judge(CASE, calls)).results
    assert list(results) == ["progress", "dialog", "efficiency", "puzzle", "novelty"]
    assert all(isinstance(r, CriterionScore) and r.value == 1.0 for r in results.values())
    assert [len(fake.requests) for fake in fakes.values()] == [3, 3, 3]
    assert {record.outcome for record in calls.records} == {"ok"}
    assert len({record.prompt_sha256 for record in calls.records}) == 9
    assert {record.rationale for record in calls.records} == {"because"}


async def test_a_call_names_the_model_that_answered_and_the_configured_one_otherwise() -> None:
    class Only:
        """The only model of its server, whatever the request names; the second call fails."""

        calls = 0

        async def complete(self, request: CompletionRequest) -> Answer:
            self.calls += 1
            if self.calls == 2:
                raise RefusedError("no")
            return Answer(_levels(request, 1), model="SmolLM2")

    route = Route("/puzzle", Only(), RouteLimits(attempts=1))
    calls = Calls()
    await Panel((JUDGES[1],), {"puzzle": route}, VoteSettings(votes=2)).judge(CASE, calls)
    assert {r.outcome: r.model for r in calls.records} == {"ok": "SmolLM2", "error": "qwen25-32b"}


async def test_an_unreadable_answer_is_asked_for_once_more_with_another_seed() -> None:
    answers = iter(["no json"])
    panel, fakes = _panel(puzzle=lambda request: next(answers, _levels(request, 1)))
    calls = Calls()
    results = (await panel.judge(CASE, calls)).results
    assert results["puzzle"] == CriterionScore(
        value=0.5, votes=(1, 1, 1), agreement=1.0, judge="puzzle", soft=0.5
    )
    assert len(fakes["puzzle"].requests) == 4
    assert len({request.seed for request in fakes["puzzle"].requests}) == 4
    assert [r.outcome for r in calls.records if r.judge == "puzzle"].count("invalid") == 1


async def test_a_judge_that_only_writes_garbage_abstains_after_one_repair_a_vote() -> None:
    panel, fakes = _panel(vision=lambda request: '{"novelty": 11}')
    found = await panel.judge(CASE, Calls())
    results = found.results
    assert found.unread == ("vision",), "the segment is scored again"
    assert results["novelty"] is NoVote.INVALID
    assert isinstance(results["puzzle"], CriterionScore)
    assert len(fakes["vision"].requests) == 6


async def test_a_judge_may_say_that_the_evidence_is_not_enough() -> None:
    panel, _ = _panel(puzzle=lambda request: _levels(request, INSUFFICIENT))
    assert (await panel.judge(CASE, Calls())).results["puzzle"] is NoVote.INSUFFICIENT


async def test_a_refused_request_leaves_no_vote_without_a_repair() -> None:
    def refuse(request: CompletionRequest) -> str:
        raise RefusedError("no pictures here")

    panel, fakes = _panel(vision=refuse)
    results = (await panel.judge(CASE, Calls())).results
    assert results["novelty"] is NoVote.REQUEST_FAILED
    assert len(fakes["vision"].requests) == 3


async def test_an_outage_of_one_route_ends_the_whole_round() -> None:
    def down(request: CompletionRequest) -> str:
        raise ThrottledError("slow down", 9.0)

    panel, _ = _panel(puzzle=down)
    with pytest.raises(OutageError) as raised:
        await panel.judge(CASE, Calls())
    assert raised.value.retry_after == 9.0


async def test_while_a_route_is_paused_no_judge_is_called() -> None:
    def down(request: CompletionRequest) -> str:
        raise UnavailableError("connection refused")

    panel, fakes = _panel(puzzle=down)
    for _ in range(2):
        with pytest.raises(OutageError):
            await panel.judge(CASE, Calls())
    before = sum(len(fake.requests) for fake in fakes.values())
    with pytest.raises(OutageError, match="is paused"):
        await panel.judge(CASE, Calls())
    assert sum(len(fake.requests) for fake in fakes.values()) == before


def _out_of_use(panel: Panel, fakes: dict[str, Fake], *names: str, reason: str) -> None:
    """Routes with an outage that lasted too long."""
    for name in names:
        route = panel._routes[name]

        async def complete(request: CompletionRequest, **options: Any) -> Any:
            raise BrokenRouteError("refuses every call", reason)  # type: ignore[arg-type]  # one of the reasons

        route.complete = complete  # type: ignore[method-assign]  # its state is tested elsewhere
        route.broken = lambda modality: "refuses every call"  # type: ignore[method-assign]  # likewise
        route.is_healthy = lambda modality: False  # type: ignore[method-assign]  # likewise


async def test_a_route_out_of_use_leaves_its_criteria_unjudged_and_says_why() -> None:
    panel, fakes = _panel()
    _out_of_use(panel, fakes, "puzzle", reason="route_refused")
    results = (await panel.judge(CASE, Calls())).results
    assert results["puzzle"] is NoVote.ROUTE_REFUSED
    assert isinstance(results["progress"], CriterionScore)
    assert isinstance(results["novelty"], CriterionScore)


async def test_a_failing_last_route_is_no_remaining_judge() -> None:
    panel, fakes = _panel()
    _out_of_use(panel, fakes, "state", "puzzle", reason="route_refused")
    panel._routes["vision"].is_healthy = lambda modality: False  # type: ignore[method-assign]  # as _out_of_use
    case = Case(Evidence(), None, {"novelty": 0})  # and vision would not be asked
    with pytest.raises(OutageError, match="no judge can be asked"):
        await panel.judge(case, Calls())


async def test_what_needs_no_judge_is_scored_with_every_route_out_of_use() -> None:
    panel, fakes = _panel()
    _out_of_use(panel, fakes, "state", "puzzle", "vision", reason="route_down")
    decided = dict.fromkeys(["progress", "dialog", "efficiency", "puzzle", "novelty"], 1)
    found = await panel.judge(Case(Evidence(), None, decided), Calls())
    assert {score.value for score in found.results.values()} == {0.5}


@pytest.mark.parametrize(
    "error", [UnavailableError("500", status=500), RefusedError("400", 400)], ids=["500", "400"]
)
async def test_an_audit_that_fails_holds_no_score_back(error: Exception) -> None:
    def fail(request: CompletionRequest) -> str:
        raise error

    panel, fakes = _panel(vision=fail, failures=99)
    case = Case(Evidence(), b"png", {"novelty": 0}, audit=True)
    found = await panel.judge(case, Calls())
    assert isinstance(found.results["novelty"], CriterionScore)
    assert isinstance(found.results["progress"], CriterionScore)
    assert "novelty" not in found.audits
    # One attempt per vote.
    assert len(fakes["vision"].requests) == 3


async def test_a_slow_model_gets_the_time_for_an_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rlaif.judge.panel.panel.AUDIT_SECONDS", 0.0)
    panel, _ = _panel()
    panel._routes["vision"].stats.latencies.append(PATIENCE_SECONDS)
    case = Case(Evidence(), b"png", {"novelty": 0}, audit=True)
    assert set((await panel.judge(case, Calls())).audits) == {"novelty"}


async def test_an_audit_that_hangs_holds_a_score_back_for_a_bounded_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def hang(request: CompletionRequest) -> Answer:
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr("rlaif.judge.panel.panel.AUDIT_SECONDS", 0.05)
    panel, fakes = _panel()
    fakes["vision"].complete = hang  # type: ignore[method-assign]  # the one that hangs
    case = Case(Evidence(), b"png", {"novelty": 0}, audit=True)
    async with asyncio.timeout(PATIENCE_SECONDS):
        found = await panel.judge(case, Calls())
    assert found.audits == {}
    assert isinstance(found.results["novelty"], CriterionScore)


async def test_a_bug_is_not_taken_for_an_outage() -> None:
    def broken(request: CompletionRequest) -> str:
        raise KeyError("bug")

    panel, _ = _panel(puzzle=broken)
    with pytest.raises(KeyError):
        await panel.judge(CASE, Calls())


async def test_what_is_decided_is_not_asked_and_reported_as_computed() -> None:
    panel, fakes = _panel()
    decided: dict[str, int | NoVote] = {
        "novelty": 1,
        "efficiency": 0,
        "dialog": NoVote.INSUFFICIENT,
        "puzzle": NoVote.INSUFFICIENT,
    }
    found = await panel.judge(Case(Evidence(), None, decided), Calls())
    novelty = found.results["novelty"]
    assert isinstance(novelty, CriterionScore)
    assert (novelty.source, novelty.judge, novelty.value) == ("computed", "ram", 0.5)
    assert found.results["dialog"] is NoVote.INSUFFICIENT
    assert [len(fake.requests) for fake in fakes.values()] == [3, 0, 0]
    assert "efficiency" not in fakes["state"].requests[0].schema["properties"]
    # Dialog was on the state judge's sheet and has a vote, but it is decided.
    assert set(found.audits) == {"dialog"}


async def test_an_audit_asks_what_is_computed_and_keeps_the_votes_apart() -> None:
    panel, fakes = _panel()
    found = await panel.judge(Case(Evidence(), b"png", {"novelty": 0}, audit=True), Calls())
    novelty = found.results["novelty"]
    assert isinstance(novelty, CriterionScore)
    assert novelty.value == 0.0
    assert found.audits["novelty"].value == 1.0
    assert len(fakes["vision"].requests) == 3


async def test_a_judge_that_is_not_believed_is_not_asked_and_leaves_no_score() -> None:
    panel, fakes = _panel(excluded=lambda: {"vision": frozenset({"novelty"})})
    found = await panel.judge(CASE, Calls())
    assert found.results["novelty"] is NoVote.DISTRUSTED
    assert fakes["vision"].requests == []
    assert found.unread == ()


async def test_an_excluded_criterion_does_not_count_and_the_others_do() -> None:
    panel, fakes = _panel(excluded=lambda: {"state": frozenset({"dialog"})})
    found = await panel.judge(CASE, Calls())
    assert found.results["dialog"] is NoVote.DISTRUSTED
    assert isinstance(found.results["progress"], CriterionScore)
    assert len(fakes["state"].requests) == 3
    assert found.unread == ()
    # Its accuracy is measured nevertheless.
    assert isinstance(found.heard["dialog"], CriterionScore)


async def test_an_audit_hears_a_judge_that_is_not_believed() -> None:
    panel, fakes = _panel(excluded=lambda: {"puzzle": frozenset({"puzzle"})})
    found = await panel.judge(Case(Evidence(), b"png", {"novelty": 0}, audit=True), Calls())
    assert found.results["puzzle"] is NoVote.DISTRUSTED
    assert isinstance(found.heard["puzzle"], CriterionScore)
    assert len(fakes["puzzle"].requests) == 3


async def test_a_prompt_that_its_model_cannot_take_is_not_sent() -> None:
    small = tuple(replace(judge, context_tokens=700) for judge in JUDGES)
    panel, fakes = _panel(judges=small)
    found = await panel.judge(CASE, Calls())
    assert set(found.results.values()) == {NoVote.OVER_BUDGET}
    assert all(fake.requests == [] for fake in fakes.values())


async def test_an_event_that_comes_again_asks_only_what_was_not_answered() -> None:
    down = [True]

    def broken_once(request: CompletionRequest) -> str:
        if down[0]:
            raise UnavailableError("down")
        return _levels(request, 1)

    async def late(request: CompletionRequest) -> Answer:
        # The other judges answer first.
        for _ in range(50):
            await asyncio.sleep(0)
        return await plain(request)

    panel, fakes = _panel(failures=9, vision=broken_once)
    plain = fakes["vision"].complete
    fakes["vision"].complete = late  # type: ignore[method-assign]  # the slow one
    with pytest.raises(OutageError):
        await panel.judge(CASE, Calls())
    down[0] = False
    calls = Calls()
    await panel.judge(CASE, calls)
    assert len(fakes["state"].requests) == 3
    cached = {record.judge for record in calls.records if record.cached}
    assert cached == {"state", "puzzle"}
    assert all(r.prompt_tokens is None for r in calls.records if r.cached)


async def test_every_call_reports_why_it_stopped_and_what_it_cost() -> None:
    async def tell(request: CompletionRequest) -> Answer:
        text = _levels(request, 1)
        return Answer(text, "length", prompt_tokens=90, completion_tokens=9, cached_tokens=64)

    panel, fakes = _panel()
    fakes["state"].complete = tell  # type: ignore[method-assign]  # a server that reports everything
    calls = Calls()
    await panel.judge(CASE, calls)
    (record,) = {
        (r.finish_reason, r.prompt_tokens, r.completion_tokens, r.cached_tokens)
        for r in calls.records
        if r.judge == "state"
    }
    assert record == ("length", 90, 9, 64)


@pytest.mark.parametrize(
    ("error", "fault", "outcome"),
    [
        (RefusedError("no", 401), "refused", "error"),
        (UnavailableError("x", status=502), "server_error", "error"),
        (UnavailableError("x"), "unreachable", "error"),
        (CallTimeoutError("x", "connect"), "connect_timeout", "timeout"),
        (CallTimeoutError("x"), "total_timeout", "timeout"),
        (ThrottledError("x", status=429), "throttled", "throttled"),
        (InvalidReplyError("x"), "no_completion", "invalid"),
    ],
)
async def test_every_failed_call_reports_what_went_wrong(
    error: ModelError, fault: str, outcome: str
) -> None:
    def fail(request: CompletionRequest) -> str:
        raise error

    panel, _ = _panel(puzzle=fail, failures=99)
    calls = Calls()
    with contextlib.suppress(OutageError):
        await panel.judge(CASE, calls)
    failed = next(record for record in calls.records if record.judge == "puzzle")
    assert (failed.fault, failed.outcome, failed.status) == (fault, outcome, error.status)


async def test_every_call_reports_what_it_takes_to_repeat_it() -> None:
    panel, _ = _panel()
    calls = Calls()
    await panel.judge(CASE, calls)
    by_variant = {r.variant for r in calls.records if r.judge == "state"}
    assert by_variant == {0, 1, 2}
    assert len({r.system_sha256 for r in calls.records}) == 3
    assert all(r.answer and json.loads(r.answer) for r in calls.records)


IN_THE_VALE = Case(Evidence(end=Moment(game="seedling-vale")), b"png")


def _standing(request: CompletionRequest, start: int, end: int, **changes: int | str) -> str:
    """An answer of the state judge: on the way to objective 3, so many half screens from it."""
    reported = {
        "objective_start": 3,
        "distance_start": start,
        "objective_end": 3,
        "distance_end": end,
    }
    names = request.schema["properties"]
    return json.dumps(
        json.loads(_levels(request, 1)) | {n: reported[n] for n in reported if n in names} | changes
    )


async def test_a_game_with_a_guide_is_judged_by_where_the_player_stands() -> None:
    distances = iter([(6, 2), (4, 2), (5, 2)])
    panel, fakes = _panel(state=lambda request: _standing(request, *next(distances)))
    found = await panel.judge(IN_THE_VALE, Calls())
    assert found.quest is not None
    assert found.quest.start == QuestPosition(objective=3, distance=5)
    assert found.quest.end == QuestPosition(objective=3, distance=2)
    progress = found.results["progress"]
    assert isinstance(progress, CriterionScore)
    assert (progress.value, progress.votes, progress.source) == (1.0, (2, 2, 2), "votes")
    assert list(found.results) == ["progress", "dialog", "efficiency", "puzzle", "novelty"]
    for fake in fakes.values():
        assert "Briar Blade" in str(fake.requests[0].messages[0]["content"])


async def test_an_unplaceable_quest_is_an_abstention_of_progress_only() -> None:
    panel, _ = _panel(state=lambda r: _standing(r, 2, 2, objective_end=INSUFFICIENT))
    found = await panel.judge(IN_THE_VALE, Calls())
    assert found.quest is None
    assert found.results["progress"] is NoVote.INSUFFICIENT
    assert isinstance(found.results["dialog"], CriterionScore)


async def test_progress_that_is_decided_leaves_nothing_to_say_of_the_quest() -> None:
    panel, _ = _panel(state=lambda request: _standing(request, 4, 2))
    case = replace(IN_THE_VALE, decided={"progress": 0}, audit=True)
    found = await panel.judge(case, Calls())
    assert found.quest is None
    assert found.audits["progress"].value == 1.0
    assert isinstance(found.results["progress"], CriterionScore)
    assert found.results["progress"].value == 0.0


class Limited:
    """A model that needs so many tokens for its answer, and is cut off with fewer."""

    def __init__(self, needs: int, text: str = "Let me think about the button ") -> None:
        self.needs = needs
        self.text = text
        self.asked: list[int] = []

    async def complete(self, request: CompletionRequest) -> Answer:
        self.asked.append(request.max_tokens)
        if request.max_tokens < self.needs:
            return Answer(self.text, "length")
        return Answer(_levels(request, 2), "stop")


async def _asked(model: Limited, **judge: Any) -> tuple[CriterionScore | NoVote, Calls]:
    puzzle = replace(JUDGES[1], **judge)
    route = Route("/puzzle", model, RouteLimits(attempts=1))
    calls = Calls()
    panel = Panel((puzzle,), {"puzzle": route}, VoteSettings(votes=1, max_tokens=100))
    return (await panel.judge(CASE, calls)).results["puzzle"], calls


async def test_a_cut_off_answer_is_asked_for_again_with_twice_the_tokens() -> None:
    model = Limited(needs=200)
    score, calls = await _asked(model)
    assert isinstance(score, CriterionScore)
    assert model.asked == [100, 200]
    assert [reported_outcome(record) for record in calls.records] == ["length", "ok"]


async def test_an_answer_that_is_cut_off_again_is_lost_and_says_what_to_set(
    caplog: pytest.LogCaptureFixture,
) -> None:
    model = Limited(needs=1000)
    lost, calls = await _asked(model)
    assert lost is NoVote.CUT_OFF
    assert model.asked == [100, 200]
    assert "JUDGE_THINKING_TOKENS" in str(calls.records[-1].detail)
    assert (calls.records[-1].outcome, calls.records[-1].fault) == ("invalid", "length")
    assert len([r for r in caplog.records if "JUDGE_THINKING_TOKENS" in r.message]) == 1


@pytest.mark.parametrize("tail", [" " * 200, "\n\t" * 100, "very " * 60], ids=repr)
async def test_an_answer_that_runs_away_is_not_asked_for_again(tail: str) -> None:
    model = Limited(needs=1000, text='{"rationale": "it pressed"' + tail)
    lost, calls = await _asked(model)
    assert lost is NoVote.CUT_OFF
    assert model.asked == [100]
    assert "running away" in str(calls.records[0].detail)


async def test_a_model_without_room_for_more_is_not_asked_for_more() -> None:
    prompt = tokens(messages(JUDGES[1], CASE.evidence, None, variant=0))
    model = Limited(needs=200)
    lost, _ = await _asked(model, context_tokens=prompt + 150)
    assert lost is NoVote.CUT_OFF
    assert model.asked == [100]


async def test_a_whole_answer_counts_though_white_space_ran_on_after_it() -> None:
    model = Limited(needs=1000, text='{"rationale": "it pressed", "puzzle": 2}' + " " * 300)
    score, _ = await _asked(model)
    assert isinstance(score, CriterionScore)
    assert model.asked == [100]
