"""Judge throughput in segments per minute, with real NATS and S3 and the mock LLM.

One replica against a mock LLM that answers at once, with nine calls per segment: segments per
minute and per CPU minute. Then 1, 2 and 4 replicas against one that takes a second, which should
add up.
"""

import argparse
import asyncio
import json
import time
from typing import Any

from judge_rig import Rig, rig
from one_run import cpu_seconds

SLOW_SECONDS = 1.0
REPLICAS = (1, 2, 4)


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Run both measurements; print a line for each run."""
    everything = {"JUDGE_COMPUTED": "", "JUDGE_CACHED_ANSWERS": "0", "JUDGE_COMPARE_SHARE": "0"}
    with rig() as made:
        fast, slow = mock_llm(made, 0), mock_llm(made, SLOW_SECONDS)
        one = run(made, fast, replicas=1, count=options.segments, first=0, settings=everything)
        plain = run(made, fast, replicas=1, count=options.segments, first=10_000, settings={})
        by_replicas = [
            run(
                made,
                slow,
                replicas=replicas,
                count=min(options.segments, 40 * replicas),
                first=20_000 + 1000 * replicas,
                settings=everything,
            )
            for replicas in REPLICAS
        ]
    return {
        "segments_per_min": one["segments_per_min"],
        "segments_per_min_per_core": one["segments_per_cpu_min"],
        "segments_per_min_default_settings": plain["segments_per_min"],
        "segments_per_min_per_core_default_settings": plain["segments_per_cpu_min"],
        "replicas": REPLICAS,
        "segments_per_min_by_replicas": [each["segments_per_min"] for each in by_replicas],
    }


def mock_llm(made: Rig, seconds: float) -> str:
    """Run a mock LLM with the given latency per call; return its address."""
    return made.start(
        "rlaif.mock_llm", MOCK_LLM_LATENCY_SECONDS=str(seconds), MOCK_LLM_JITTER_SECONDS="0"
    ).url


def run(
    made: Rig, llm: str, *, replicas: int, count: int, first: int, settings: dict[str, str]
) -> dict[str, float]:
    """Measure the scoring of `count` segments that are already in the queue."""
    asyncio.run(made.export(first, count))
    before = made.scored()
    judges = [made.start("rlaif.judge", LLM_BASE_URL=llm, **settings) for _ in range(replicas)]
    # Replicas become ready one by one; scores before all are ready do not count.
    started, done_already = time.monotonic(), made.scored() - before
    pids = [judge.pid for judge in judges if judge.pid is not None]
    cpu = cpu_seconds(pids)
    while made.scored() - before < count:
        time.sleep(0.1)
    wall = time.monotonic() - started
    used = sum(cpu_seconds(pids).values()) - sum(cpu.values())
    for judge in judges:
        judge.stop()
    segments = count - done_already
    found = {
        "segments": segments,
        "wall_seconds": round(wall, 2),
        "judge_cpu_seconds": round(used, 2),
        "segments_per_min": round(60 * segments / wall, 1),
        "segments_per_cpu_min": round(60 * segments / max(used, 0.01), 1),
    }
    print(f"replicas {replicas}, {settings or 'default settings'}: {json.dumps(found)}", flush=True)
    return found
