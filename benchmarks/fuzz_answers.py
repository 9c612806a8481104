"""Malformed answers of a language model: none may become a score or end the judge.

    python benchmarks/fuzz_answers.py --answers 10000

The state judge is asked for the quest of Seedling Vale. Every answer goes the whole way: HTTP body,
adapter, route, panel, vote. Prints how many of each
kind, then one line of JSON. Exit code 0 when there were no scores and no crashes.
"""

import argparse
import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator

import httpx

from rlaif.contracts.judging.evidence import Evidence, Moment, Span
from rlaif.contracts.judging.scores import CriterionScore, JudgeCallRecord
from rlaif.judge.panel.panel import Case, Panel
from rlaif.judge.panel.schema import answer_schema
from rlaif.judge.rubric.judges import JUDGES, briefed
from rlaif.judge.settings import VoteSettings
from rlaif.llm.connections import Connections
from rlaif.llm.openai import OpenAiModel
from rlaif.llm.route import Route, RouteLimits
from rlaif.llm.settings import CallSettings
from rlaif.testing.data.bad_answers import BadAnswer, bad_answers

GAME = "seedling-vale"


class Body(httpx.AsyncByteStream):
    def __init__(self, bad: BadAnswer) -> None:
        self._bad = bad

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._bad.chunks():
            yield chunk
            await asyncio.sleep(0)


async def run(answers: Iterator[BadAnswer], total: int) -> dict[str, int]:
    """Feed all answers to a judge with one vote, which asks twice a segment."""
    judge, scores, crashes, used = JUDGES[0], 0, 0, 0
    kinds: Counter[str] = Counter()

    def serve(request: httpx.Request) -> httpx.Response:
        nonlocal used
        if request.method == "GET":
            return httpx.Response(404)  # no list of models
        bad = next(answers)
        used += 1
        kinds[bad.kind] += 1
        return httpx.Response(200, stream=Body(bad))

    async def called(record: JudgeCallRecord) -> None:
        pass

    def client() -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=httpx.MockTransport(serve))

    async with Connections(client) as connections:
        model = OpenAiModel(connections, "http://llm/dialog", CallSettings())
        route = Route("/dialog", model, RouteLimits(concurrency=1))
        panel = Panel((judge,), {judge.name: route}, VoteSettings(votes=1))
        while used < total:
            evidence = Evidence(segment=Span(steps=used), end=Moment(game=GAME))
            try:
                found = await panel.judge(Case(evidence), called)
            except Exception as error:
                crashes += 1
                print(f"CRASH {error!r}")
            else:
                scores += sum(isinstance(r, CriterionScore) for r in found.results.values())
    for kind, number in sorted(kinds.items()):
        print(f"{kind}: {number}")
    return {"answers": used, "kinds": len(kinds), "scores": scores, "crashes": crashes}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--answers", type=int, default=10_000, help="how many, even (10000)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the answers (0)")
    options = parser.parse_args()
    names = list(answer_schema(briefed(JUDGES[0], GAME))["properties"])[1:]
    started = time.perf_counter()
    found = asyncio.run(
        run(bad_answers(names, number=options.answers, seed=options.seed), options.answers)
    )
    seconds = round(time.perf_counter() - started, 1)
    print(json.dumps({"benchmark": "fuzz_answers", "seed": options.seed, **found, "s": seconds}))
    return 0 if found["scores"] == found["crashes"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
