"""Asks one judge which of two segments is better, in both orders.

Language models are biased towards one of the two positions, depending on model and prompt. So each
pair is shown in both orders, and a preference that follows the position counts as a tie.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from rlaif.contracts.judging.comparisons import (
    ComparisonRecord,
    Preference,
    WhyCompared,
    soft_preference,
)
from rlaif.contracts.judging.evidence import Evidence, EvidencePair
from rlaif.contracts.judging.scores import JudgeCallRecord, ScoreRecord
from rlaif.judge.panel import prompts
from rlaif.judge.panel.calls import JudgeCall
from rlaif.judge.panel.prompts import Message
from rlaif.judge.panel.schema import (
    RATIONALE_CHARACTERS,
    InvalidAnswerError,
    check_answer,
    choice_of,
    parse_answer,
)
from rlaif.judge.rubric.judges import COMPARISON, INSUFFICIENT, Judge, briefed
from rlaif.llm.fence import fence
from rlaif.llm.ports import CompletionRequest
from rlaif.llm.route import Route

_PLACES: dict[str, Preference] = {"segment_1": "first", "segment_2": "second", "tie": "tie"}


class NotComparableError(Exception):
    """Two segments cannot be compared; `result` is a code for metrics."""

    def __init__(self, result: str, detail: str) -> None:
        super().__init__(detail)
        self.result = result


@dataclass(frozen=True)
class Scored:
    """A segment with its score; `sha256` is the digest of the stored score."""

    evidence: Evidence
    record: ScoreRecord
    sha256: str

    @property
    def segment_id(self) -> str:
        return self.record.segment_id


@dataclass(frozen=True)
class Pair:
    """Two scored segments, the smaller id first, and the reason for their comparison."""

    why: WhyCompared
    first: Scored
    second: Scored


@dataclass
class PairJudge:
    """One judge that compares pairs."""

    judge: Judge
    route: Route
    max_tokens: int
    on_call: Callable[[JudgeCallRecord], None]
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    async def compare(self, pair: Pair) -> ComparisonRecord:
        """Make two calls, one per order, without retries.

        Raises:
            ModelError: A call failed.
            NotComparableError: The segments are of two games, or too long for the model.
        """
        first, second = pair.first, pair.second
        games = {item.evidence.end.game for item in (first, second)}
        if len(games) > 1:
            raise NotComparableError("two_games", "the segments are of two games")
        judge = briefed(self.judge, *games)
        calls: list[JudgeCallRecord] = []
        orders = (
            self._request(judge, first.evidence, second.evidence),
            self._request(judge, second.evidence, first.evidence),
        )
        straight, swapped = await asyncio.gather(
            *(self._ask(request, order, calls) for order, request in enumerate(orders))
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
            created_at=self.now(),
            why=pair.why,
        )

    def _request(
        self, judge: Judge, shown_first: Evidence, shown_second: Evidence
    ) -> CompletionRequest:
        messages = comparison_messages(judge, shown_first, shown_second)
        needed = prompts.tokens(messages) + self.max_tokens
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
            max_tokens=self.max_tokens,
            check=partial(check_answer, read_comparison),
        )

    async def _ask(
        self, request: CompletionRequest, order: int, calls: list[JudgeCallRecord]
    ) -> Preference | None:
        async def on_call(record: JudgeCallRecord) -> None:
            calls.append(record)
            self.on_call(record)

        call = JudgeCall(self.judge, self.route, order, request, on_call)
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


def comparison_schema() -> dict[str, Any]:
    """JSON schema of the answer; the rationale comes first."""
    return {
        "type": "object",
        "properties": {
            "rationale": {"type": "string", "maxLength": RATIONALE_CHARACTERS},
            "better": {"enum": [*_PLACES, INSUFFICIENT]},
        },
        "required": ["rationale", "better"],
        "additionalProperties": False,
    }


def comparison_messages(
    judge: Judge, shown_first: Evidence, shown_second: Evidence
) -> tuple[Message, ...]:
    """Chat messages: the frozen part first, then both segments as one fenced block."""
    question = COMPARISON.format(insufficient=INSUFFICIENT)
    block = fence(EvidencePair(segment_1=shown_first, segment_2=shown_second).model_dump())
    text = (
        f"The evidence of both segments, as JSON:\n{block}\n"
        "Which one is better? Answer with one JSON object: rationale, then better."
    )
    return (
        {"role": "system", "content": f"{judge.guide}\n{question}"},
        {"role": "user", "content": text},
    )


def read_comparison(text: str) -> tuple[Preference | None, str]:
    """(preference, or None for an abstention; rationale); raises InvalidAnswerError."""
    rationale, answer = parse_answer(text, "better")
    better = choice_of(answer["better"])
    if better == INSUFFICIENT:
        return None, rationale
    if better not in _PLACES:
        raise InvalidAnswerError(f"better is {str(better)[:40]!r}, not one of {list(_PLACES)}")
    return _PLACES[better], rationale


def turned(preference: Preference | None) -> Preference | None:
    """The same preference for swapped segments."""
    if preference is None or preference == "tie":
        return preference
    return "second" if preference == "first" else "first"
