"""The evaluator pass over one epoch: score each segment once, write what came of it."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

from rlaif.bus.outcome import Reject, Retry, Suspect
from rlaif.contracts.catalog import envelop
from rlaif.contracts.envelope import CloudEvent
from rlaif.contracts.scores import ScoreRecord
from rlaif.judge.epoch.parquet import parquet_bytes
from rlaif.judge.epoch.report import row, summary
from rlaif.judge.epoch.segments import Epoch, EpochSegment
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore

logger = logging.getLogger(__name__)

Handle = Callable[[CloudEvent[Any]], Awaitable[None]]

_DEFAULT_PAUSE_SECONDS = 1.0


async def judge_epoch(
    epoch: Epoch,
    handle: Handle,
    *,
    concurrency: int,
    deadline_seconds: float,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Score every segment of the epoch; those that have a score cost nothing.

    Fills in `epoch.failed`. Outages may last `deadline_seconds` in all; then the rest is given up.
    """
    slots = asyncio.Semaphore(concurrency)
    until = asyncio.get_running_loop().time() + deadline_seconds

    async def score_one(segment: EpochSegment) -> None:
        event = envelop(segment.event, source="rlaif/evaluator", time=datetime.now(UTC))
        async with slots:
            while True:
                try:
                    return await handle(event)
                except Retry as retry:
                    if asyncio.get_running_loop().time() > until:
                        epoch.failed[segment.event.segment_id] = f"outage: {retry.reason}"
                        return
                    pause = retry.after.total_seconds() if retry.after else _DEFAULT_PAUSE_SECONDS
                    await sleep(pause)
                except (Suspect, Reject) as refused:
                    epoch.failed[segment.event.segment_id] = f"{refused.reason}: {refused.detail}"
                    return

    async with asyncio.TaskGroup() as group:
        for segment in epoch.segments:
            group.create_task(score_one(segment))


def write_report(
    epoch: Epoch,
    episodes: ObjectStore,
    models: ObjectStore,
    *,
    judge_config: str,
    started_at: datetime,
    finished_at: datetime,
) -> dict[str, Any]:
    """Write scores.jsonl, scores.parquet where pyarrow is there, and the summary. Blocks."""
    overrides = _overrides(episodes)
    records = [
        record
        for segment in epoch.segments
        if (record := _score(episodes, judge_config, segment.event.segment_id, overrides))
    ]
    rows = [row(record) for record in records]
    lines = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in rows).encode()
    key = keys.epoch_scores(epoch.number, "jsonl")
    episodes.put(key, lines, content_type="application/x-ndjson")
    table = parquet_bytes(rows)
    if table is not None:
        key = keys.epoch_scores(epoch.number, "parquet")
        episodes.put(key, table, content_type="application/vnd.apache.parquet")
    report = summary(
        records, epoch, judge_config=judge_config, started_at=started_at, finished_at=finished_at
    )
    data = json.dumps(report, indent=2).encode()
    models.put(keys.evaluation_summary(epoch.number), data, content_type="application/json")
    return report


def _overrides(episodes: ObjectStore) -> dict[str, int]:
    """Segment id → its newest human revision."""
    newest: dict[str, int] = {}
    for info in episodes.list(keys.scores()):
        ids = keys.score_ids(info.key)
        revision = keys.human_revision(ids[0]) if ids else None
        if ids and revision is not None:
            newest[ids[1]] = max(revision, newest.get(ids[1], 0))
    return newest


def _score(
    episodes: ObjectStore, judge_config: str, segment_id: str, overrides: dict[str, int]
) -> ScoreRecord | None:
    revision = overrides.get(segment_id)
    config = judge_config if revision is None else keys.human_config(revision)
    key = keys.score(config, segment_id)
    if episodes.head(key) is None:
        return None
    return ScoreRecord.model_validate_json(episodes.get(key))
