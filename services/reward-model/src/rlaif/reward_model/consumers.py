"""What the service does with what it hears: scores wake it, the trainer's progress is watched.

A score's event says only that there is a new object; the store has the rest. Progress is lossy
telemetry: a lost reading makes the watchdog later, never wrong.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any

from pydantic import ValidationError

from rlaif.bus.errors import BusError
from rlaif.contracts.envelope import CloudEvent
from rlaif.contracts.events import SegmentScored
from rlaif.contracts.telemetry import TrainingProgress
from rlaif.reward_model.champions.reward_hacking_monitor import Watchdog
from rlaif.reward_model.metrics import RewardModelMetrics
from rlaif.reward_model.training import Training
from rlaif.storage.ports import StorageError

logger = logging.getLogger(__name__)

_RETRY_SECONDS = 5.0


class ScoreListener:
    """Handles `SegmentScored`."""

    def __init__(self, training: Training) -> None:
        """Wake `training` for each score."""
        self._training = training

    async def handle_segment_scored(self, event: CloudEvent[Any]) -> None:
        """Wake the training task; losing this event would only delay it."""
        scored: SegmentScored = event.data
        self._training.hint(scored.score_key)


class ProgressListener:
    """Lets the watchdog see the trainer's progress, and acts on its alarms."""

    def __init__(
        self,
        subscribe: Callable[[str], AsyncIterator[tuple[str, bytes]]],
        watchdog: Watchdog,
        training: Training,
        metrics: RewardModelMetrics,
        *,
        roll_back: bool,
    ) -> None:
        """Listen by `subscribe`; `roll_back` False only tells of alarms."""
        self._subscribe = subscribe
        self._watchdog = watchdog
        self._training = training
        self._metrics = metrics
        self._roll_back = roll_back

    async def run(self) -> None:
        """Listen until cancelled."""
        while True:
            try:
                async for _, payload in self._subscribe(TrainingProgress.SUBJECT):
                    await self.take(payload)
            except BusError as error:
                logger.warning("the watchdog hears nothing: %s", error)
            await asyncio.sleep(_RETRY_SECONDS)

    async def take(self, payload: bytes) -> None:
        """Fold one reading in; what is no reading is ignored."""
        try:
            progress = TrainingProgress.model_validate_json(payload)
        except ValidationError:
            return
        alarm = self._watchdog.take(progress)
        if alarm is None:
            return
        self._metrics.alarmed()
        logger.error("%s", alarm.reason)
        if not self._roll_back:
            return
        try:
            await self._training.roll_back(alarm)
        except (StorageError, LookupError, ValueError) as error:
            logger.error("the roll-back failed, do it by hand: %s", error)
