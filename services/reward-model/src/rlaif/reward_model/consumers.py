"""What the service does with what it receives: scores wake it, the trainer's progress is watched.

A score's event says only that there is a new object; the store has the rest. Progress is lossy
telemetry: a lost reading makes an alarm later, never wrong.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from rlaif.bus.errors import BusError
from rlaif.contracts.envelope import CloudEvent
from rlaif.contracts.events import SegmentScored
from rlaif.contracts.telemetry import TrainingProgress
from rlaif.reward_model.champions.reward_hacking_monitor import RewardHackingMonitor
from rlaif.reward_model.metrics import RewardModelMetrics
from rlaif.reward_model.training_loop import TrainingLoop
from rlaif.storage.ports import StorageError

logger = logging.getLogger(__name__)

_RETRY_SECONDS = 5.0


@dataclass(frozen=True)
class ScoreListener:
    """Handles `SegmentScored`."""

    training: TrainingLoop

    async def handle_segment_scored(self, event: CloudEvent[Any]) -> None:
        """Wake the training task; losing this event would only delay it."""
        scored: SegmentScored = event.data
        self.training.hint(scored.score_key)


@dataclass(frozen=True)
class ProgressListener:
    """Lets the monitor see the trainer's progress, and acts on its alarms."""

    subscribe: Callable[[str], AsyncIterator[tuple[str, bytes]]]
    monitor: RewardHackingMonitor
    training: TrainingLoop
    metrics: RewardModelMetrics

    async def run(self) -> None:
        """Listen until cancelled."""
        while True:
            try:
                async for _, payload in self.subscribe(TrainingProgress.SUBJECT):
                    await self.observe(payload)
            except BusError as error:
                logger.warning("no progress of the trainer is received: %s", error)
            await asyncio.sleep(_RETRY_SECONDS)

    async def observe(self, payload: bytes) -> None:
        """Fold one reading in; what is no reading is ignored."""
        try:
            progress = TrainingProgress.model_validate_json(payload)
        except ValidationError:
            return
        alarm = self.monitor.observe(progress, self.training.labels)
        if alarm is None:
            return
        self.metrics.alarmed()
        logger.error("%s", alarm.description)
        settings = self.monitor.settings
        if not settings.rollback:
            return
        try:
            await self.training.champions.roll_back(alarm, pin_for=settings.pin_for)
        except (StorageError, LookupError, ValueError) as error:
            logger.error("the roll-back failed, do it by hand: %s", error)
