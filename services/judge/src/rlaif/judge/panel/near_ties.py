"""Compares segments whose scores nearly tie, in both orders, and keeps what came of it.

Three levels a criterion are robust and coarse: many segments get the same mean. Where a preference
would be a coin flip, the sharper question is asked. A failure here costs a comparison, never a
score.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from rlaif.contracts.comparisons import ComparisonRecord, Preference, soft_preference
from rlaif.contracts.evidence import Evidence
from rlaif.contracts.scores import JudgeCallRecord, ScoreRecord
from rlaif.judge.panel.assignment import in_share
from rlaif.judge.panel.calls import CallLog
from rlaif.judge.panel.pairwise import (
    comparison_messages,
    comparison_schema,
    read_comparison,
    turned,
)
from rlaif.judge.panel.schema import InvalidAnswerError
from rlaif.judge.routes.ports import CompletionRequest, ModelError
from rlaif.judge.routes.route import Route
from rlaif.judge.rubric.judges import Judge
from rlaif.judge.settings import CompareSettings
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore, StorageError

logger = logging.getLogger(__name__)

_KEPT = 64


@dataclass(frozen=True)
class _Scored:
    evidence: Evidence
    record: ScoreRecord
    sha256: str


class NearTies:
    """Looks for near-ties among the segments that this process scored last."""

    def __init__(
        self,
        store: ObjectStore,
        judge: Judge,
        route: Route,
        settings: CompareSettings,
        *,
        max_tokens: int,
        on_call: Callable[[JudgeCallRecord], None],
        on_compared: Callable[[str], None],
        now: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._judge = judge
        self._route = route
        self._settings = settings
        self._max_tokens = max_tokens
        self._on_call = on_call
        self._on_compared = on_compared
        self._now = now
        self._recent: deque[_Scored] = deque(maxlen=_KEPT)

    async def compare_near_tie(self, evidence: Evidence, record: ScoreRecord, sha256: str) -> None:
        """Compare a segment that was just scored with the newest near-tie, if there is one."""
        scored = _Scored(evidence, record, sha256)
        other = self._partner(scored)
        if record.weighted is not None:
            self._recent.append(scored)
        if other is None or not in_share("compare", record.segment_id, self._settings.share):
            return
        first, second = sorted((scored, other), key=lambda item: item.record.segment_id)
        try:
            found = await self._ask_both_orders(first, second)
            key = keys.comparison(found.judge_config, found.first, found.second)
            await asyncio.to_thread(
                self._store.put_once,
                key,
                found.model_dump_json().encode(),
                content_type="application/json",
            )
        except (ModelError, StorageError) as error:
            logger.info("no comparison: %s", error)
            self._on_compared("outage")
        else:
            self._on_compared(result_of(found))

    def _partner(self, scored: _Scored) -> _Scored | None:
        mean = scored.record.weighted
        if mean is None:
            return None
        for other in reversed(self._recent):
            near = abs((other.record.weighted or 0.0) - mean) <= self._settings.margin
            same = other.record.evidence_sha256 == scored.record.evidence_sha256
            if near and not same and other.record.segment_id != scored.record.segment_id:
                return other
        return None

    async def _ask_both_orders(self, first: _Scored, second: _Scored) -> ComparisonRecord:
        calls: list[JudgeCallRecord] = []

        async def on_call(record: JudgeCallRecord) -> None:
            calls.append(record)
            self._on_call(record)

        straight, swapped = await asyncio.gather(
            self._ask(first.evidence, second.evidence, 0, on_call),
            self._ask(second.evidence, first.evidence, 1, on_call),
        )
        other = turned(swapped)
        return ComparisonRecord(
            judge_config=first.record.judge_config,
            judge=self._judge.name,
            first=first.record.segment_id,
            second=second.record.segment_id,
            first_score_sha256=first.sha256,
            second_score_sha256=second.sha256,
            first_shown_first=straight,
            second_shown_first=other,
            soft=soft_preference(straight, other),
            calls=tuple(sorted(calls, key=lambda call: call.vote)),
            created_at=self._now(),
        )

    async def _ask(
        self,
        shown_first: Evidence,
        shown_second: Evidence,
        order: int,
        on_call: Callable[[JudgeCallRecord], Awaitable[None]],
    ) -> Preference | None:
        request = CompletionRequest(
            model=self._judge.model,
            messages=comparison_messages(self._judge, shown_first, shown_second),
            schema_name="comparison",
            schema=comparison_schema(),
            seed=0,
            temperature=0.0,
            max_tokens=self._max_tokens,
        )
        log = CallLog(self._judge, self._route, order, request, on_call)
        answer, seconds = await self._route.complete(request, on_failure=log.failed, once=True)
        try:
            preference, rationale = read_comparison(answer.text)
        except InvalidAnswerError as error:
            await log.write("invalid", seconds, answer=answer, detail=str(error))
            return None
        await log.write("ok", seconds, answer=answer, rationale=rationale)
        return preference


def result_of(record: ComparisonRecord) -> str:
    """How a comparison is counted."""
    if record.soft is None:
        return "unanswered"
    if record.soft != 0.5:
        return "decided"
    return "tie" if record.first_shown_first == "tie" else "orders_disagree"
