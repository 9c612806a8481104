"""Canaries, answered by the mock LLM: which judges are excluded."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

from rlaif.judge.rubric.judges import JUDGES
from rlaif.judge.trust.canary_rounds import CanaryRounds
from rlaif.judge.trust.exclusion import Record
from rlaif.llm.openai import OpenAiModel, connections_to
from rlaif.llm.route import Route
from rlaif.llm.settings import CallSettings
from rlaif.mock_llm.app import create_app
from rlaif.mock_llm.settings import MockLlmSettings
from rlaif.testing.servers.http_server import serve

Known = dict[str, Record]
Rounds = Callable[..., AbstractAsyncContextManager[tuple[CanaryRounds, Known]]]


@pytest.fixture
def watched() -> Rounds:
    """Canary rounds of a mock LLM with the given settings, and how its judges do by criterion."""

    @asynccontextmanager
    async def start(**behaviour: Any) -> AsyncIterator[tuple[CanaryRounds, Known]]:
        settings = MockLlmSettings.model_validate(
            {"latency_seconds": 0.0, "jitter_seconds": 0.0} | behaviour
        )
        calls, known = CallSettings(), dict[str, Record]()

        def note(judge: str, criterion: str, record: Record) -> None:
            known[criterion] = record

        async with (
            serve(create_app(settings)) as url,
            connections_to(calls, api_key=None) as connections,
        ):
            routes = {
                judge.name: Route(
                    judge.route, OpenAiModel(connections, f"{url}{judge.route}", calls)
                )
                for judge in JUDGES
            }
            yield (
                CanaryRounds(JUDGES, routes, 10, max_tokens=256, on_known=note),
                known,
            )

    return start


async def _whole_turn(rounds: CanaryRounds) -> None:
    for _ in range(20):
        await rounds.before_segment()


async def test_an_expert_that_shares_no_code_with_the_canaries_gets_them_right(
    watched: Rounds,
) -> None:
    async with watched() as (rounds, known):
        await _whole_turn(rounds)
    assert rounds.excluded() == {}
    assert set(known) == {"progress", "dialog", "efficiency", "puzzle", "novelty"}
    wrong = {name: len(r.canaries) - r.right for name, r in known.items()}
    assert sum(wrong.values()) == 0, wrong


@pytest.mark.parametrize(
    ("behaviour", "found"),
    [
        ({"hostility": 1.0}, {"state", "puzzle", "vision"}),
        ({"laziness": 1.0}, {"state", "puzzle", "vision"}),
        ({"laziness": 1.0, "lazy_answer": "abstain"}, {"state", "puzzle", "vision"}),
        ({"laziness": 1.0, "lazy_answer": "praise"}, {"state", "puzzle", "vision"}),
    ],
    ids=lambda value: str(sorted(value) if isinstance(value, set) else value),
)
async def test_a_judge_that_does_not_judge_is_excluded(
    watched: Rounds, behaviour: dict[str, Any], found: set[str]
) -> None:
    async with watched(**behaviour) as (rounds, _):
        await _whole_turn(rounds)
        assert found <= set(rounds.excluded())
        assert "progress" in rounds.excluded()["state"]
