import asyncio
import json
from collections.abc import AsyncIterator

import httpx
import pytest

from rlaif.contracts.judging.evidence import Evidence, Moment, Span
from rlaif.contracts.judging.scores import JudgeCallRecord
from rlaif.judge.panel.panel import Case, Panel
from rlaif.judge.panel.schema import InvalidAnswerError, Verdict, answer_schema, read_answer
from rlaif.judge.rubric.judges import JUDGES, Judge, briefed
from rlaif.judge.rubric.votes import NoVote
from rlaif.judge.settings import VoteSettings
from rlaif.llm.connections import Connections
from rlaif.llm.openai import OpenAiModel
from rlaif.llm.ports import InvalidReplyError
from rlaif.llm.reply import read_completion
from rlaif.llm.route import Route, RouteLimits
from rlaif.llm.settings import CallSettings
from rlaif.testing.data.judging.bad_answers import BadAnswer, bad_answers, completion

COUNT = 10_000
STATE, GAME = JUDGES[0], "seedling-vale"
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
