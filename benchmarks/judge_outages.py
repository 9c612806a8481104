"""Judges during outages of a language model, with real NATS, S3 and processes.

    python benchmarks/judge_outages.py --dead-seconds 120 --seconds 30

In turn: every call answered 429 with Retry-After, 500, never, and the process gone. Segments wait
in the queue; settings are the defaults, with every criterion asked. Reports calls per second during
the outage, seconds from its end until the first score and until all, and dead letters. Exit code 0
if no segment was lost or dead-lettered, scores resumed within 10 s, and no more than
`CALLS_PER_SECOND` were made.
"""

import argparse
import asyncio
import json
import sys
import time
from typing import Any

import httpx
from judge_rig import Rig, Service, rig
from outcome import finish, parser_of, say

from rlaif.testing.waiting import eventually

SEGMENTS = 12
FIRST_SCORE_SECONDS = 10.0
CALLS_PER_SECOND = 3.0
"""Three routes, one call per pause of 3 s, and the first calls of the outage."""


async def run(made: Rig, options: argparse.Namespace) -> list[dict[str, Any]]:
    llm = await asyncio.to_thread(made.start, "rlaif.mock_llm", MOCK_LLM_LATENCY_SECONDS="0.1")
    judge = await asyncio.to_thread(
        made.start, "rlaif.judge", LLM_BASE_URL=llm.url, JUDGE_COMPUTED=""
    )
    found = []
    # The routes measure the duration of an answer.
    await made.export(0, SEGMENTS)
    await scores(made, SEGMENTS)
    for number, fault in enumerate(("429", "500", "timeout", "dead"), start=1):
        seconds = options.dead_seconds if fault == "dead" else options.seconds
        if fault == "dead":
            await asyncio.to_thread(llm.stop)
        else:
            put(llm, f"{fault}:1")
        before, done = calls(judge), await asyncio.to_thread(made.scored)
        await made.export(number * 1000, SEGMENTS)
        await asyncio.sleep(seconds)
        made_calls = calls(judge) - before
        early = await asyncio.to_thread(made.scored) - done
        began = time.monotonic()
        if fault == "dead":
            await asyncio.to_thread(llm.start)
            # Measured from its first answer, not from the start of its process.
            began = time.monotonic()
        else:
            put(llm, "")
        await scores(made, done + 1)
        first = time.monotonic() - began
        await scores(made, done + SEGMENTS)
        found.append(
            {
                "fault": fault,
                "outage_seconds": seconds,
                "calls_per_second": round(made_calls / seconds, 2),
                "scored_during": early,
                "first_score_seconds": round(first, 2),
                "all_scored_seconds": round(time.monotonic() - began, 2),
                "dead_letters": await dead_letters(made),
            }
        )
        say(json.dumps(found[-1]))
    return found


async def scores(made: Rig, count: int) -> None:
    async def there() -> bool:
        return await asyncio.to_thread(made.scored) >= count

    await eventually(there, f"{count} scores", seconds=600)


async def dead_letters(made: Rig) -> int:
    bus = await made.bus()
    try:
        return len(await bus.dead_letters())
    finally:
        await bus.close()


def put(llm: Service, spec: str) -> None:
    httpx.put(
        f"{llm.url}/faults", json={"spec": spec}, timeout=10, trust_env=False
    ).raise_for_status()


def calls(judge: Service) -> int:
    report = judge.get("api/v1/judges").json()
    return sum(each["health"]["calls"] for each in report["judges"])


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--seconds", type=float, default=30, help="length of an outage (30)")
    parser.add_argument("--dead-seconds", type=float, default=120, help="of the dead route (120)")
    options = parser.parse_args()
    with rig() as made:
        found = asyncio.run(run(made, options))
    fine = all(
        row["dead_letters"] == 0
        and row["first_score_seconds"] <= FIRST_SCORE_SECONDS
        and (row["fault"] == "429" or row["calls_per_second"] <= CALLS_PER_SECOND)
        for row in found
    )
    return finish({"benchmark": "judge_outages", "outages": found}, met=fine)


if __name__ == "__main__":
    sys.exit(main())
