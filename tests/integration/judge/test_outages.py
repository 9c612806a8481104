"""What the judge makes of a route that misbehaves for a while: it waits, and loses nothing."""

import asyncio
import time
from typing import Any

import pytest

from rlaif.llm.route import RouteLimits

SEGMENTS = 5
OUTAGE_SECONDS = 3.0
PAUSE_SECONDS = 0.5
QUICK = {
    "limits": RouteLimits(failures=3, pause_seconds=PAUSE_SECONDS, least_seconds=0.5),
    "call_timeout_seconds": 1.0,
    "cached_answers": 2000,
}


async def _lasts(seconds: float) -> None:
    """Let an outage last."""
    await asyncio.sleep(seconds)


@pytest.mark.parametrize("fault", ["429", "500", "timeout", "drip"])
async def test_a_route_that_fails_for_a_while_is_called_seldom_and_costs_nothing(
    pipeline: Any, start_judge: Any, stand_in: Any, fault: str
) -> None:
    await stand_in.fail(f"puzzle/{fault}:1")
    await start_judge(**QUICK)
    await pipeline.export(SEGMENTS)
    await _lasts(OUTAGE_SECONDS)
    assert await pipeline.scores() == {}
    began = time.monotonic()
    before = await stand_in.calls(route="puzzle")
    await _lasts(OUTAGE_SECONDS)
    calls = await stand_in.calls(route="puzzle") - before
    # Only the known question is asked, twice after each pause.
    assert calls <= 2 * (1 + (time.monotonic() - began) / PAUSE_SECONDS)
    await stand_in.fail("")
    await pipeline.all_scored()


async def test_a_route_that_is_dead_at_the_start_is_used_when_it_comes(
    pipeline: Any, start_judge: Any, stand_in: Any, unused_tcp_port: int
) -> None:
    client = await start_judge(**QUICK, llm_puzzle_url=f"http://127.0.0.1:{unused_tcp_port}/puzzle")
    await pipeline.export(SEGMENTS)
    await _lasts(OUTAGE_SECONDS)
    health = (await client.get("/api/v1/judges")).json()["judges"][1]["health"]
    assert health["calls"] == 0
    assert "cannot be reached" in health["trouble"]
    async with stand_in.also_at(unused_tcp_port):
        await pipeline.all_scored()


async def test_mixed_faults_lose_no_segment_and_make_no_dead_letter(
    pipeline: Any, start_judge: Any, stand_in: Any
) -> None:
    await stand_in.fail("429:0.1,500:0.1,garbage:0.1,truncated:0.05,huge:0.05")
    await start_judge(**QUICK)
    await pipeline.export(SEGMENTS)
    await pipeline.all_scored()
