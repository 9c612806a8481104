"""What the judge opens and runs; `rlaif.service.lifecycle` keeps it at work."""

import logging
from datetime import UTC, datetime

from rlaif.bus.connection import Bus, open_bus
from rlaif.bus.errors import BusError
from rlaif.bus.worker import DurableWorker, WorkerObserver
from rlaif.bus.worker_settings import WorkerSettings
from rlaif.contracts.events import SegmentExported
from rlaif.judge.comparing import build_comparisons
from rlaif.judge.consumers import SegmentScorer
from rlaif.judge.human_scores import HumanScores
from rlaif.judge.settings import JudgeSettings
from rlaif.judge.wiring import JudgeParts
from rlaif.service.lifecycle import Lifecycle
from rlaif.storage.open import S3Credentials, open_store
from rlaif.storage.ports import ObjectStore, StorageError
from rlaif.storage.probe import probed

logger = logging.getLogger(__name__)

CONSUMER = "judge"


class Runtime:
    """The connections and the worker of one judge process."""

    def __init__(
        self,
        settings: JudgeSettings,
        parts: JudgeParts,
        observer: WorkerObserver,
        *,
        store: ObjectStore | None = None,
        models: ObjectStore | None = None,
    ) -> None:
        """Serve `parts`; `store` and `models` replace those of the settings, in tests."""
        self._settings = settings
        self._parts = parts
        self._observer = observer
        self._given_models = models
        self.lifecycle = Lifecycle(
            name="judge",
            open_store=lambda: probed(
                store or open_store(settings.episodes_store, S3Credentials.of(settings))
            ),
            open_bus=lambda: open_bus(settings, name="judge"),
            start=self._start,
            outage_errors=(BusError, StorageError),
        )

    def human_scores(self) -> HumanScores | None:
        """Writes overrides; None until S3 and NATS were reached."""
        store, bus = self.lifecycle.store, self.lifecycle.bus
        if store is None or bus is None:
            return None
        return HumanScores(store, bus.publisher("judge"), now=_now)

    def _models_store(self) -> ObjectStore:
        """Where the reward model says what it wants compared; nothing else is read there."""
        return self._given_models or open_store(
            self._settings.models_store, S3Credentials.of(self._settings)
        )

    def _start(self, store: ObjectStore, bus: Bus) -> DurableWorker:
        scorer = SegmentScorer(
            store,
            bus.publisher("judge"),
            bus.telemetry(),
            self._parts.scoring(
                store, build_comparisons(self._settings, self._parts, store, self._models_store())
            ),
        )
        logger.info("at work", extra={"judge_config": self._parts.rules.judge_config})
        return DurableWorker(
            bus,
            SegmentExported,
            CONSUMER,
            scorer.handle_segment_exported,
            settings=WorkerSettings(concurrency=self._settings.concurrency),
            observer=self._observer,
        )


def _now() -> datetime:
    return datetime.now(UTC)
