"""What the judge does with an event: score the exported segment once, and tell of it.

The score object is the commit point. An event of a segment that has one costs no call of a model:
its event is published again from the stored object. The event id makes the repeat harmless.
"""

import asyncio
import contextlib
import hashlib
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import ValidationError

from rlaif.bus.errors import BusUnavailableError
from rlaif.bus.outcome import Reject, Retry, Suspect
from rlaif.bus.ports import Publisher, TelemetryPublisher
from rlaif.contracts.envelope import CloudEvent
from rlaif.contracts.events import SegmentExported
from rlaif.contracts.evidence import Evidence
from rlaif.contracts.scores import JudgeCallRecord, ScoreRecord
from rlaif.contracts.telemetry import JudgeCall
from rlaif.judge.evidence.loading import CorruptSegmentError, LoadedSegment, load_segment
from rlaif.judge.evidence.ram_verdicts import ram_verdicts
from rlaif.judge.evidence.strip import load_strip
from rlaif.judge.evidence.summary import summarise
from rlaif.judge.metrics import JudgeMetrics
from rlaif.judge.panel.assignment import in_share, judges_needed
from rlaif.judge.panel.calls import reported_outcome
from rlaif.judge.panel.comparisons import Comparisons
from rlaif.judge.panel.pair_choice import Scored
from rlaif.judge.panel.panel import Case, Panel
from rlaif.judge.panel.scoring import ScoringRules, score_record, scored_event
from rlaif.judge.rejudging import Rejudging
from rlaif.judge.trust.canary_rounds import CanaryRounds
from rlaif.judge.trust.token_budget import TokenBudget
from rlaif.llm.ports import OutageError
from rlaif.storage import keys
from rlaif.storage.ports import ObjectNotFoundError, ObjectStore, StoreUnavailableError

LEAST_RETRY_SECONDS, MOST_RETRY_SECONDS = 1.0, 30.0
"""How long an event waits after an outage; short, so that the end of an outage is noticed."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ScoringParts:
    """What a segment is scored with."""

    panel: Panel
    rules: ScoringRules
    metrics: JudgeMetrics
    canary_rounds: CanaryRounds | None = None
    comparisons: Comparisons | None = None
    budget: TokenBudget | None = None
    rejudging: Rejudging | None = None


class SegmentScorer:
    """Handles `SegmentExported`."""

    def __init__(
        self,
        store: ObjectStore,
        publisher: Publisher,
        telemetry: TelemetryPublisher,
        parts: ScoringParts,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = store
        self._publisher = publisher
        self._telemetry = telemetry
        self._parts = parts
        self._rules = parts.rules
        self._metrics = parts.metrics
        self._now = now
        self._locks: dict[str, tuple[asyncio.Lock, int]] = {}

    async def handle_segment_exported(self, event: CloudEvent[Any]) -> None:
        """Score the segment unless it has a score, then publish `SegmentScored`.

        Raises:
            Retry: A model route, the store or NATS does not work now; nothing was committed.
            Reject: The segment or its stored score is corrupt.
            Suspect: An object is missing; after some tries the event is dead.
        """
        exported: SegmentExported = event.data
        try:
            async with self._alone(exported.segment_id):
                stored, evidence = await self._stored_score(exported.segment_id), None
                if stored is None:
                    stored, evidence = await self._score(exported)
                else:
                    self._metrics.repeated()
                record = await self._publish(stored, exported.segment_id)
        except OutageError as error:
            # The routes pace their calls themselves, so an event need not wait for long.
            wait = _shortly(error.retry_after or 0.0)
            raise Retry(f"a judge is out of reach: {error}", wait) from error
        except (StoreUnavailableError, BusUnavailableError) as error:
            raise Retry(str(error)) from error
        except ObjectNotFoundError as error:
            raise Suspect("missing_object", str(error)) from error
        except CorruptSegmentError as error:
            raise Reject("corrupt_segment", str(error)) from error
        if evidence is None or self._wait_for_tokens():
            return
        if self._parts.comparisons is not None and not record.distrusted:
            digest = hashlib.sha256(stored).hexdigest()
            await self._parts.comparisons.after_scoring(Scored(evidence, record, digest))
        if self._parts.rejudging is not None:
            await self._judge_one_again(self._parts.rejudging, after=exported.segment_id)

    async def _score(self, exported: SegmentExported) -> tuple[bytes, Evidence]:
        """Judge the segment and commit the score; gives the stored bytes and the evidence."""
        await self._require_budget()
        segment = await self._loaded(exported)
        if self._parts.canary_rounds is not None:
            await self._parts.canary_rounds.before_segment()
        evidence = summarise(segment.states)
        record = await self._judge(segment, evidence, exported)
        if record.distrusted and self._parts.rejudging is not None:
            await self._parts.rejudging.note(exported, record.distrusted)
        key = keys.score(self._rules.judge_config, exported.segment_id)
        data = record.model_dump_json().encode()
        if await asyncio.to_thread(
            self._store.put_once, key, data, content_type="application/json"
        ):
            self._metrics.scored(record)
            return data, evidence
        # Another judge was faster: its object is the score.
        self._metrics.repeated()
        return await asyncio.to_thread(self._store.get, key), evidence

    async def _require_budget(self) -> None:
        budget = self._parts.budget
        if budget is None:
            return
        await budget.refresh(self._store)
        if wait := self._wait_for_tokens():
            raise Retry(budget.check() or "the day's tokens are spent", _shortly(wait))

    def _wait_for_tokens(self) -> float:
        """Seconds until tokens may be spent again; 0 for now."""
        return self._parts.budget.seconds_to_wait() if self._parts.budget else 0.0

    async def _loaded(self, exported: SegmentExported) -> LoadedSegment:
        segment = await asyncio.to_thread(
            load_segment,
            self._store,
            manifest_key=exported.manifest_key,
            manifest_sha256=exported.manifest_sha256,
        )
        if segment.manifest.segment_id != exported.segment_id:
            raise CorruptSegmentError(
                f"the event names segment {exported.segment_id}, its manifest another"
            )
        return segment

    async def _judge_one_again(self, rejudging: Rejudging, *, after: str) -> None:
        """Judge one segment again that was scored without a judge; no event waits for it."""
        try:
            exported = await rejudging.next(after=after)
            if exported is not None:
                await self._judge_again(exported, rejudging)
        except (OutageError, StoreUnavailableError, BusUnavailableError) as error:
            logger.info("nothing is judged again now: %s", error)

    async def _judge_again(self, exported: SegmentExported, rejudging: Rejudging) -> None:
        try:
            segment = await self._loaded(exported)
        except (ObjectNotFoundError, CorruptSegmentError) as error:
            logger.warning("%s cannot be judged again: %s", exported.segment_id, error)
            return await rejudging.drop(exported.segment_id)
        record = await self._judge(segment, summarise(segment.states), exported)
        if rejudging.is_final(record):
            stored = await rejudging.replace(record.model_copy(update={"distrusted": ()}))
            self._metrics.judged_again()
            await self._publish(stored, exported.segment_id)
            await rejudging.drop(exported.segment_id)

    async def _judge(
        self, segment: LoadedSegment, evidence: Evidence, exported: SegmentExported
    ) -> ScoreRecord:
        calls: list[JudgeCallRecord] = []

        async def on_call(record: JudgeCallRecord) -> None:
            calls.append(record)
            self._metrics.called(record)
            await self._telemetry.send(_call_telemetry(record, exported.segment_id, self._now()))

        found = await self._parts.panel.judge(await self._case(segment, evidence), on_call)
        self._metrics.heard(found.heard)
        at, manifest = self._now(), segment.manifest
        record = score_record(
            exported, manifest, evidence, found, self._rules, calls=calls, created_at=at
        )
        if self._parts.canary_rounds is not None:
            self._parts.canary_rounds.after_segment(found, record)
        return record

    async def _case(self, segment: LoadedSegment, evidence: Evidence) -> Case:
        """The evidence, what needs no judge, and pictures when somebody looks at them."""
        decided = ram_verdicts(evidence, self._rules.computed)
        audit = in_share("audit", segment.manifest.segment_id, self._rules.audit_share)
        asked = judges_needed(self._rules.judges, decided, audit=audit)
        most = max((judge.pictures for judge in asked), default=0)
        strip = await asyncio.to_thread(load_strip, self._store, segment, most)
        return Case(evidence, strip, decided, audit)

    async def _stored_score(self, segment_id: str) -> bytes | None:
        key = keys.score(self._rules.judge_config, segment_id)
        with contextlib.suppress(ObjectNotFoundError):
            return await asyncio.to_thread(self._store.get, key)
        return None

    async def _publish(self, stored: bytes, segment_id: str) -> ScoreRecord:
        """Publish the event of the stored object, whoever wrote it."""
        key = keys.score(self._rules.judge_config, segment_id)
        try:
            record = ScoreRecord.model_validate_json(stored)
        except ValidationError as error:
            raise Reject(
                "corrupt_score", f"{key} is not a score; delete it and send the event again"
            ) from error
        digest = hashlib.sha256(stored).hexdigest()
        await self._publisher.publish(scored_event(record, key=key, sha256=digest))
        logger.info(
            "scored",
            extra={
                "segment_id": segment_id,
                "weighted": record.weighted,
                "abstained": sorted(record.abstentions),
            },
        )
        return record

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


def _shortly(seconds: float) -> timedelta:
    """Such a pause, within the limits of an event's."""
    return timedelta(seconds=min(max(seconds, LEAST_RETRY_SECONDS), MOST_RETRY_SECONDS))


def _call_telemetry(record: JudgeCallRecord, segment_id: str, at: datetime) -> JudgeCall:
    return JudgeCall(
        at=at,
        judge=record.judge,
        route=record.route,
        model=record.model,
        segment_id=segment_id,
        outcome=reported_outcome(record),
        latency_seconds=record.latency_seconds,
        rationale=record.rationale,
    )
