"""Latency from a captured segment to a live model that has learned from it.

Runs the pipeline on the built-in cartridge, with the mock LLM at 100 ms per call. A segment is live
when the trainer first runs a reward-model version whose labels contain it. The labels of a version
are the first usable scores up to its count, as verified by the digest in its manifest.
"""

import asyncio
import re
import tempfile
import time
from bisect import bisect_left
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from outcome import say

from rlaif.bus.connection import connect
from rlaif.contracts.events import SegmentCaptured, SegmentScored
from rlaif.testing.pipeline import Pipeline

READY = re.compile("✓ trainer")
READY_SECONDS = 300.0
POLL_SECONDS = 0.2
QUIET_SECONDS = 3.0


@dataclass
class Seen:
    """Observations of a pipeline.

    Attributes:
        live: Version → when the trainer was first observed with it, seconds since 1970.
        captured: Segment → when it was captured.
        scored: (when, segment, score digest) of usable scores, in order.
        manifests: Version → its manifest.
        ended: End of the observation.
    """

    live: dict[int, float] = field(default_factory=dict)
    captured: dict[str, float] = field(default_factory=dict)
    scored: list[tuple[float, str, str]] = field(default_factory=list)
    manifests: dict[int, dict[str, Any]] = field(default_factory=dict)
    ended: float = 0.0


def measure(minutes: float) -> dict[str, Any]:
    """Run a pipeline for some minutes and return the latencies of its segments."""
    settings = {"MOCK_LLM_LATENCY_SECONDS": "0.1", "MOCK_LLM_JITTER_SECONDS": "0"}
    with tempfile.TemporaryDirectory(prefix="loop-") as folder:
        pipeline = Pipeline(Path(folder), environment=settings)
        try:
            pipeline.wait_for(READY, seconds=READY_SECONDS)
            return figures(*watch(pipeline, minutes), minutes)
        finally:
            pipeline.end()


def watch(pipeline: Pipeline, minutes: float) -> tuple[Seen, dict[str, Any]]:
    """Return the observations of some minutes, and the state of training at their end."""
    seen = Seen()
    began = time.time()
    while time.time() - began < 60 * minutes:
        note_version(pipeline, seen)
        time.sleep(POLL_SECONDS)
    seen.ended = time.time()
    seen.manifests = {
        item["version"]: item
        for item in pipeline.get("reward-model", "reward-models?limit=500").json()["items"]
    }
    asyncio.run(read_events(pipeline, seen))
    return seen, pipeline.get("reward-model", "training").json()


def note_version(pipeline: Pipeline, seen: Seen) -> None:
    try:
        run = pipeline.get("trainer", "runs/current").json()
    except httpx.HTTPError:  # a busy machine; it is polled again soon
        return
    version = run.get("reward_model_version")
    if version is not None and version not in seen.live:
        seen.live[version] = time.time()
        say(f"v{version} is live, {run['segments_captured']} segments captured")


async def read_events(pipeline: Pipeline, seen: Seen) -> None:
    bus = await connect(pipeline.nats_url(), name="benchmark")
    try:
        feed = bus.feed().follow(SegmentCaptured, SegmentScored, history=True)
        while True:
            event = await asyncio.wait_for(anext(feed), QUIET_SECONDS)
            if event.time.timestamp() <= seen.ended:
                note_event(seen, event.data, event.time)
            elif event.time.timestamp() > seen.ended + QUIET_SECONDS:
                break  # events of the two streams are interleaved
    except (TimeoutError, StopAsyncIteration):
        pass
    finally:
        await bus.close()
    seen.scored.sort()


def note_event(seen: Seen, data: SegmentCaptured | SegmentScored, at: datetime) -> None:
    seconds = at.astimezone(UTC).timestamp()
    if isinstance(data, SegmentCaptured):
        seen.captured.setdefault(data.segment_id, seconds)
    elif data.weighted is not None:
        seen.scored.append((seconds, data.segment_id, data.score_sha256))


def figures(seen: Seen, training: dict[str, Any], minutes: float) -> dict[str, Any]:
    """Return the latencies of all scored segments, and of two groups.

    `cold` segments were captured before the first model was live: they wait until there are enough
    labels for the first training. `warm` ones were captured after it. Segments that were still
    waiting at the end are included (`waited`): omitting them would hide the longest latencies.
    """
    versions = sorted(set(seen.live) & set(seen.manifests))
    counts = [seen.manifests[version]["labels"] for version in versions]
    proved = sum(labels_agree(seen, seen.manifests[version]) for version in versions)
    first_live = min(seen.live.values(), default=float("inf"))
    waits: dict[str, list[tuple[float, bool]]] = {"all": [], "cold": [], "warm": []}
    for place, (_, segment, _) in enumerate(seen.scored):
        at = bisect_left(counts, place + 1)
        if segment not in seen.captured:
            continue
        lives = at < len(versions)
        seconds = (seen.live[versions[at]] if lives else seen.ended) - seen.captured[segment]
        group = "warm" if seen.captured[segment] > first_live else "cold"
        for name in ("all", group):
            waits[name].append((seconds, lives))
    scoring = [
        at - seen.captured[segment] for at, segment, _ in seen.scored if segment in seen.captured
    ]
    swaps = [
        seen.live[version]
        - datetime.fromisoformat(seen.manifests[version]["created_at"]).timestamp()
        for version in versions
    ]
    return {
        "minutes_of_play": minutes,
        **{f"{name}_p50_s": waited(group, 0.5) for name, group in waits.items()},
        **{f"{name}_p95_s": waited(group, 0.95) for name, group in waits.items()},
        **{f"{name}_segments": len(group) for name, group in waits.items()},
        "still_waiting": sum(not lives for _, lives in waits["all"]),
        "scored_p50_s": percentile(scoring, 50),
        "scored_p95_s": percentile(scoring, 95),
        "published_to_live_p50_s": percentile(swaps, 50),
        "captured": len(seen.captured),
        "usable_scores": len(seen.scored),
        "versions_live": len(seen.live),
        "versions_with_proved_labels": proved,
        "trainings": {
            name: training.get(name) for name in ("labels", "waiting_for", "last_outcome")
        },
    }


def labels_agree(seen: Seen, manifest: dict[str, Any]) -> bool:
    """Whether the first `labels` scores are the labels of a version."""
    mine = sorted(f"{name} {digest}" for _, name, digest in seen.scored[: manifest["labels"]])
    digest: str = manifest["label_digest"]
    return sha256("\n".join(mine).encode()).hexdigest() == digest


def waited(segments: list[tuple[float, bool]], share: float) -> float | None:
    """Seconds until the given share is live, by the Kaplan-Meier estimator.

    Args:
        segments: (seconds, live) of each; those that are not live are censored at that time.
        share: In (0, 1).

    Returns:
        Seconds; None if too many are waiting at the end.
    """
    left = 1.0
    at_risk = len(segments)
    for seconds, lives in sorted(segments, key=lambda item: (item[0], not item[1])):
        if lives:
            left *= 1.0 - 1.0 / at_risk
            if left <= 1.0 - share + 1e-9:
                return round(seconds, 2)
        at_risk -= 1
    return None


def percentile(values: list[float], percent: int) -> float | None:
    return round(float(np.percentile(values, percent)), 2) if values else None
