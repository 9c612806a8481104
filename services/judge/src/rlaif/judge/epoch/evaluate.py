"""Finds the segments of an epoch, scores each once, and writes the results."""

import asyncio
import importlib
import io
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from rlaif.bus.outcome import Reject, Retry, Suspect
from rlaif.contracts.catalog import envelop
from rlaif.contracts.envelope import CloudEvent
from rlaif.contracts.events import SegmentExported
from rlaif.contracts.scores import ScoreRecord
from rlaif.contracts.segments import SegmentManifest
from rlaif.judge.epoch.report import row, summary
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore

logger = logging.getLogger(__name__)

Handle = Callable[[CloudEvent[Any]], Awaitable[None]]

_DEFAULT_PAUSE_SECONDS = 1.0


@dataclass
class Epoch:
    """The segments of one epoch of one run, by environment step; epochs count from 0.

    Attributes:
        run_id: None when there is no segment at all.
        failed: Segment id → why it has no score.
    """

    number: int
    run_id: str | None
    segments: list[SegmentExported] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)


def find_epoch(store: ObjectStore, number: int, *, epoch_steps: int, run_id: str | None) -> Epoch:
    """The segments captured in an epoch of a run, by default of the last run. Blocks."""
    found: list[tuple[SegmentManifest, SegmentExported]] = []
    for info in store.list():
        if keys.manifest_ids(info.key) is None:
            continue
        data = store.get(info.key)
        manifest = SegmentManifest.model_validate_json(data)
        found.append((manifest, _event(manifest, info.key, data)))
    if run_id is None and found:
        run_id = max(found, key=lambda segment: segment[0].created_at)[0].run_id
    mine = [
        (manifest.env_step, manifest.segment_id, event)
        for manifest, event in found
        if manifest.run_id == run_id and manifest.env_step // epoch_steps == number
    ]
    return Epoch(number, run_id, [event for *_, event in sorted(mine, key=lambda each: each[:2])])


def _event(manifest: SegmentManifest, key: str, data: bytes) -> SegmentExported:
    return SegmentExported(
        segment_id=manifest.segment_id,
        episode_id=manifest.episode_id,
        run_id=manifest.run_id,
        manifest_key=key,
        manifest_sha256=sha256(data).hexdigest(),
        frames=manifest.frames,
        decision_steps=manifest.decision_steps,
    )


async def judge_epoch(
    epoch: Epoch,
    handle: Handle,
    *,
    concurrency: int,
    deadline_seconds: float,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Score every segment of the epoch; fills in `epoch.failed`.

    Outages may last `deadline_seconds` in total; then the remaining segments fail.
    """
    slots = asyncio.Semaphore(concurrency)
    until = asyncio.get_running_loop().time() + deadline_seconds

    async def score_one(segment: SegmentExported) -> None:
        event = envelop(segment, source="rlaif/evaluator", time=datetime.now(UTC))
        async with slots:
            while True:
                try:
                    return await handle(event)
                except Retry as retry:
                    if asyncio.get_running_loop().time() > until:
                        epoch.failed[segment.segment_id] = f"outage: {retry.reason}"
                        return
                    pause = retry.after.total_seconds() if retry.after else _DEFAULT_PAUSE_SECONDS
                    await sleep(pause)
                except (Suspect, Reject) as rejected:
                    epoch.failed[segment.segment_id] = f"{rejected.reason}: {rejected.detail}"
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
    """Write scores.jsonl, scores.parquet (if pyarrow is installed) and the summary. Blocks."""
    overrides = _overrides(episodes)
    records = [
        record
        for segment in epoch.segments
        if (record := _score(episodes, judge_config, segment.segment_id, overrides))
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
        records,
        number=epoch.number,
        run_id=epoch.run_id,
        segments=len(epoch.segments),
        failed=epoch.failed,
        judge_config=judge_config,
        started_at=started_at,
        finished_at=finished_at,
    )
    data = json.dumps(report, indent=2).encode()
    models.put(keys.evaluation_summary(epoch.number), data, content_type="application/json")
    return report


def parquet_bytes(rows: Sequence[dict[str, Any]]) -> bytes | None:
    """Rows as a Parquet file, with nested values as JSON; None without pyarrow or rows."""
    if not rows:
        return None
    try:
        arrow = importlib.import_module("pyarrow")
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError:
        return None
    flat = [
        {name: json.dumps(v) if isinstance(v, dict | list) else v for name, v in row.items()}
        for row in rows
    ]
    buffer = io.BytesIO()
    parquet.write_table(arrow.Table.from_pylist(flat), buffer)
    return buffer.getvalue()


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
