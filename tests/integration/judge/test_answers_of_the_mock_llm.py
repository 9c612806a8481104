"""The judges' prompts, sent through the client to the mock LLM: valid and spoiled answers."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from rlaif.judge.evidence.described import described
from rlaif.judge.evidence.summary import summarise
from rlaif.judge.panel.prompts import messages
from rlaif.judge.panel.schema import InvalidAnswerError, answer_schema, read_answer
from rlaif.judge.rubric.judges import JUDGES
from rlaif.llm.connections import Connections
from rlaif.llm.openai import OpenAiModel, connections_to
from rlaif.llm.ports import CompletionRequest, UnavailableError
from rlaif.llm.settings import CallSettings
from rlaif.testing.data.segments import described_state, screen_png, state_records

TIMES = CallSettings(connect_seconds=1.0, total_seconds=1.0)


@pytest.fixture
async def connections() -> AsyncIterator[Connections]:
    async with connections_to(TIMES, api_key="secret") as made:
        yield made


def _request(at: int = 0) -> CompletionRequest:
    judge = JUDGES[at]
    evidence = summarise(described(state_records([described_state(n) for n in range(75)])))
    return CompletionRequest(
        model=judge.model,
        messages=messages(judge, evidence, screen_png(), variant=0),
        schema_name="verdict",
        schema=answer_schema(judge),
        seed=1,
        temperature=0.0,
        max_tokens=256,
    )


async def _fault(stand_in: Any, connections: Connections, fault: str) -> Any:
    await stand_in.fail(f"{fault}:1")
    return await OpenAiModel(connections, f"{stand_in.url}/dialog", TIMES).complete(_request())


@pytest.mark.parametrize("at", range(3), ids=lambda at: JUDGES[at].name)
async def test_every_judge_gets_a_valid_answer(
    stand_in: Any, connections: Connections, at: int
) -> None:
    judge = JUDGES[at]
    model = OpenAiModel(connections, f"{stand_in.url}{judge.route}", TIMES)
    answer = await model.complete(_request(at))
    verdict = read_answer(judge, answer.text)
    assert set(verdict.levels) == {criterion.name for criterion in judge.criteria}
    assert verdict.rationale
    assert answer.finish_reason == "stop"
    assert answer.engine == "rlaif-mock-llm"
    assert answer.prompt_tokens
    assert answer.completion_tokens


async def test_a_slow_answer_within_the_deadline_counts(
    stand_in: Any, connections: Connections
) -> None:
    answer = await _fault(stand_in, connections, "slow")
    assert read_answer(JUDGES[0], answer.text)


@pytest.mark.parametrize("fault", ["garbage", "truncated"])
async def test_a_spoiled_answer_arrives_and_is_not_read(
    stand_in: Any, connections: Connections, fault: str
) -> None:
    answer = await _fault(stand_in, connections, fault)
    with pytest.raises(InvalidAnswerError):
        read_answer(JUDGES[0], answer.text)


async def test_a_server_for_text_answers_text_and_fails_on_pictures(
    stand_in: Any, connections: Connections
) -> None:
    assert (await _fault(stand_in, connections, "blind")).text
    with pytest.raises(UnavailableError, match="500"):
        await OpenAiModel(connections, f"{stand_in.url}/vision", TIMES).complete(_request(2))
