"""Asks one judge which of two segments is better, in both orders."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from rlaif.contracts.comparisons import (
    ComparisonRecord,
    Preference,
    WhyCompared,
    soft_preference,
)
from rlaif.contracts.evidence import Evidence
from rlaif.contracts.scores import JudgeCallRecord
from rlaif.judge.pairs.choice import Scored
from rlaif.judge.pairs.question import (
    Strips,
    comparison_messages,
    comparison_schema,
    read_comparison,
    turned,
)
from rlaif.judge.panel import prompts
from rlaif.judge.panel.calls import JudgeCall, OnCall
from rlaif.judge.panel.schema import check_answer
from rlaif.judge.rubric.judges import Judge, briefed
from rlaif.llm.ports import CompletionRequest
from rlaif.llm.route import Route


class NotComparableError(Exception):
    """Two segments cannot be compared; `result` is a code for metrics."""

    def __init__(self, result: str, detail: str) -> None:
        super().__init__(detail)
        self.result = result


@dataclass(frozen=True)
class Pair:
    """Two scored segments, the smaller id first, and the reason for their comparison.

    `strips` are the pictures of both, if they are shown.
    """

    why: WhyCompared
    first: Scored
    second: Scored
    strips: Strips | None = None


class PairJudge:
    """One judge that compares pairs."""

    def __init__(
        self,
        judge: Judge,
        route: Route,
        *,
        max_tokens: int,
        on_call: Callable[[JudgeCallRecord], None],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.judge = judge
        self._route = route
        self._max_tokens = max_tokens
        self._on_call = on_call
        self._now = now

    async def compare(self, pair: Pair) -> ComparisonRecord:
        """Make two calls, one per order, without retries.

        Raises:
            ModelError: A call failed.
            NotComparableError: The segments are of two games, or too long for the model.
        """
        judge = self._briefed(pair)
        calls: list[JudgeCallRecord] = []

        async def on_call(record: JudgeCallRecord) -> None:
            calls.append(record)
            self._on_call(record)

        first, second = pair.first, pair.second
        mirrored = pair.strips and (pair.strips[1], pair.strips[0])
        orders = (
            self._request(judge, first.evidence, second.evidence, pair.strips),
            self._request(judge, second.evidence, first.evidence, mirrored),
        )
        straight, swapped = await asyncio.gather(
            *(self._ask(request, order, on_call) for order, request in enumerate(orders))
        )
        other = turned(swapped)
        return ComparisonRecord(
            judge_config=first.record.judge_config,
            judge=self.judge.name,
            first=first.segment_id,
            second=second.segment_id,
            first_score_sha256=first.sha256,
            second_score_sha256=second.sha256,
            first_shown_first=straight,
            second_shown_first=other,
            soft=soft_preference(straight, other),
            calls=tuple(sorted(calls, key=lambda call: call.vote)),
            created_at=self._now(),
            why=pair.why,
            pictures=pair.strips is not None,
        )

    def _briefed(self, pair: Pair) -> Judge:
        """The judge with the guide of the game of both segments."""
        games = {item.evidence.end.game for item in (pair.first, pair.second)}
        if len(games) > 1:
            raise NotComparableError("two_games", "the segments are of two games")
        return briefed(self.judge, *games)

    def _request(
        self, judge: Judge, shown_first: Evidence, shown_second: Evidence, strips: Strips | None
    ) -> CompletionRequest:
        messages = comparison_messages(judge, shown_first, shown_second, strips)
        needed = prompts.tokens(messages) + self._max_tokens
        if needed > judge.context_tokens:
            raise NotComparableError(
                "too_long",
                f"both segments need about {needed} tokens, but the context of {judge.name} has "
                f"{judge.context_tokens}",
            )
        return CompletionRequest(
            model=judge.model,
            messages=messages,
            schema_name="comparison",
            schema=comparison_schema(),
            seed=0,
            temperature=0.0,
            max_tokens=self._max_tokens,
            check=partial(check_answer, read_comparison),
        )

    async def _ask(
        self, request: CompletionRequest, order: int, on_call: OnCall
    ) -> Preference | None:
        call = JudgeCall(self.judge, self._route, order, request, on_call)
        found = await call.complete(retry=False)
        preference, rationale = read_comparison(found.answer.text)
        await call.record(found, rationale)
        return preference


def result_of(record: ComparisonRecord) -> str:
    """The result of a comparison, for metrics."""
    if record.soft is None:
        return "unanswered"
    if record.soft != 0.5:
        return "decided"
    return "tie" if record.first_shown_first == "tie" else "orders_disagree"
