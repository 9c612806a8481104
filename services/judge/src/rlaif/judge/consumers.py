"""What the judge does with an event: score the exported segment once, and tell of it.

The score object is the commit point. An event of a segment that has one costs no call of a model:
its event is published again from the stored object. The event id makes the repeat harmless.
"""

import asyncio
import contextlib
import hashlib
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import ValidationError

from rlaif.bus.errors import BusUnavailableError
from rlaif.bus.outcome import Reject, Retry
from rlaif.bus.ports import Publisher, TelemetryPublisher
from rlaif.contracts.envelope import CloudEvent
from rlaif.contracts.events import SegmentExported
from rlaif.contracts.scores import JudgeCallRecord, ScoreRecord
from rlaif.contracts.telemetry import JudgeCall
from rlaif.judge.evidence import summarise
from rlaif.judge.loading import CorruptSegmentError, LoadedSegment, load_segment
from rlaif.judge.metrics import JudgeMetrics
from rlaif.judge.panel import Case, Panel
from rlaif.judge.ports import OutageError
from rlaif.judge.scoring import score_record, scored_event
from rlaif.storage import keys
from rlaif.storage.ports import ObjectNotFoundError, ObjectStore, StoreUnavailableError

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ScoringRules:
    """What every score of this service is made with.

    Attributes:
        judge_config: Id of judges, prompts and votes.
        weights: Criterion → weight of the rubric.
        pictures: Pictures loaded for a segment: the most that a judge looks at.
    """

    judge_config: str
    weights: Mapping[str, float]
    pictures: int


class SegmentScorer:
    """Handles `SegmentExported`."""

    def __init__(
        self,
        store: ObjectStore,
        panel: Panel,
        publisher: Publisher,
        telemetry: TelemetryPublisher,
        rules: ScoringRules,
        metrics: JudgeMetrics,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Score segments of `store` with `panel` and publish what came of it."""
        self._store = store
        self._panel = panel
        self._publisher = publisher
        self._telemetry = telemetry
        self._rules = rules
        self._metrics = metrics
        self._now = now
        self._locks: dict[str, tuple[asyncio.Lock, int]] = {}

    async def handle_segment_exported(self, event: CloudEvent[Any]) -> None:
        """Score the segment unless it has a score, then publish `SegmentScored`.

        Raises:
            Retry: A model route, the store or NATS does not work now; nothing was committed.
            Reject: The segment or its stored score is corrupt.
            MissingObjectError: An object is missing; after some attempts the event is dead.
        """
        exported: SegmentExported = event.data
        try:
            async with self._alone(exported.segment_id):
                stored = await self._stored_score(exported.segment_id)
                if stored is None:
                    stored = await self._score(exported)
                else:
                    self._metrics.repeated()
                await self._tell(stored, cause=event)
        except OutageError as error:
            after = None if error.retry_after is None else timedelta(seconds=error.retry_after)
            raise Retry(f"a judge is out of reach: {error}", after) from error
        except (StoreUnavailableError, BusUnavailableError) as error:
            raise Retry(str(error)) from error
        except CorruptSegmentError as error:
            raise Reject("corrupt_segment", str(error)) from error

    async def _score(self, exported: SegmentExported) -> bytes:
        """Judge the segment and commit the score; gives the bytes that are stored."""
        segment = await asyncio.to_thread(
            load_segment,
            self._store,
            manifest_key=exported.manifest_key,
            manifest_sha256=exported.manifest_sha256,
            pictures=self._rules.pictures,
        )
        if segment.manifest.segment_id != exported.segment_id:
            raise CorruptSegmentError(
                f"the event names segment {exported.segment_id}, its manifest another"
            )
        record = await self._judge(segment, exported)
        key = keys.score(self._rules.judge_config, exported.segment_id)
        data = record.model_dump_json().encode()
        if await asyncio.to_thread(
            self._store.put_once, key, data, content_type="application/json"
        ):
            self._metrics.scored(record)
            return data
        # Another judge was faster: its object is the score.
        self._metrics.repeated()
        return await asyncio.to_thread(self._store.get, key)

    async def _judge(self, segment: LoadedSegment, exported: SegmentExported) -> ScoreRecord:
        calls: list[JudgeCallRecord] = []

        async def called(record: JudgeCallRecord) -> None:
            calls.append(record)
            self._metrics.called(record)
            await self._telemetry.send(_reading(record, exported.segment_id, self._now()))

        facts = summarise(segment.records, frame_skip=segment.manifest.frame_skip)
        results = await self._panel.judge(Case(facts, segment.pictures), called)
        return score_record(
            segment.manifest,
            results,
            judge_config=self._rules.judge_config,
            manifest_key=exported.manifest_key,
            manifest_sha256=exported.manifest_sha256,
            weights=self._rules.weights,
            calls=sorted(calls, key=lambda call: (call.judge, call.vote)),
            created_at=self._now(),
        )

    async def _stored_score(self, segment_id: str) -> bytes | None:
        key = keys.score(self._rules.judge_config, segment_id)
        with contextlib.suppress(ObjectNotFoundError):
            return await asyncio.to_thread(self._store.get, key)
        return None

    async def _tell(self, stored: bytes, *, cause: CloudEvent[Any]) -> None:
        """Publish the event of the stored object, whoever wrote it."""
        segment_id = cause.data.segment_id
        key = keys.score(self._rules.judge_config, segment_id)
        try:
            record = ScoreRecord.model_validate_json(stored)
        except ValidationError as error:
            raise Reject(
                "corrupt_score", f"{key} is not a score; delete it and send the event again"
            ) from error
        digest = hashlib.sha256(stored).hexdigest()
        await self._publisher.publish(scored_event(record, key=key, sha256=digest), cause=cause)
        logger.info(
            "scored",
            extra={
                "segment_id": segment_id,
                "weighted": record.weighted,
                "abstained": sorted(record.abstentions),
            },
        )

    @contextlib.asynccontextmanager
    async def _alone(self, segment_id: str) -> AsyncIterator[None]:
        """One handler a segment at a time, so that duplicates at once cost no second round."""
        lock, waiting = self._locks.get(segment_id, (asyncio.Lock(), 0))
        self._locks[segment_id] = (lock, waiting + 1)
        try:
            async with lock:
                yield
        finally:
            _, waiting = self._locks.pop(segment_id)
            if waiting > 1:
                self._locks[segment_id] = (lock, waiting - 1)


def _reading(record: JudgeCallRecord, segment_id: str, at: datetime) -> JudgeCall:
    return JudgeCall(
        at=at,
        judge=record.judge,
        route=record.route,
        model=record.model,
        segment_id=segment_id,
        outcome=record.outcome,
        latency_seconds=record.latency_seconds,
        rationale=record.rationale,
    )
