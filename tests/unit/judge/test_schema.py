import asyncio
import json
import math
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from rlaif.contracts.judging.evidence import Evidence, Moment, Span
from rlaif.contracts.judging.scores import JudgeCallRecord
from rlaif.judge.panel.panel import Case, Panel
from rlaif.judge.panel.schema import (
    RATIONALE_CHARACTERS,
    InvalidAnswerError,
    Verdict,
    answer_schema,
    read_answer,
)
from rlaif.judge.rubric.judges import INSUFFICIENT, JUDGES, Judge, briefed
from rlaif.judge.rubric.votes import NoVote
from rlaif.judge.settings import VoteSettings
from rlaif.llm.connections import Connections
from rlaif.llm.openai import OpenAiModel
from rlaif.llm.ports import InvalidReplyError
from rlaif.llm.reply import read_completion
from rlaif.llm.route import Route, RouteLimits
from rlaif.llm.settings import CallSettings
from rlaif.testing.data.judging.bad_answers import BadAnswer, bad_answers, completion

STATE = JUDGES[0]
GOOD: dict[str, Any] = {
    "rationale": "Two new rooms.",
    "progress": 2,
    "dialog": INSUFFICIENT,
    "efficiency": 0,
}


def test_the_schema_asks_for_the_rationale_before_the_levels() -> None:
    schema = answer_schema(STATE)
    assert list(schema["properties"]) == ["rationale", "progress", "dialog", "efficiency"]
    assert schema["required"] == list(schema["properties"])
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "2",
        "progress: 2",
        json.dumps(GOOD) + json.dumps(GOOD | {"progress": 1}),
        json.dumps(GOOD)[:-5],
        json.dumps(GOOD | {"progress": 3}),
        json.dumps(GOOD | {"progress": -1}),
        json.dumps(GOOD | {"progress": 11}),
        json.dumps(GOOD | {"progress": 0.5}),
        json.dumps(GOOD | {"progress": "2/2"}),
        json.dumps(GOOD | {"progress": True}),
        json.dumps(GOOD | {"progress": None}),
        json.dumps(GOOD | {"progress": [2]}),
        json.dumps(GOOD | {"progress": math.nan}),
        json.dumps(GOOD | {"progress": math.inf}),
        json.dumps(GOOD | {"rationale": 7}),
        json.dumps(GOOD | {"rationale": "half a character: \ud83d"}),
        json.dumps({name: value for name, value in GOOD.items() if name != "dialog"}),
        '{"rationale": "", "progress": 0, "progress": 2, "dialog": 1, "efficiency": 1}',
        "[" * 100_000,
        '{"progress": ' + "9" * 8000 + "}",
        json.dumps(GOOD | {"rationale": "x" * 40_000}),
    ],
)
def test_an_answer_that_does_not_fit_is_invalid_as_a_whole(text: str) -> None:
    with pytest.raises(InvalidAnswerError):
        read_answer(STATE, text)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(GOOD | {"progress": "2", "efficiency": 0.0}),
        json.dumps(GOOD | {"progress": " 2.0 ", "dialog": "Insufficient evidence"}),
        json.dumps(GOOD | {"score": 2}),
    ],
)
def test_a_number_or_a_choice_may_be_written_in_any_way(text: str) -> None:
    assert read_answer(STATE, text).levels == {"progress": 2, "dialog": None, "efficiency": 0}


def test_a_long_rationale_is_cut_to_what_is_stored() -> None:
    verdict = read_answer(STATE, json.dumps(GOOD | {"rationale": "x" * 10_000}))
    assert verdict.rationale == "x" * RATIONALE_CHARACTERS


COUNT = 10_000
GAME = "seedling-vale"
ON_QUEST = briefed(STATE, GAME)


def _keys(judge: Judge) -> tuple[str, ...]:
    """What the judge is asked for besides its rationale."""
    return tuple(answer_schema(judge)["properties"])[1:]


def _read(judge: Judge, bad: BadAnswer) -> Verdict | None:
    try:
        return read_answer(judge, read_completion(bad.body).text)
    except (InvalidReplyError, InvalidAnswerError):
        return None


@pytest.mark.parametrize("judge", [STATE, ON_QUEST], ids=["levels", "quest"])
def test_none_of_ten_thousand_bad_answers_is_read_and_none_crashes_the_reader(
    judge: Judge,
) -> None:
    kinds: dict[str, int] = {}
    for bad in bad_answers(_keys(judge), number=COUNT, seed=1):
        kinds[bad.kind] = kinds.get(bad.kind, 0) + 1
        # The adapter stops large bodies before they are read; the next test sees to that.
        if bad.kind not in ("10 MB", "endless"):
            assert _read(judge, bad) is None, bad
    assert sum(kinds.values()) == COUNT
    assert len(kinds) >= 30


@pytest.mark.parametrize("value", [1, 2])
def test_what_the_bad_answers_are_made_of_is_good_so_they_are_bad_for_their_kind_alone(
    value: int,
) -> None:
    good = {"rationale": "walked on"} | dict.fromkeys(_keys(ON_QUEST), value)
    verdict = _read(ON_QUEST, BadAnswer("good", completion(json.dumps(good))))
    assert verdict is not None
    assert verdict.quest is not None


class Body(httpx.AsyncByteStream):
    def __init__(self, bad: BadAnswer) -> None:
        self._bad = bad

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._bad.chunks():
            yield chunk
            await asyncio.sleep(0)


@pytest.mark.parametrize(("seed", "game"), [(2, None), (3, GAME)])
async def test_no_bad_answer_becomes_a_score_on_the_whole_way_through_a_panel(
    seed: int, game: str | None
) -> None:
    answers = bad_answers(_keys(briefed(STATE, game)), number=400, seed=seed)

    def serve(request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            return httpx.Response(404)  # no list of models
        return httpx.Response(200, stream=Body(next(answers)))

    outcomes: list[str] = []

    async def called(record: JudgeCallRecord) -> None:
        outcomes.append(record.outcome)

    def client() -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=httpx.MockTransport(serve))

    async with Connections(client) as connections:
        model = OpenAiModel(connections, "http://llm/dialog", CallSettings())
        route = Route("/dialog", model, RouteLimits(concurrency=1))
        panel = Panel((STATE,), {"state": route}, VoteSettings(votes=1))
        for at in range(200):
            evidence = Evidence(segment=Span(steps=at), end=Moment(game=game))
            found = await panel.judge(Case(evidence), called)
            assert found.quest is None
            assert set(found.results.values()) == {NoVote.INVALID}
    assert outcomes == ["invalid"] * 400
    assert route.resting == 0
