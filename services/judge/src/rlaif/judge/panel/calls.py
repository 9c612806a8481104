"""Requests to a judge, and the record of each call."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Literal

from rlaif.contracts.judging.scores import JudgeCallRecord
from rlaif.judge.panel import prompts
from rlaif.judge.panel.schema import answer_schema, check_answer, read_answer
from rlaif.judge.rubric.judges import Judge
from rlaif.llm.cache import Use
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
from rlaif.llm.route import Completion, Route

Outcome = Literal["ok", "invalid", "throttled", "error", "timeout"]
OnCall = Callable[[JudgeCallRecord], Awaitable[None]]
"""Called with the record of every call as soon as it ends."""

_DETAIL_CHARACTERS = 300
_ANSWER_CHARACTERS = 2000


@dataclass(frozen=True)
class JudgeCall:
    """One request to a judge; every attempt is recorded."""

    judge: Judge
    route: Route
    vote: int
    request: CompletionRequest
    on_call: OnCall

    async def complete(self, *, retry: bool = True, cached: bool = False) -> Completion:
        """Send the request; raises like `Route.complete`. The caller records a success."""
        return await self.route.complete(
            self.request, on_failure=self._failed, retry=retry, cached=cached
        )

    async def record(self, found: Completion, rationale: str | None = None) -> None:
        await self._write("ok", found.seconds, found.answer, use=found.use, rationale=rationale)

    async def _failed(self, error: ModelError, seconds: float) -> None:
        answer = error.answer if isinstance(error, UnreadableAnswerError) else None
        await self._write(_outcome_of(error), seconds, answer, error=error)

    async def _write(
        self,
        outcome: Outcome,
        seconds: float,
        answer: Answer | None,
        *,
        rationale: str | None = None,
        error: ModelError | None = None,
        use: Use = "miss",
    ) -> None:
        paid = answer if use == "miss" else None
        messages = self.request.messages
        record = JudgeCallRecord(
            judge=self.judge.name,
            route=self.route.name,
            model=(answer.model if answer else None) or self.judge.model,
            vote=self.vote,
            seed=self.request.seed,
            prompt_sha256=prompts.digest(messages),
            outcome=outcome,
            latency_seconds=max(0.0, seconds),
            rationale=rationale,
            detail=str(error)[:_DETAIL_CHARACTERS] if error and str(error) else None,
            variant=self.vote % prompts.VARIANTS,
            system_sha256=sha256(str(messages[0]["content"]).encode()).hexdigest(),
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
    """The request to rate one segment."""
    return CompletionRequest(
        model=judge.model,
        messages=prompt,
        schema_name=f"{judge.name}_verdict",
        schema=answer_schema(judge),
        seed=seed,
        temperature=temperature,
        max_tokens=max_tokens,
        check=partial(check_answer, partial(read_answer, judge)),
    )


def _outcome_of(error: ModelError) -> Outcome:
    if isinstance(error, ThrottledError):
        return "throttled"
    if isinstance(error, CallTimeoutError):
        return "timeout"
    return "invalid" if isinstance(error, InvalidReplyError) else "error"


def reported_outcome(record: JudgeCallRecord) -> str:
    """The outcome of a call for metrics, with separate `refused` and `length`."""
    return record.fault if record.fault in ("refused", CUT_OFF) else record.outcome
