"""One call, with a model that does what a test says."""

import itertools
import json

import pytest

from rlaif.llm.ports import (
    Answer,
)
from rlaif.llm.route import Route
from rlaif.testing.data.bad_plans import HARMFUL, INVALID
from rlaif.trainer.planning.planner import MODES, call, make_limiters, route_limits
from rlaif.trainer.settings.planner import PlannerSettings

PLAN = {
    "reason": "the sign is near",
    "macros": [
        {
            "kind": "TALK", "room": None, "column": 3, "row": 4, "direction": None, "item": None,
            "choice": None,
        }
    ],
    "confidence": 0.5,
}  # fmt: skip
SUGGESTION = {"reason": "go on", "button": "UP"}


class Model:
    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests = []

    async def complete(self, request):
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Answer) else Answer(answer)


DEFAULTS = PlannerSettings()


class Calls:
    """Makes calls as the planner does."""

    def __init__(self, model, settings):
        self.model, self.settings, self.seeds = model, settings, itertools.count()

    async def ask(self, question):
        limiter = make_limiters(self.settings)[question.mode]
        assert limiter.enter(0.0) is None
        route = Route(question.mode, self.model, route_limits(self.settings), limiter=limiter)
        return await call(route, question, self.settings, seed=next(self.seeds))


def caller(model, settings=DEFAULTS):
    return Calls(model, settings)


async def test_a_plan_is_read_whole(question):
    answer = Answer(json.dumps(PLAN), prompt_tokens=3000, completion_tokens=80)
    end = await caller(Model(answer)).ask(question())
    assert end.outcome == "ok"
    assert [macro.kind for macro in end.answer.macros] == ["TALK"]
    assert (end.tokens_read, end.tokens_written) == (3000, 80)


@pytest.mark.parametrize("mode", MODES)
async def test_a_route_is_asked_for_its_own_model_in_the_shape_of_the_answer(question, mode):
    settings = PlannerSettings(temperature=0.7, max_tokens=99, vision_model="eyes")
    model = Model(json.dumps(PLAN), json.dumps(SUGGESTION))
    ask = caller(model, settings).ask
    await ask(question(mode=mode))
    await ask(question(mode=mode, kind="suggestion"))
    plan, suggestion = model.requests
    assert plan.model == {"dialog": "qwen25-7b", "puzzle": "qwen25-32b", "vision": "eyes"}[mode]
    assert (plan.temperature, plan.max_tokens) == (0.7, 99)
    assert list(plan.schema["properties"]) == ["reason", "macros", "confidence"]
    assert list(suggestion.schema["properties"]) == ["reason", "button"]
    assert plan.seed != suggestion.seed


@pytest.mark.parametrize("trick", INVALID)
@pytest.mark.parametrize("kind", ["plan", "suggestion"])
async def test_an_unparseable_answer_is_invalid_and_unused(question, kind, trick):
    end = await caller(Model(INVALID[trick]())).ask(question(kind=kind))
    assert (end.outcome, end.answer) == ("invalid", None)
    assert 0 < len(end.detail) <= 200


@pytest.mark.parametrize("trick", HARMFUL)
async def test_a_plan_that_does_no_good_is_still_a_plan(question, trick):
    assert (await caller(Model(HARMFUL[trick]())).ask(question())).outcome == "ok"


async def test_an_answer_that_was_cut_off_reports_it(question):
    end = await caller(Model(Answer('{"reason": "so', "length"))).ask(question())
    assert (end.outcome, end.detail[:7]) == ("invalid", "cut off")
    assert "TRAINER_PLANNER_CHAT_TEMPLATE_KWARGS" in end.detail
