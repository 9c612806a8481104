"""The thread of a planner never blocks the thread that plays."""

import asyncio
import contextlib
import json
import os
import pickle
import threading
from contextlib import asynccontextmanager

import pytest

from rlaif.llm.ports import Answer
from rlaif.testing.waiting import eventually
from rlaif.trainer.planning.planner import MODES, ThreadedPlanner
from rlaif.trainer.settings.planner import PlannerSettings

SUGGESTION = json.dumps({"reason": "go on", "button": "UP"})


class Quick:
    async def complete(self, request):
        return Answer(SUGGESTION)


class Hanging:
    async def complete(self, request):
        await asyncio.Event().wait()


class Broken:
    async def complete(self, request):
        raise ZeroDivisionError("a bug")


class DeafToCancelling:
    def __init__(self):
        self.may_end = threading.Event()

    async def complete(self, request):
        while not self.may_end.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)
        raise ZeroDivisionError


def routes(model):
    @asynccontextmanager
    async def opened(settings):
        yield dict.fromkeys(MODES, model)

    return opened


@pytest.fixture
def planner():
    made = []

    def make(model, **settings):
        made.append(
            ThreadedPlanner(
                PlannerSettings(**{"calls_per_second": 1_000} | settings), routes(model)
            )
        )
        return made[-1]

    yield make
    for each in made:
        each.close()


async def replies_of(planner, number):
    found = []

    def enough():
        found.extend(planner.replies())
        return len(found) >= number

    await eventually(enough, f"{number} replies")
    return found


def test_asking_does_not_wait_for_a_model_that_hangs(planner, question):
    asking = planner(Hanging(), in_flight=4, in_flight_total=8)
    asking.ask(question())  # its thread starts
    taken = 0
    for number in range(2000):
        mode = MODES[number % 3]
        taken += asking.ask(question(mode=mode))
        assert asking.replies() == []  # a call takes for ever
    assert taken == 7
    in_flight = asking.counts().in_flight
    assert sum(in_flight.values()) == 8
    assert max(in_flight.values()) <= 4


def test_the_end_ends_the_thread_whatever_is_under_way(planner, question):
    before = set(threading.enumerate())
    asking = planner(Hanging())
    asking.ask(question())
    asking.close()
    assert set(threading.enumerate()) <= before
    assert asking.replies() == []
    assert not asking.ask(question())
    asking.close()


def test_the_end_does_not_wait_for_a_call_that_cannot_be_cancelled(planner, question):
    deaf = DeafToCancelling()
    asking = planner(deaf)
    asking.ask(question())
    asking.close()  # the call ends after it alone
    deaf.may_end.set()


async def test_a_failing_call_is_an_error_and_does_not_affect_the_next(planner, question, caplog):
    asking = planner(Broken())
    for _ in range(2):
        assert asking.ask(question())
        (reply,) = await replies_of(asking, 1)
        assert (reply.outcome, reply.detail) == ("error", "ZeroDivisionError")
    assert "unexpected error in a call of the planner" in caplog.text


async def test_routes_that_cannot_be_opened_drop_the_question_and_end_the_planner(question, caplog):
    def no_routes(settings):
        raise OSError("no such file")

    asking = ThreadedPlanner(PlannerSettings(), no_routes)
    assert asking.ask(question())
    (reply,) = await replies_of(asking, 1)
    assert reply.outcome == "dropped"
    assert not asking.ask(question())
    asking.close()
    assert "planner failed" in caplog.text


def test_it_stays_in_the_process_that_made_it(planner):
    with pytest.raises(TypeError, match="create it in the process"):
        pickle.dumps(planner(Quick()))


def test_in_a_forked_child_it_is_closed_and_waits_for_nothing(planner, question, monkeypatch):
    asking = planner(Quick())
    parent = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: parent + 1)  # as a child would have
    assert not asking.ask(question())
    assert asking.replies() == []
    asking.close()
    monkeypatch.undo()
    assert asking.ask(question(kind="suggestion"))
