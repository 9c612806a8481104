"""Score all segments of an epoch once and write a report.

    rlaif judge-epoch --epoch 0

The judge's settings are read from the environment. Segments with a score cost no call.
Writes `scores/epoch_N/scores.jsonl` and `evaluations/epoch_N/summary.json`, and prints the summary.
Exit codes: 0 all segments have a score, 1 some do not or a server is unavailable, 2 invalid setting
or option.
"""

import argparse
import asyncio
import json
import os
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from statistics import fmean
from typing import Any

from pydantic import ValidationError

from rlaif.bus.connection import open_bus
from rlaif.bus.errors import BusError
from rlaif.bus.outcome import Reject, Retry, Suspect
from rlaif.contracts.catalog import envelop
from rlaif.contracts.events import CloudEvent, SegmentExported
from rlaif.contracts.game.segments import SegmentManifest
from rlaif.contracts.judging.scores import CRITERIA, ScoreRecord
from rlaif.files.failures import command
from rlaif.files.options import finite, whole
from rlaif.judge.metrics import JudgeMetrics
from rlaif.judge.parts import build_parts
from rlaif.judge.scoring.scores import CorruptScoreError, read_score
from rlaif.judge.served_models import served_judges
from rlaif.judge.settings import JudgeSettings
from rlaif.judge.trust.statistics import CriterionStatistics, Statistics
from rlaif.service.cli import InvalidSettingsError, StartupError, load_settings
from rlaif.service.logging import configure_logging
from rlaif.service.metrics import ServiceMetrics
from rlaif.storage import keys
from rlaif.storage.open import S3Credentials, open_store
from rlaif.storage.ports import (
    ObjectCorruptError,
    ObjectNotFoundError,
    ObjectStore,
    StorageError,
    StoreUnavailableError,
)

_NAME = "rlaif judge-epoch"

EPOCH_STEPS = 300_000
"""Default environment steps per epoch."""

_RETRY_SECONDS = 1.0

_UNKNOWN_FROM_SCORES: dict[str, Any] = {
    **dict.fromkeys(("abstain_rate", "believed", "comparisons"), True),
    "criteria": {
        "__all__": CriterionStatistics.model_computed_fields.keys() | {"asked", "abstained"}
    },
}
"""Statistics of a judge that only its own process knows, such as its answers to canaries."""

Handle = Callable[[CloudEvent[Any]], Awaitable[None]]


@dataclass(frozen=True)
class EpochPass:
    """Options of the command line."""

    epoch: int
    epoch_steps: int = EPOCH_STEPS
    run_id: str | None = None
    deadline_seconds: float = 3600.0


@dataclass
class Epoch:
    """The segments of one epoch of one run, in order; `failed` is segment id → reason."""

    number: int
    run_id: str | None
    segments: list[SegmentExported] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)


async def evaluate_epoch(
    settings: JudgeSettings,
    task: EpochPass,
    *,
    stores: tuple[ObjectStore, ObjectStore] | None = None,
) -> dict[str, Any]:
    """Run the pass; returns the summary. `stores` (episodes, models) replace those of settings."""
    started = datetime.now(UTC)
    credentials = S3Credentials.of(settings)
    episodes, models = stores or (
        open_store(settings.episodes_store, credentials),
        open_store(settings.models_store, credentials),
    )
    epoch = await asyncio.to_thread(find_epoch, episodes, task)
    metrics = ServiceMetrics("judge")
    # Nothing depends on this pass, so it waits for judges instead of scoring without them.
    deadline = task.deadline_seconds
    patience = dict.fromkeys(("patience_refused_seconds", "patience_outage_seconds"), deadline)
    judges, _ = await served_judges(settings, deadline)
    settings = settings.model_copy(update=patience)
    parts = build_parts(
        settings, lambda known: JudgeMetrics(metrics, known), judges=judges, name="evaluator"
    )
    async with AsyncExitStack() as stack:
        stack.push_async_callback(parts.close)
        await stack.enter_async_context(parts.probing(at_start=False))
        bus = await open_bus(settings, name="evaluator")
        stack.push_async_callback(bus.close)
        handler = parts.handler(episodes, models, bus.publisher("judge"), bus.telemetry())
        await judge_epoch(
            epoch,
            handler.handle_segment_exported,
            concurrency=settings.concurrency,
            deadline_seconds=deadline,
        )
    config = parts.rules.judge_config
    return await asyncio.to_thread(write_report, epoch, episodes, models, config, started)


def find_epoch(store: ObjectStore, task: EpochPass) -> Epoch:
    """The segments captured in an epoch of a run, by default of the last run. Blocks.

    Unreadable manifests are among the failed ones.

    Raises:
        InvalidSettingsError: There are none.
    """
    failed: dict[str, str] = {}
    found: list[tuple[SegmentManifest, SegmentExported]] = []
    for info in store.list():
        if (ids := keys.manifest_ids(info.key)) is None:
            continue
        try:
            data = store.get(info.key)
            manifest = SegmentManifest.model_validate_json(data)
            found.append((manifest, _event(manifest, info.key, data)))
        except ObjectNotFoundError:
            continue  # deleted since
        except (ObjectCorruptError, ValidationError) as error:
            failed[ids[1]] = f"corrupt_manifest, of an unknown epoch: {error}"[:500]
    run_id = task.run_id
    if run_id is None and found:
        run_id = max(found, key=lambda segment: segment[0].created_at)[0].run_id
    mine = [
        (manifest.env_step, manifest.segment_id, event)
        for manifest, event in found
        if manifest.run_id == run_id and manifest.env_step // task.epoch_steps == task.epoch
    ]
    events = [event for *_, event in sorted(mine, key=lambda each: each[:2])]
    if not events and not failed:  # a report would replace that of another run
        known = ", ".join(sorted({manifest.run_id for manifest, _ in found})) or "none"
        raise InvalidSettingsError(
            f"no segment of epoch {task.epoch} of run {run_id} is stored; runs with segments: "
            f"{known}; see --run-id and --epoch-steps"
        )
    return Epoch(task.epoch, run_id, events, failed)


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
                    await sleep(retry.after.total_seconds() if retry.after else _RETRY_SECONDS)
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
    judge_config: str,
    started_at: datetime,
) -> dict[str, Any]:
    """Write scores.jsonl and the summary, which is returned. Blocks."""
    records = _records(epoch, episodes, judge_config)
    lines = [json.dumps(row(record), separators=(",", ":")) + "\n" for record in records]
    key = keys.epoch_scores(epoch.number, "jsonl")
    episodes.put(key, "".join(lines).encode(), content_type="application/x-ndjson")
    report = {
        "schema_version": 1,
        "epoch": epoch.number,
        "run_id": epoch.run_id,
        "judge_config": judge_config,
        "segments": len(epoch.segments),
        "failed": dict(epoch.failed),
        **summary(records),
        "started_at": started_at.isoformat(),
        "finished_at": datetime.now(UTC).isoformat(),
    }
    data = json.dumps(report, indent=2).encode()
    models.put(keys.evaluation_summary(epoch.number), data, content_type="application/json")
    return report


def _configs(episodes: ObjectStore) -> dict[str, str]:
    """Segment id → configuration of its newest human override."""
    newest: dict[str, int] = {}
    for info in episodes.list(keys.scores()):
        config, segment_id = keys.score_ids(info.key) or ("", "")
        revision = keys.human_revision(config)
        if revision is not None:
            newest[segment_id] = max(revision, newest.get(segment_id, 0))
    return {segment_id: keys.human_config(revision) for segment_id, revision in newest.items()}


def _records(epoch: Epoch, episodes: ObjectStore, judge_config: str) -> list[ScoreRecord]:
    """The scores of the segments, by people if there are any; corrupt ones fail."""
    configs, found = _configs(episodes), []
    for name in (segment.segment_id for segment in epoch.segments):
        try:
            key = keys.score(configs.get(name, judge_config), name)
            found.append(read_score(episodes, key).record)
        except ObjectNotFoundError:
            continue
        except CorruptScoreError as error:
            epoch.failed.setdefault(name, f"corrupt_score: {error}")
    return found


def row(record: ScoreRecord) -> dict[str, Any]:
    """One line of scores.jsonl; a criterion without a score is null."""
    scores = [(name, record.criteria.get(name)) for name in CRITERIA]
    quest = record.quest
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
        "position_start": quest.start.position if quest else None,
        "position_end": quest.end.position if quest else None,
        "rise": quest.rise if quest else None,
        "judged_share": _judged_share(record),
        "agreement": _mean([score.agreement for score in record.criteria.values()]),
        "abstentions": dict(record.abstentions),
        "created_at": record.created_at.isoformat(),
    }


def summary(records: Sequence[ScoreRecord]) -> dict[str, Any]:
    """Figures of all scores, which include human overrides."""
    judge_of = {
        name: score.judge
        for record in records
        for name, score in {**record.criteria, **record.audits}.items()
        if score.source == "votes"
    }
    stats = Statistics(judge_of)
    for record in records:
        stats.scored(record)
        for call in record.calls:
            stats.called(call)
    return {
        "judged": len(records),
        "labels": stats.labels,
        "overridden": sum(record.provenance == "human" for record in records),
        "weighted_mean": _mean([r.weighted for r in records if r.weighted is not None]),
        "judged_share": _mean([share for r in records if (share := _judged_share(r)) is not None]),
        "rise_mean": _mean([record.quest.rise for record in records if record.quest]),
        "criteria": {name: _criterion(name, records) for name in CRITERIA},
        "judges": {
            name: each.model_dump(mode="json", exclude=_UNKNOWN_FROM_SCORES)
            for name, each in stats.judges.items()
        },
        "tokens_per_label": stats.tokens_per_label,
        "seconds_per_label": stats.seconds_per_label,
    }


def _judged_share(record: ScoreRecord) -> float | None:
    """Share of the score decided by votes; None without a score."""
    return record.decided_by.get("votes", 0.0) if record.criteria else None


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


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


@command(_NAME)
def main(argv: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    task = _task(argv)
    try:
        settings = load_settings(JudgeSettings)
        configure_logging("evaluator", settings.log_level, settings.log_format)
        report = asyncio.run(evaluate_epoch(settings, task))
    except (InvalidSettingsError, StartupError, StorageError, BusError) as error:
        sys.stderr.write(f"{_NAME}: error: {error}\n")
        return 1 if isinstance(error, StoreUnavailableError | BusError) else 2
    sys.stdout.write(json.dumps(report) + "\n")
    return 1 if report["failed"] or report["judged"] < report["segments"] else 0


def _task(argv: Sequence[str] | None) -> EpochPass:
    parser = argparse.ArgumentParser(prog=_NAME, description=(__doc__ or "").split("\n")[0])
    epoch, steps = os.environ.get("EPOCH"), os.environ.get("EPOCH_STEPS", str(EPOCH_STEPS))
    add = parser.add_argument
    which = "number of the epoch, from 0 [env: EPOCH]"
    add("--epoch", type=whole(), default=epoch, required=epoch is None, help=which)
    size = f"environment steps per epoch (default: {EPOCH_STEPS}) [env: EPOCH_STEPS]"
    add("--epoch-steps", type=whole(1), default=steps, help=size)
    add("--run-id", help="id of the run (default: the last one)")
    longest = "longest outage to wait for (default: %(default)s)"
    add("--deadline-minutes", type=finite(), default=60.0, help=longest)
    given = parser.parse_args(argv)
    return EpochPass(given.epoch, given.epoch_steps, given.run_id, given.deadline_minutes * 60)


if __name__ == "__main__":
    sys.exit(main())
