"""What a judge is sent, and the record of each call: who was asked what, and what came back."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import sha256
from typing import Literal

from rlaif.contracts.scores import JudgeCallRecord
from rlaif.judge.panel import prompts
from rlaif.judge.panel.cut_off import checked_by
from rlaif.judge.panel.schema import answer_schema, read_answer
from rlaif.judge.routes.cache import Use, request_key
from rlaif.judge.routes.route import Route
from rlaif.judge.rubric.judges import Judge
from rlaif.llm.ports import (
    Answer,
    CallTimeoutError,
    CompletionRequest,
    InvalidReplyError,
    ModelError,
    ThrottledError,
    UnreadableAnswerError,
)
from rlaif.llm.reply import CUT_OFF

Outcome = Literal["ok", "invalid", "throttled", "error", "timeout"]

_DETAIL_CHARACTERS = 300
_ANSWER_CHARACTERS = 2000


@dataclass(frozen=True)
class CallLog:
    """Writes the record of each call of one vote."""

    judge: Judge
    route: Route
    vote: int
    request: CompletionRequest
    on_call: Callable[[JudgeCallRecord], Awaitable[None]]

    @cached_property
    def key(self) -> str:
        """Content hash of the request."""
        return request_key(self.request, route=self.route.name)

    async def failed(self, error: ModelError, seconds: float) -> None:
        """Write down an attempt that gave no answer, or none that can be read."""
        answer = error.answer if isinstance(error, UnreadableAnswerError) else None
        outcome = outcome_of(error)
        await self.write(outcome, seconds, answer=answer, detail=str(error), error=error)

    async def write(
        self,
        outcome: Outcome,
        seconds: float,
        *,
        answer: Answer | None = None,
        rationale: str | None = None,
        detail: str | None = None,
        error: ModelError | None = None,
        use: Use = "miss",
    ) -> None:
        """Write down one call; an answer from the cache cost no tokens."""
        paid = answer if use == "miss" else None
        record = JudgeCallRecord(
            judge=self.judge.name,
            route=self.route.name,
            model=self.judge.model,
            vote=self.vote,
            seed=self.request.seed,
            prompt_sha256=prompts.digest(self.request.messages),
            outcome=outcome,
            latency_seconds=max(0.0, seconds),
            rationale=rationale,
            detail=detail[:_DETAIL_CHARACTERS] if detail else None,
            variant=self.vote % prompts.VARIANTS,
            system_sha256=sha256(str(self.request.messages[0]["content"]).encode()).hexdigest(),
            engine=answer.engine if answer else None,
            answer=answer.text[:_ANSWER_CHARACTERS] if answer else None,
            cached=use != "miss",
            prompt_tokens=paid.prompt_tokens if paid else None,
            completion_tokens=paid.completion_tokens if paid else None,
            cached_tokens=paid.cached_tokens if paid else None,
            finish_reason=answer.finish_reason if answer else None,
            fault=error.fault if error else None,
            status=error.status if error else None,
        )
        await self.on_call(record)


def verdict_request(
    judge: Judge,
    prompt: tuple[prompts.Message, ...],
    *,
    max_tokens: int,
    seed: int = 0,
    temperature: float = 0.0,
) -> CompletionRequest:
    """What a judge is sent to rate one segment."""
    return CompletionRequest(
        model=judge.model,
        messages=prompt,
        schema_name=f"{judge.name}_verdict",
        schema=answer_schema(judge),
        seed=seed,
        temperature=temperature,
        max_tokens=max_tokens,
        check=partial(checked_by, partial(read_answer, judge)),
    )


def outcome_of(error: ModelError) -> Outcome:
    """How a failed call is counted."""
    if isinstance(error, ThrottledError):
        return "throttled"
    if isinstance(error, CallTimeoutError):
        return "timeout"
    return "invalid" if isinstance(error, InvalidReplyError) else "error"


def reported_outcome(record: JudgeCallRecord) -> str:
    """How a call ended, for those who watch.

    A refusal is told apart from other errors, `length` from other answers that cannot be read.
    """
    return record.fault if record.fault in ("refused", CUT_OFF) else record.outcome
