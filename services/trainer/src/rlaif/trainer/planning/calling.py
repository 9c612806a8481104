"""One call: a question in, how it ended out, within the question's deadline.

An answer is read as a whole or not at all; what does not fit the schema is `invalid`, and nothing
of it is used.
"""

import asyncio
from collections.abc import Callable, Mapping

from rlaif.contracts.plans import InvalidPlanError, Mode, read_plan, read_suggestion
from rlaif.llm.ports import (
    Answer,
    CallTimeoutError,
    CompletionRequest,
    InvalidReplyError,
    LanguageModel,
    ModelError,
    OutageError,
    RefusedError,
    ThrottledError,
)
from rlaif.trainer.planning.cache import Good
from rlaif.trainer.planning.desk import CallEnd
from rlaif.trainer.planning.prompts import answer_schema, messages
from rlaif.trainer.play.planner_counts import Outcome
from rlaif.trainer.play.planner_port import Kind, PlannerQuestion
from rlaif.trainer.settings.planner import PlannerSettings

_DETAIL_CHARACTERS = 200
_READERS: dict[Kind, Callable[[str], Good]] = {"plan": read_plan, "suggestion": read_suggestion}


class Caller:
    """Asks the routes of one planner."""

    def __init__(
        self,
        routes: Mapping[Mode, LanguageModel],
        settings: PlannerSettings,
        *,
        next_seed: Callable[[], int],
    ) -> None:
        """`next_seed` gives each call another seed: no answer that was no good comes again."""
        self._routes = routes
        self._settings = settings
        self._next_seed = next_seed

    async def ask(self, question: PlannerQuestion) -> CallEnd:
        """Ask once; whatever happens is an end."""
        seconds = deadline(question, self._settings)
        try:
            async with asyncio.timeout(seconds):
                answer = await self._routes[question.mode].complete(self._request(question))
        except TimeoutError:
            return CallEnd("timeout", detail=f"no whole answer in {seconds:g} s")
        except ModelError as error:
            return _failed(error)
        return _read(question, answer)

    def _request(self, question: PlannerQuestion) -> CompletionRequest:
        settings = self._settings
        return CompletionRequest(
            model=settings.model(question.mode),
            messages=messages(question),
            schema_name=question.kind,
            schema=answer_schema(question.kind),
            seed=self._next_seed(),
            temperature=settings.temperature,
            max_tokens=settings.max_tokens,
        )


def deadline(question: PlannerQuestion, settings: PlannerSettings) -> float:
    """Seconds that a call for a question may take."""
    if question.kind == "plan":
        return settings.plan_seconds
    return settings.vision_seconds if question.mode == "vision" else settings.text_seconds


def _read(question: PlannerQuestion, answer: Answer) -> CallEnd:
    read, written = answer.prompt_tokens or 0, answer.completion_tokens or 0
    try:
        good = _READERS[question.kind](answer.text)
    except InvalidPlanError as error:
        why = "cut off, " if answer.finish_reason == "length" else ""
        detail = f"{why}{error}"[:_DETAIL_CHARACTERS]
        return CallEnd("invalid", detail=detail, tokens_read=read, tokens_written=written)
    return CallEnd("ok", good, tokens_read=read, tokens_written=written)


def _failed(error: ModelError) -> CallEnd:
    return CallEnd(
        _outcome(error),
        detail=str(error)[:_DETAIL_CHARACTERS],
        retry_after=error.retry_after if isinstance(error, OutageError) else None,
    )


def _outcome(error: ModelError) -> Outcome:
    match error:
        case ThrottledError():
            return "throttled"
        case CallTimeoutError():
            return "timeout"
        case InvalidReplyError():
            return "invalid"
        case RefusedError():
            return "refused"
        case _:
            return "error"
