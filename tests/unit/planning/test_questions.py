"""Which questions are asked, and which reply each gets; time passes as a test says."""

import asyncio
import json
from collections import Counter

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from rlaif.contracts.planning.briefing import Briefing
from rlaif.contracts.planning.plans import MoveTo, Plan
from rlaif.llm.ports import (
    Answer,
    CallTimeoutError,
    RefusedError,
    ThrottledError,
    UnavailableError,
)
from rlaif.llm.route import Route
from rlaif.trainer.planning.planner import MODES, call, make_limiters, route_limits
from rlaif.trainer.planning.questions import MAX_SHARING, Questions
from rlaif.trainer.play.planner_counts import PlannerCounts
from rlaif.trainer.play.planner_port import PlannerQuestion
from rlaif.trainer.settings.planner import PlannerSettings

PLAN = Plan(reason="go", macros=(MoveTo(column=1, row=2),), confidence=0.5)
GOOD = Answer(PLAN.model_dump_json())
BUTTON = Answer(json.dumps({"reason": "", "button": "A"}))
ENDS = {
    "invalid": Answer("no plan"),
    "timeout": CallTimeoutError("why"),
    "throttled": ThrottledError("why"),
    "refused": RefusedError("why", 401),
    "error": UnavailableError("why"),
}
"""Outcome of a call that fails: what the model answers or raises."""
SMALL = PlannerSettings(
    in_flight=2, in_flight_total=3, failures=2, pause_seconds=10, calls_per_second=1_000
)


class Desk:
    """Questions and the routes that answer them, with a model that answers as a test says."""

    def __init__(self, settings):
        self.now, self.settings = 0.0, settings
        self.limiters = make_limiters(settings)
        self.questions = Questions(
            self.limiters,
            cached_answers=settings.cached_answers,
            cache_seconds=settings.cache_seconds,
            clock=lambda: self.now,
        )
        self.routes = {
            mode: Route(mode, self, route_limits(settings), limiter=limiter, clock=lambda: self.now)
            for mode, limiter in self.limiters.items()
        }
        self.counts, self.replies = self.questions.counts, self.questions.replies
        self.close, self.end = self.questions.close, GOOD
        self.loop = asyncio.new_event_loop()

    async def complete(self, request):
        if isinstance(self.end, Exception):
            raise self.end
        return self.end

    def take(self, question, now):
        self.now = now
        return self.questions.take(question)

    def refuses(self, mode, kind, prefix, now):
        self.now = now
        return self.questions.refuses(mode, kind, prefix)

    def settle(self, question, end, now):
        self.now, self.end = now, end
        calling = call(self.routes[question.mode], question, self.settings, seed=0)
        self.questions.settle(question, self.loop.run_until_complete(calling))

    def give_up(self, detail, now):
        self.now = now
        self.questions.give_up(detail)


@pytest.fixture(autouse=True)
def close_loops(monkeypatch):
    made = []
    new = asyncio.new_event_loop

    def remembered():
        made.append(new())
        return made[-1]

    monkeypatch.setattr(asyncio, "new_event_loop", remembered)
    yield
    for loop in made:
        loop.close()


def test_no_more_calls_a_second_are_made_than_allowed_whatever_they_take(question):
    desk = Desk(PlannerSettings(calls_per_second=0.5))
    made = 0
    for tenth in range(600):
        asked = question()
        if desk.take(asked, tenth / 10) == "call":
            made += 1
            desk.settle(asked, GOOD, tenth / 10)
    assert made == 2 + 29, "two at once at first, then one in two seconds"
    assert desk.counts().by_mode["dialog"].not_asked == {"paced": 600 - made}


def test_it_says_beforehand_what_it_refuses_and_counts_that_once(question):
    desk = Desk(SMALL)
    for room in ("cave", "shop"):
        assert not desk.refuses("dialog", "plan", room, 0.0)
        assert desk.take(question(situation=f"{room}/1"), 0.0) == "call"
    assert desk.refuses("dialog", "plan", "wood", 0.0), "busy"
    assert not desk.refuses("puzzle", "plan", "wood", 0.0), "another route"
    assert desk.counts().by_mode["dialog"].not_asked == {"busy": 1}


def test_who_could_have_the_answer_of_an_equal_question_is_not_refused_beforehand(question):
    desk = Desk(SMALL)
    first, second = (question(situation=f"{room}/1") for room in ("cave", "shop"))
    for each in (first, second, question(situation="wood/1")):
        desk.take(each, 0.0)
    desk.settle(first, GOOD, 1.0)
    desk.take(question(situation="wood/2"), 1.0)
    refused = [desk.refuses("dialog", "plan", room, 1.0) for room in ("cave", "shop", "lake")]
    assert refused == [False, False, True]
    assert desk.refuses("dialog", "suggestion", "cave", 1.0), "another kind of answer"


def test_what_costs_no_call_takes_nothing_of_the_pace(question):
    desk = Desk(PlannerSettings(calls_per_second=0.001))
    first = question(situation="a sign")
    desk.take(first, 0.0)
    shared = [desk.take(question(situation="a sign"), 0.0) for _ in range(5)]
    desk.settle(first, GOOD, 1.0)
    known = [desk.take(question(situation="a sign"), 2.0) for _ in range(5)]
    assert shared == known == ["waits"] * 5
    assert [desk.take(question(), 3.0) for _ in range(2)] == ["call", "refused"]


def test_a_reply_names_the_very_question_and_how_long_it_took(question):
    desk = Desk(SMALL)
    asked = question()
    desk.take(asked, 2.0)
    desk.settle(asked, GOOD, 5.5)
    (reply,) = desk.replies()
    assert reply.question is asked
    assert (reply.outcome, reply.plan, reply.latency_seconds, reply.cached) == (
        "ok",
        PLAN,
        3.5,
        False,
    )
    assert desk.replies() == []


def test_an_equal_situation_is_answered_without_a_call(question):
    desk = Desk(SMALL)
    first, second = (question(env=env, situation="a sign") for env in (0, 1))
    desk.take(first, 0.0)
    desk.settle(first, GOOD, 1.0)
    desk.replies()
    assert desk.take(second, 2.0) == "waits"
    (reply,) = desk.replies()
    assert (reply.question, reply.plan, reply.cached) == (second, PLAN, True)
    counts = desk.counts().by_mode["dialog"]
    assert (counts.asked, counts.outcomes, counts.cached) == (2, {"ok": 2}, 1)
    assert sum(counts.latency) == 1


def test_answers_grow_old(question):
    desk = Desk(PlannerSettings(cache_seconds=60))
    first = question(situation="a sign")
    desk.take(first, 0.0)
    desk.settle(first, GOOD, 0.0)
    assert desk.take(question(situation="a sign"), 59.9) == "waits"
    assert desk.take(question(situation="a sign"), 60.0) == "call"


@pytest.mark.parametrize("outcome", ["invalid", "timeout", "throttled", "refused", "error"])
def test_nothing_but_a_good_answer_is_kept(question, outcome):
    desk = Desk(PlannerSettings())
    first = question(situation="a sign")
    desk.take(first, 0.0)
    desk.settle(first, ENDS[outcome], 1.0)
    (reply,) = desk.replies()
    assert (reply.outcome, reply.plan, reply.suggestion) == (outcome, None, None)
    assert reply.detail
    assert desk.take(question(situation="a sign"), 1.0) == "call"


def test_equal_questions_at_once_share_one_call(question):
    desk = Desk(SMALL)
    asked = [question(env=env, situation="a sign") for env in range(4)]
    assert [desk.take(each, float(at)) for at, each in enumerate(asked)] == [
        "call",
        "waits",
        "waits",
        "waits",
    ]
    desk.settle(asked[0], GOOD, 10.0)
    replies = desk.replies()
    assert [reply.question for reply in replies] == asked
    assert [reply.cached for reply in replies] == [False, True, True, True]
    assert [reply.latency_seconds for reply in replies] == [10.0, 9.0, 8.0, 7.0]


def test_not_endlessly_many_wait_for_one_call(question):
    desk = Desk(SMALL)
    taken = Counter(desk.take(question(situation="x"), 0.0) for _ in range(MAX_SHARING + 5))
    assert taken == {"call": 1, "waits": MAX_SHARING - 1, "refused": 5}


def test_answers_that_do_not_fit_are_no_failure_of_the_route(question):
    desk = Desk(SMALL)
    for _ in range(10):
        odd = question()
        assert desk.take(odd, 0.0) == "call"
        desk.settle(odd, ENDS["invalid"], 0.0)


def test_after_the_end_no_call_is_accepted_and_no_listener_notified(question):
    desk = Desk(SMALL)
    asked = question()
    desk.take(asked, 0.0)
    desk.close()
    desk.settle(asked, GOOD, 1.0)
    assert desk.replies() == []
    assert desk.take(question(), 1.0) == "refused"
    assert desk.counts().in_flight == {}


def test_waiting_callers_are_notified_when_no_call_will_end(question):
    desk = Desk(SMALL)
    asked = [question(situation="x") for _ in range(2)]
    for each in asked:
        desk.take(each, 0.0)
    desk.give_up("the thread is gone", 1.0)
    assert [(reply.question, reply.outcome) for reply in desk.replies()] == [
        (each, "dropped") for each in asked
    ]
    assert desk.take(question(), 1.0) == "refused"


class Traffic(RuleBasedStateMachine):
    """Questions and ends in any order, at any time."""

    SETTINGS = PlannerSettings(
        in_flight=2,
        in_flight_total=4,
        failures=2,
        pause_seconds=5,
        cached_answers=2,
        calls_per_second=1_000,
    )

    def __init__(self) -> None:
        super().__init__()
        self.desk = Desk(self.SETTINGS)
        self.now = 0.0
        self.calls: list[PlannerQuestion] = []
        self.taken: list[PlannerQuestion] = []
        self.refused = 0
        self.replied: list[PlannerQuestion] = []
        self.counts = PlannerCounts()

    @rule(
        mode=st.sampled_from(MODES),
        kind=st.sampled_from(["plan", "suggestion"]),
        situation=st.sampled_from("abc"),
    )
    def ask(self, mode, kind, situation):
        asked = PlannerQuestion(0, mode, kind, f"{situation}/1", Briefing())
        foreseen = self.desk.refuses(mode, kind, situation, self.now)
        self.refused += foreseen
        taken = self.desk.take(asked, self.now)
        assert taken == "refused" or not foreseen
        if taken == "refused":
            self.refused += 1
            return
        self.taken.append(asked)
        if taken == "call":
            self.calls.append(asked)

    @rule(data=st.data(), outcome=st.sampled_from(["ok", *ENDS]))
    def end(self, data, outcome):
        if not self.calls:
            return
        asked = self.calls.pop(data.draw(st.integers(0, len(self.calls) - 1)))
        good = GOOD if asked.kind == "plan" else BUTTON
        self.desk.settle(asked, ENDS.get(outcome, good), self.now)

    @rule(seconds=st.floats(0, 20))
    def wait(self, seconds):
        self.now += seconds

    @rule()
    def listen(self):
        for reply in self.desk.replies():
            self.replied.append(reply.question)
            good = reply.plan if reply.question.kind == "plan" else reply.suggestion
            assert (reply.outcome == "ok") == (good is not None)
        self.counts += self.desk.counts()

    @invariant()
    def calls_stay_within_their_bounds(self):
        by_mode = Counter(call.mode for call in self.calls)
        assert all(number <= self.SETTINGS.in_flight for number in by_mode.values())
        assert by_mode.total() <= self.SETTINGS.in_flight_total

    def teardown(self):
        for asked in self.calls:
            self.desk.settle(asked, ENDS["timeout"], self.now)
        self.listen()
        self.desk.loop.close()
        # Each question that was taken has one reply, and all are counted once.
        assert Counter(map(id, self.replied)) == Counter(map(id, self.taken))
        modes = self.counts.by_mode.values()
        assert sum(each.asked for each in modes) == len(self.taken)
        assert sum(sum(each.outcomes.values()) for each in modes) == len(self.taken)
        assert sum(sum(each.not_asked.values()) for each in modes) == self.refused


TestTraffic = Traffic.TestCase
TestTraffic.settings = settings(max_examples=60, stateful_step_count=60, deadline=None)
