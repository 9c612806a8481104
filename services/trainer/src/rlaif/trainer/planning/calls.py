"""One call of the planner: question in, end of the call out.

An answer is used as a whole or not at all: one that does not fit the schema is `invalid`.
"""

from collections.abc import Callable

from rlaif.contracts.planning.plans import InvalidPlanError, Mode, read_plan, read_suggestion
from rlaif.llm.limiter import Limiter
from rlaif.llm.ports import (
    Answer,
    CallTimeoutError,
    CompletionRequest,
    InvalidReplyError,
    ModelError,
    RefusedError,
    ThrottledError,
)
from rlaif.llm.route import Route, RouteLimits
from rlaif.trainer.planning.prompts import answer_schema, messages
from rlaif.trainer.planning.questions import CallEnd, Good
from rlaif.trainer.play.planner_counts import Outcome
from rlaif.trainer.play.planner_port import Kind, PlannerQuestion
from rlaif.trainer.settings.planner import PlannerSettings

MODES: tuple[Mode, ...] = ("dialog", "puzzle", "vision")

_MIN_BURST = 2.0
_DETAIL_CHARACTERS = 200
_READERS: dict[Kind, Callable[[str], Good]] = {"plan": read_plan, "suggestion": read_suggestion}


def make_limiters(settings: PlannerSettings) -> dict[Mode, Limiter]:
    """Limits by mode, under common limits of calls in flight and per second."""
    per_second = settings.calls_per_second
    shared = Limiter(
        per_second=per_second,
        burst=max(_MIN_BURST, per_second),
        max_in_flight=settings.in_flight_total,
    )
    return {
        mode: Limiter(
            failures=settings.failures,
            pause_seconds=settings.pause_seconds,
            max_in_flight=settings.in_flight,
            shared=shared,
        )
        for mode in MODES
    }


def route_limits(settings: PlannerSettings) -> RouteLimits:
    """A call ends at the timeout of its question, whatever the latencies are."""
    total = settings.calls.total_seconds
    return RouteLimits(total_seconds=total, least_seconds=total, trial_seconds=total, late_calls=0)


async def call(
    route: Route, question: PlannerQuestion, settings: PlannerSettings, *, seed: int
) -> CallEnd:
    """Make one call that the limiter of the route has admitted; every failure is an end."""
    try:
        found = await route.complete(
            _request(question, settings, seed),
            wait=False,
            total_seconds=timeout(question, settings),
        )
    except ModelError as error:
        return CallEnd(_outcome(error), detail=str(error)[:_DETAIL_CHARACTERS])
    return _read(question, found.answer)


def timeout(question: PlannerQuestion, settings: PlannerSettings) -> float:
    """Seconds that a call may take."""
    if question.kind == "plan":
        return settings.plan_seconds
    return settings.vision_seconds if question.mode == "vision" else settings.text_seconds


def _request(question: PlannerQuestion, settings: PlannerSettings, seed: int) -> CompletionRequest:
    return CompletionRequest(
        model=settings.model(question.mode),
        messages=messages(question),
        schema_name=question.kind,
        schema=answer_schema(question.kind),
        seed=seed,
        temperature=settings.temperature,
        max_tokens=settings.max_tokens,
    )


def _read(question: PlannerQuestion, answer: Answer) -> CallEnd:
    read, written = answer.prompt_tokens or 0, answer.completion_tokens or 0
    try:
        good = _READERS[question.kind](answer.text)
    except InvalidPlanError as error:
        cut = "cut off, " if answer.finish_reason == "length" else ""
        detail = f"{cut}{error}"[:_DETAIL_CHARACTERS]
        return CallEnd("invalid", detail=detail, tokens_read=read, tokens_written=written)
    return CallEnd("ok", good, tokens_read=read, tokens_written=written)


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
