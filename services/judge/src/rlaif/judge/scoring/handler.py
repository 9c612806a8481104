"""Handles the event of an exported segment.

A segment with a score costs no model call: its event is published again. After a new score, if
tokens are left, a pair is compared and a provisional score is replaced; failures of these never
affect the event.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from rlaif.bus.errors import BusUnavailableError
from rlaif.bus.outcome import Reject, Retry, Suspect
from rlaif.contracts.events import CloudEvent, SegmentExported
from rlaif.contracts.judging.scores import ScoreRecord
from rlaif.judge.evidence.loading import CorruptSegmentError
from rlaif.judge.metrics import JudgeMetrics
from rlaif.judge.pairs.comparisons import Comparisons
from rlaif.judge.scoring.judging import SegmentJudge
from rlaif.judge.scoring.provisional import ProvisionalScores
from rlaif.judge.scoring.scores import CorruptScoreError, Scores, StoredScore
from rlaif.judge.trust.token_budget import TokenBudget
from rlaif.llm.ports import OutageError
from rlaif.storage.ports import ObjectNotFoundError, ObjectStore, StoreUnavailableError

MIN_RETRY_SECONDS, MAX_RETRY_SECONDS = 1.0, 30.0
"""Delay of an event after an outage; short, so that the end of an outage is detected early."""

logger = logging.getLogger(__name__)


@dataclass
class SegmentHandler:
    """Handles `SegmentExported`; everything except the score is optional."""

    store: ObjectStore
    judge: SegmentJudge
    scores: Scores
    metrics: JudgeMetrics
    comparisons: Comparisons | None = None
    provisional: ProvisionalScores | None = None
    budget: TokenBudget | None = None
    _locks: dict[str, tuple[asyncio.Lock, int]] = field(default_factory=dict, init=False)

    async def handle_segment_exported(self, event: CloudEvent[Any]) -> None:
        """Score the segment unless it has a score, then publish `SegmentScored`.

        Raises:
            Retry: A model route, the store or NATS is unavailable; nothing was committed.
            Reject: The segment or its stored score is corrupt.
            Suspect: An object is missing; after some retries the event becomes a dead letter.
        """
        exported: SegmentExported = event.data
        is_scored = False
        with _as_outcomes():
            async with self._exclusively(exported.segment_id):
                stored = await self.scores.get(exported.segment_id)
                if stored is None:
                    stored, is_scored = await self._score(exported), True
                else:
                    self.metrics.repeated()
                await self.scores.publish(stored)
        if is_scored and not self._seconds_to_wait():
            await self._after(stored.record)

    async def _score(self, exported: SegmentExported) -> StoredScore:
        await self._require_tokens()
        record = await self.judge.judge(exported)
        if record.distrusted and self.provisional is not None:
            await self.provisional.note(exported, record.distrusted)
        stored, is_new = await self.scores.commit(record)
        if is_new:
            self.metrics.scored(stored.record)
        else:
            self.metrics.repeated()  # another replica was faster
        return stored

    async def _after(self, record: ScoreRecord) -> None:
        """Compare a pair of segments, and replace one provisional score."""
        if self.comparisons is not None and not record.distrusted:
            await self.comparisons.after_scoring(record.segment_id)
        if self.provisional is None:
            return
        try:
            stored = await self.provisional.rescore_one(self.judge, after=record.segment_id)
            if stored is not None:
                self.metrics.judged_again()
                await self.scores.publish(stored)
                await self.provisional.drop(stored.record.segment_id)
        except (OutageError, StoreUnavailableError, BusUnavailableError) as error:
            logger.info("provisional scores are not replaced now: %s", error)

    async def _require_tokens(self) -> None:
        if self.budget is None:
            return
        await self.budget.refresh(self.store)
        if wait := self._seconds_to_wait():
            raise Retry(self.budget.check() or "no tokens left today", _clamped(wait))

    def _seconds_to_wait(self) -> float:
        return self.budget.seconds_to_wait() if self.budget else 0.0

    @contextlib.asynccontextmanager
    async def _exclusively(self, segment_id: str) -> AsyncIterator[None]:
        """Allow one handler per segment at a time, so that concurrent duplicates cost no calls."""
        lock, waiting = self._locks.get(segment_id, (asyncio.Lock(), 0))
        self._locks[segment_id] = (lock, waiting + 1)
        try:
            async with lock:
                yield
        finally:
            _, waiting = self._locks.pop(segment_id)
            if waiting > 1:
                self._locks[segment_id] = (lock, waiting - 1)


@contextlib.contextmanager
def _as_outcomes() -> Iterator[None]:
    try:
        yield
    except OutageError as error:
        # The routes limit their own calls, so the event need not wait for long.
        raise Retry(
            f"a judge is unavailable: {error}", _clamped(error.retry_after or 0.0)
        ) from error
    except (StoreUnavailableError, BusUnavailableError) as error:
        raise Retry(str(error)) from error
    except ObjectNotFoundError as error:
        raise Suspect("missing_object", str(error)) from error
    except CorruptSegmentError as error:
        raise Reject("corrupt_segment", str(error)) from error
    except CorruptScoreError as error:
        raise Reject("corrupt_score", str(error)) from error


def _clamped(seconds: float) -> timedelta:
    return timedelta(seconds=min(max(seconds, MIN_RETRY_SECONDS), MAX_RETRY_SECONDS))
