"""The evaluator pass (Cycle B): scores all segments of an epoch once and writes a report.

    python -m rlaif.judge.epoch --epoch 0

Settings are those of the judge, from the environment. Segments that have a score cost no call.
Writes `scores/epoch_N/scores.jsonl` (and .parquet) and `evaluations/epoch_N/summary.json`, and
prints the summary. Exit codes: 0 all segments have a score, 1 some do not or a server is
unavailable, 2 invalid setting or option.
"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from rlaif.bus.connection import open_bus
from rlaif.bus.errors import BusError
from rlaif.bus.ports import Publisher, TelemetryPublisher
from rlaif.contracts.events import EventData
from rlaif.contracts.telemetry.readings import Telemetry
from rlaif.files.failures import command
from rlaif.judge.epoch.evaluate import find_epoch, judge_epoch, write_report
from rlaif.judge.metrics import JudgeMetrics
from rlaif.judge.parts import build_parts
from rlaif.judge.settings import JudgeSettings, PatienceSettings
from rlaif.service.cli import InvalidSettingsError, StartupError, load_settings
from rlaif.service.logging import configure_logging
from rlaif.service.metrics import ServiceMetrics
from rlaif.storage.open import S3Credentials, open_store
from rlaif.storage.ports import ObjectStore, StorageError, StoreUnavailableError

EPOCH_STEPS = 300_000
"""Default environment steps per epoch."""


@dataclass(frozen=True)
class EpochPass:
    """Options of the command line."""

    epoch: int
    epoch_steps: int = EPOCH_STEPS
    run_id: str | None = None
    events: bool = True
    deadline_seconds: float = 3600.0


class SilentPublisher:
    """Publishes nothing; the scores are in the store."""

    async def publish(self, data: EventData) -> bool:
        return False

    async def send(self, reading: Telemetry) -> None:
        pass

    async def send_bytes(self, subject: str, payload: bytes) -> None:
        pass


async def evaluate_epoch(
    settings: JudgeSettings,
    task: EpochPass,
    *,
    stores: tuple[ObjectStore, ObjectStore] | None = None,
) -> dict[str, Any]:
    """Run the pass; returns the summary.

    `stores` (episodes, models) replace those of the settings.
    """
    started = datetime.now(UTC)
    credentials = S3Credentials.of(settings)
    episodes, models = stores or (
        open_store(settings.episodes_store, credentials),
        open_store(settings.models_store, credentials),
    )
    epoch = await asyncio.to_thread(
        find_epoch, episodes, task.epoch, epoch_steps=task.epoch_steps, run_id=task.run_id
    )
    metrics = ServiceMetrics("judge")
    # Nothing waits for this pass, so it waits for judges instead of scoring without them.
    deadline = task.deadline_seconds
    patience = PatienceSettings(refused_seconds=deadline, outage_seconds=deadline)
    settings = settings.model_copy(update={"patience": patience})
    parts = build_parts(settings, lambda judges: JudgeMetrics(metrics, judges), name="evaluator")
    async with AsyncExitStack() as stack:
        stack.push_async_callback(parts.close)
        await stack.enter_async_context(parts.probing(at_start=False))
        publisher: Publisher = SilentPublisher()
        telemetry: TelemetryPublisher = SilentPublisher()
        if task.events:
            bus = await open_bus(settings, name="evaluator")
            stack.push_async_callback(bus.close)
            publisher, telemetry = bus.publisher("judge"), bus.telemetry()
        handler = parts.handler(episodes, models, publisher, telemetry)
        await judge_epoch(
            epoch,
            handler.handle_segment_exported,
            concurrency=settings.concurrency,
            deadline_seconds=task.deadline_seconds,
        )
    return await asyncio.to_thread(
        write_report,
        epoch,
        episodes,
        models,
        judge_config=parts.rules.judge_config,
        started_at=started,
        finished_at=datetime.now(UTC),
    )


@command("evaluate")
def main(argv: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    task = _task(argv)
    try:
        settings = load_settings(JudgeSettings)
        configure_logging("evaluator", settings.log_level, settings.log_format)
        report = asyncio.run(evaluate_epoch(settings, task))
    except (InvalidSettingsError, StartupError, StorageError, BusError) as error:
        sys.stderr.write(f"evaluate: error: {error}\n")
        return 1 if isinstance(error, StoreUnavailableError | BusError) else 2
    sys.stdout.write(json.dumps(report) + "\n")
    return 1 if report["failed"] or report["judged"] < report["segments"] else 0


def _task(argv: Sequence[str] | None) -> EpochPass:
    parser = argparse.ArgumentParser(
        prog="evaluate", description="Scores all segments of an epoch once and writes a report."
    )
    environment = os.environ
    parser.add_argument(
        "--epoch",
        type=int,
        default=environment.get("EPOCH"),
        required="EPOCH" not in environment,
        help="number of the epoch, from 0 [env: EPOCH]",
    )
    parser.add_argument(
        "--epoch-steps",
        type=int,
        default=environment.get("EPOCH_STEPS", str(EPOCH_STEPS)),
        help=f"environment steps per epoch [env: EPOCH_STEPS] [default: {EPOCH_STEPS}]",
    )
    parser.add_argument("--run-id", help="id of the run [default: the last one]")
    parser.add_argument(
        "--events",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="publish new scores on NATS for the reward model",
    )
    parser.add_argument(
        "--deadline-minutes", type=float, default=60.0, help="longest outage to wait for [60]"
    )
    given = parser.parse_args(argv)
    if given.epoch < 0 or given.epoch_steps < 1:
        parser.error("--epoch must be at least 0 and --epoch-steps at least 1")
    return EpochPass(
        epoch=given.epoch,
        epoch_steps=given.epoch_steps,
        run_id=given.run_id,
        events=given.events,
        deadline_seconds=given.deadline_minutes * 60,
    )


if __name__ == "__main__":
    sys.exit(main())
