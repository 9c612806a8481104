import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest

from rlaif.contracts.evidence import Evidence, Span
from rlaif.contracts.scores import JudgeCallRecord
from rlaif.judge.panel.panel import Case, Panel
from rlaif.judge.panel.schema import InvalidAnswerError, Verdict, read_answer
from rlaif.judge.routes.openai import OpenAiModel, read_completion
from rlaif.judge.routes.ports import InvalidReplyError
from rlaif.judge.routes.route import Route, RouteLimits
from rlaif.judge.rubric.judges import JUDGES, Judge
from rlaif.judge.rubric.votes import NoVote
from rlaif.judge.settings import CallSettings, VoteSettings
from rlaif.testing.data.bad_answers import BadAnswer, bad_answers, completion

COUNT = 10_000
STATE = JUDGES[0]
NAMES = tuple(criterion.name for criterion in STATE.criteria)


def _read(judge: Judge, bad: BadAnswer) -> Verdict | None:
    try:
        return read_answer(judge, read_completion(bad.body).text)
    except (InvalidReplyError, InvalidAnswerError):
        return None


def test_none_of_ten_thousand_bad_answers_is_read_and_none_crashes_the_reader() -> None:
    kinds: dict[str, int] = {}
    for bad in bad_answers(NAMES, number=COUNT, seed=1):
        kinds[bad.kind] = kinds.get(bad.kind, 0) + 1
        # The adapter stops large bodies before they are read; the next test sees to that.
        if bad.kind not in ("10 MB", "endless"):
            assert _read(STATE, bad) is None, bad
    assert sum(kinds.values()) == COUNT
    assert len(kinds) > 30


def test_a_good_answer_is_read_so_the_test_above_can_fail() -> None:
    good = '{"rationale": "walked on", "progress": 1, "dialog": 0, "efficiency": 2}'
    verdict = _read(STATE, BadAnswer("good", completion(good)))
    assert verdict is not None
    assert verdict.levels == {"progress": 1, "dialog": 0, "efficiency": 2}


class Body(httpx.AsyncByteStream):
    def __init__(self, bad: BadAnswer) -> None:
        self._bad = bad

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._bad.chunks():
            yield chunk
            await asyncio.sleep(0)


@pytest.mark.parametrize("seed", [2, 3])
async def test_no_bad_answer_becomes_a_score_on_the_whole_way_through_a_panel(seed: int) -> None:
    answers = bad_answers(NAMES, number=400, seed=seed)

    def serve(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, stream=Body(next(answers)))

    outcomes: list[str] = []

    async def called(record: JudgeCallRecord) -> None:
        outcomes.append(record.outcome)

    async with httpx.AsyncClient(transport=httpx.MockTransport(serve)) as client:
        model = OpenAiModel(client, "http://llm/dialog", CallSettings())
        route = Route("/dialog", model, RouteLimits(CallSettings(concurrency=1)))
        panel = Panel((STATE,), {"state": route}, VoteSettings(votes=1))
        for at in range(200):
            found = await panel.judge(Case(Evidence(segment=Span(steps=at))), called)
            assert set(found.results.values()) == {NoVote.INVALID}
    assert outcomes == ["invalid"] * 400
    assert route.resting == 0
