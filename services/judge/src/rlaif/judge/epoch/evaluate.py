"""Finds the segments of an epoch, scores each once, and writes a report."""

import asyncio
import importlib
import io
import json
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from statistics import fmean
from typing import Any

from rlaif.bus.outcome import Reject, Retry, Suspect
from rlaif.contracts.catalog import envelop
from rlaif.contracts.events import CloudEvent, SegmentExported
from rlaif.contracts.game.segments import SegmentManifest
from rlaif.contracts.judging.scores import CRITERIA, ScoreRecord
from rlaif.judge.trust.agreement import Confusion
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


Row = dict[str, Any]


def row(record: ScoreRecord) -> Row:
    """One line of scores.jsonl; a criterion without a score is null."""
    scores = [(name, record.criteria.get(name)) for name in CRITERIA]
    return {
        "segment_id": record.segment_id,
        "episode_id": record.episode_id,
        "run_id": record.run_id,
        "env_step": record.env_step,
        "judge_config": record.judge_config,
        "provenance": record.provenance,
        "weighted": record.weighted,
        **{name: score.value if score else None for name, score in scores},
        **{f"{name}_soft": score.soft if score else None for name, score in scores},
        **{f"{name}_source": score.source if score else None for name, score in scores},
        **_quest(record),
        "judged_share": _judged_share(record),
        "agreement": _mean([score.agreement for score in record.criteria.values()]),
        "abstentions": dict(record.abstentions),
        "created_at": record.created_at.isoformat(),
    }


def summary(
    records: Sequence[ScoreRecord],
    *,
    number: int,
    run_id: str | None,
    segments: int,
    failed: Mapping[str, str],
    judge_config: str,
    started_at: datetime,
    finished_at: datetime,
) -> dict[str, Any]:
    """The body of `evaluations/epoch_N/summary.json`; `records` include human overrides."""
    labels = sum(record.weighted is not None for record in records)
    return {
        "schema_version": 1,
        "epoch": number,
        "run_id": run_id,
        "judge_config": judge_config,
        "segments": segments,
        "judged": len(records),
        "labels": labels,
        "overridden": sum(record.provenance == "human" for record in records),
        "failed": dict(failed),
        "weighted_mean": _mean([r.weighted for r in records if r.weighted is not None]),
        "judged_share": _mean([share for r in records if (share := _judged_share(r)) is not None]),
        "rise_mean": _mean([record.quest.rise for record in records if record.quest]),
        "criteria": {name: _criterion(name, records) for name in CRITERIA},
        "judges": _judges(records),
        "cost": _cost(records, labels),
        "started_at": started_at.isoformat(),
        "finished_at": finished_at.isoformat(),
    }


def _judged_share(record: ScoreRecord) -> float | None:
    """Share of the score that votes decided; None without a score."""
    return record.decided_by.get("votes", 0.0) if record.criteria else None


def _quest(record: ScoreRecord) -> Row:
    quest = record.quest
    return {
        "position_start": quest.start.position if quest else None,
        "position_end": quest.end.position if quest else None,
        "rise": quest.rise if quest else None,
    }


def _criterion(name: str, records: Sequence[ScoreRecord]) -> dict[str, Any]:
    scores = [record.criteria[name] for record in records if name in record.criteria]
    reasons = Counter(record.abstentions[name] for record in records if name in record.abstentions)
    return {
        "scored": len(scores),
        "mean": _mean([score.value for score in scores]),
        "agreement": _mean([score.agreement for score in scores]),
        "sources": dict(Counter(score.source for score in scores)),
        "abstentions": dict(reasons),
    }


def _judges(records: Sequence[ScoreRecord]) -> dict[str, Any]:
    outcomes: dict[str, Counter[str]] = {}
    truth: dict[tuple[str, str], Confusion] = {}
    for record in records:
        for call in record.calls:
            if not call.cached:
                outcomes.setdefault(call.judge, Counter())[call.outcome] += 1
        for name, score in {**record.criteria, **record.audits}.items():
            known = record.known_level(name)
            if score.source == "votes" and known is not None:
                confusion = truth.setdefault((score.judge, name), Confusion())
                for level in score.votes:
                    confusion.count(known, level)
    return {
        judge: {
            "calls": dict(outcomes.get(judge, {})),
            "truth": {name: _against(found) for (of, name), found in truth.items() if of == judge},
        }
        for judge in sorted({*outcomes, *(of for of, _ in truth)})
    }


def _against(confusion: Confusion) -> dict[str, Any]:
    return {
        "votes": confusion.votes,
        "accuracy": confusion.accuracy,
        "kappa": confusion.kappa,
        "pair_accuracy": confusion.pair_accuracy,
    }


def _cost(records: Sequence[ScoreRecord], labels: int) -> dict[str, Any]:
    calls = [call for record in records for call in record.calls]
    tokens = sum((call.prompt_tokens or 0) + (call.completion_tokens or 0) for call in calls)
    seconds = sum(call.latency_seconds for call in calls)
    return {
        "calls": sum(not call.cached for call in calls),
        "cached_answers": sum(call.cached for call in calls),
        "tokens": tokens,
        "seconds": round(seconds, 3),
        "tokens_per_label": tokens / labels if labels else None,
        "seconds_per_label": seconds / labels if labels else None,
    }


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None
