"""How many calls of language models does a segment cost, by default settings?

    python benchmarks/judge_calls.py --segments 400

Segments of the cartridge are played (see `played_segments.py`), their evidence goes through a panel
whose models are the stand-in, and what reaches a model is counted: votes, repairs and audits. Equal
questions are answered from the cache, as at work. Canaries and comparisons are left out. Prints one
line of JSON.
"""

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import Sequence

from played_segments import PlayedSegment, play_segments

from rlaif.contracts.scores import JudgeCallRecord
from rlaif.contracts.segments import StateRecord
from rlaif.judge.evidence.described import described
from rlaif.judge.evidence.ram_verdicts import ram_verdicts
from rlaif.judge.evidence.summary import summarise
from rlaif.judge.panel.assignment import in_share
from rlaif.judge.panel.panel import Case, Panel
from rlaif.judge.routes.cache import AnswerCache
from rlaif.judge.routes.route import Route, RouteLimits
from rlaif.judge.rubric.judges import JUDGES
from rlaif.judge.settings import JudgeSettings, RouteSettings
from rlaif.llm.ports import Answer, CompletionRequest
from rlaif.mock_llm.answering import answer
from rlaif.mock_llm.settings import MannerSettings
from rlaif.mock_llm.wire import ChatRequest


class StandIn:
    """The stand-in without a server."""

    async def complete(self, request: CompletionRequest) -> Answer:
        chat = ChatRequest(
            model=request.model,
            messages=list(request.messages),
            response_format={"type": "json_schema", "json_schema": {"schema": request.schema}},
            seed=request.seed,
            temperature=request.temperature,
            max_tokens=request.max_tokens,
        )
        done = answer(chat, MannerSettings())
        return Answer(done.text, done.finish_reason)


def case_of(segment: PlayedSegment, settings: JudgeSettings) -> Case:
    """What the service would hand to the panel, without pictures."""
    records = [
        StateRecord(step=at, frame=4 * at + 4, action="NOP", state=json.loads(json.dumps(state)))
        for at, state in enumerate(segment.states)
    ]
    evidence = summarise(described(records))
    audit = in_share("audit", segment.segment_id, settings.audit_share)
    return Case(evidence, None, ram_verdicts(evidence, settings.computed_kinds()), audit)


async def count_calls(segments: Sequence[PlayedSegment]) -> dict[str, object]:
    """Calls by judge, and for a segment."""
    settings = JudgeSettings()
    limits = RouteLimits(RouteSettings())
    routes = {judge.name: Route(judge.route, StandIn(), limits) for judge in JUDGES}
    cache = AnswerCache(settings.cached_answers)
    panel = Panel(JUDGES, routes, settings.voting, cache=cache)
    calls: Counter[str] = Counter()

    async def called(record: JudgeCallRecord) -> None:
        calls[record.judge] += not record.cached

    for segment in segments:
        await panel.judge(case_of(segment, settings), called)
    return {
        "segments": len(segments),
        "calls": dict(sorted(calls.items())),
        "calls_a_segment": round(calls.total() / len(segments), 3),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--segments", type=int, default=400, help="how many are played (400)")
    parser.add_argument("--seed", type=int, default=5, help="seed of the play (5)")
    options = parser.parse_args()
    segments = play_segments(
        options.segments, seed=options.seed, told=lambda line: print(line, file=sys.stderr)
    )
    print(json.dumps({"benchmark": "judge_calls", **asyncio.run(count_calls(segments))}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
