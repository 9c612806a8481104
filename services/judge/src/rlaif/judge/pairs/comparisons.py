"""Compares pairs of segments and stores the results.

After a segment is scored, there may be one comparison, of a pair on which the reward model's
networks disagree. A failure affects a comparison, never a score.
"""

import asyncio
import hashlib
import logging
from collections.abc import Callable, Container

from pydantic import ValidationError

from rlaif.contracts.judging.comparisons import ComparisonRecord, WhyCompared
from rlaif.contracts.judging.scores import ScoreRecord
from rlaif.judge.evidence.loading import CorruptSegmentError, load_segment
from rlaif.judge.evidence.summary import summarise
from rlaif.judge.pairs.choice import RequestedPairs
from rlaif.judge.pairs.pair_judge import NotComparableError, Pair, PairJudge, Scored, result_of
from rlaif.judge.panel.panel import in_share
from rlaif.llm.ports import ModelError, UnreadableAnswerError
from rlaif.storage import keys
from rlaif.storage.ports import (
    ObjectCorruptError,
    ObjectNotFoundError,
    ObjectStore,
    StorageError,
)

logger = logging.getLogger(__name__)

OnCompared = Callable[[WhyCompared, str, ComparisonRecord | None], None]
"""Called with the reason, the result, and the stored record, if any."""


class Comparisons:
    """Chooses pairs, requests their comparison, and stores the records."""

    def __init__(
        self,
        store: ObjectStore,
        judge_config: str,
        judge: PairJudge,
        requested: RequestedPairs,
        *,
        share: float,
        on_compared: OnCompared,
        excluded: Callable[[], Container[str]] = frozenset,
    ) -> None:
        """Compare after a `share` of the segments, unless the judge is among those `excluded`."""
        self._store = store
        self._judge_config = judge_config
        self._judge = judge
        self._requested = requested
        self._share = share
        self._on_compared = on_compared
        self._excluded = excluded
        # The requested pairs are used by one thread at a time.
        self._choosing = asyncio.Lock()

    async def after_scoring(self, segment_id: str) -> None:
        """Compare one pair if the scored segment is in the share."""
        if not in_share("compare", segment_id, self._share):
            return
        if self._judge.judge.name in self._excluded():
            return
        async with self._choosing:
            pair = await asyncio.to_thread(self._find, segment_id)
        if pair is not None:
            await self._compare_and_report(pair)

    async def _compare_and_report(self, pair: Pair) -> None:
        try:
            found = await self._compare(pair)
        except (CorruptSegmentError, ObjectNotFoundError) as error:
            self._failed(pair.why, "unreadable", error)
        except UnreadableAnswerError as error:
            self._failed(pair.why, "unanswered", error)
        except (ModelError, StorageError) as error:
            self._failed(pair.why, "outage", error)
        except NotComparableError as error:
            self._failed(pair.why, error.result, error)
        else:
            self._on_compared(pair.why, result_of(found) if found else "repeated", found)

    def _find(self, segment_id: str) -> Pair | None:
        """A requested pair; None if its segments cannot be read."""
        try:
            pair = self._requested.take(segment_id)
            if pair is None:
                return None
            first, second = (self.read(name) for name in (pair.first, pair.second))
        except (ObjectNotFoundError, CorruptSegmentError) as error:
            self._failed("uncertain", "unreadable", error)
            return None
        except StorageError as error:
            self._failed("uncertain", "outage", error)
            return None
        if first.record.distrusted or second.record.distrusted:
            # A comparison refers to its scores, and provisional ones will be replaced.
            self._on_compared(pair.why, "provisional", None)
            return None
        return Pair(pair.why, first, second)

    async def _compare(self, pair: Pair) -> ComparisonRecord | None:
        found = await self._judge.compare(pair)
        key = keys.comparison(found.judge_config, found.first, found.second)
        data = found.model_dump_json().encode()
        put_once, kind = self._store.put_once, "application/json"
        return found if await asyncio.to_thread(put_once, key, data, content_type=kind) else None

    def read(self, segment_id: str) -> Scored:
        """A stored score and its evidence. Blocks.

        Raises:
            ObjectNotFoundError: The score or the segment is missing.
            CorruptSegmentError: The score or the segment is corrupt.
            StoreUnavailableError: The store did not answer.
        """
        key = keys.score(self._judge_config, segment_id)
        try:
            data = self._store.get(key)
            record = ScoreRecord.model_validate_json(data)
        except (ValidationError, ObjectCorruptError) as error:
            raise CorruptSegmentError(f"{key} is not a score: {error}"[:500]) from error
        if record.segment_id != segment_id:
            raise CorruptSegmentError(f"{key} is the score of {record.segment_id}")
        evidence = summarise(load_segment(self._store, record).states)
        return Scored(evidence, record, hashlib.sha256(data).hexdigest())

    def _failed(self, why: WhyCompared, result: str, error: Exception) -> None:
        logger.info("no comparison (%s): %s", why, error)
        self._on_compared(why, result, None)
