"""The planner of a runner: a daemon thread with an event loop makes the calls.

The playing thread hands over questions and collects replies without waiting. A planner must be
created in the process that uses it: it cannot be pickled, and in a forked child it is closed.
"""

import asyncio
import itertools
import logging
import os
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import NoReturn

from rlaif.contracts.planning.plans import InvalidPlanError, Mode, read_plan, read_suggestion
from rlaif.llm.limiter import Limiter
from rlaif.llm.openai import OpenAiModel, connections_to
from rlaif.llm.ports import (
    CallTimeoutError,
    ClientSetupError,
    CompletionRequest,
    InvalidReplyError,
    LanguageModel,
    ModelError,
    RefusedError,
    ThrottledError,
)
from rlaif.llm.reply import CUT_OFF
from rlaif.llm.route import Route, RouteLimits
from rlaif.network.addresses import is_http_url, without_credentials
from rlaif.trainer.planning.prompts import answer_schema, messages
from rlaif.trainer.planning.questions import CallEnd, Good, Questions
from rlaif.trainer.play.planner_counts import Outcome, PlannerCounts
from rlaif.trainer.play.planner_port import Kind, Planner, PlannerQuestion, PlannerReply
from rlaif.trainer.settings.planner import PlannerSettings

logger = logging.getLogger(__name__)

CLOSE_SECONDS = 2.0
"""How long `close` waits for the thread, which ends with the process at the latest."""

Models = AbstractAsyncContextManager[Mapping[Mode, LanguageModel]]


MODES: tuple[Mode, ...] = ("dialog", "puzzle", "vision")

_MIN_BURST = 2.0
_DETAIL_CHARACTERS = 200
_CUT_OFF = (
    "cut off after {} tokens; a reasoning model needs TRAINER_PLANNER_CHAT_TEMPLATE_KWARGS="
    '{{"enable_thinking": false}}: '
)
_READERS: dict[Kind, Callable[[str], Good]] = {"plan": read_plan, "suggestion": read_suggestion}
_OUTCOMES: dict[type[ModelError], Outcome] = {
    ThrottledError: "throttled",
    CallTimeoutError: "timeout",
    InvalidReplyError: "invalid",
    RefusedError: "refused",
}


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
    """Limits of a route: a call ends at the timeout of its question, independent of latencies."""
    total = settings.calls.total_seconds
    return RouteLimits(total_seconds=total, least_seconds=total, trial_seconds=total, late_calls=0)


@asynccontextmanager
async def http_models(settings: PlannerSettings) -> AsyncIterator[Mapping[Mode, LanguageModel]]:
    """The models of the settings, with connections that are closed at the end."""
    key = settings.api_key.get_secret_value() if settings.api_key else None
    addresses = {mode: settings.address(mode) for mode in MODES}
    urls = [url for url, _ in addresses.values()]
    async with connections_to(
        settings.calls, api_key=key, ca_file=settings.ca_file, urls=urls
    ) as connections:
        yield {
            mode: OpenAiModel(connections, url, settings.calls, settings, base=base)
            for mode, (url, base) in addresses.items()
        }


async def call(
    route: Route, question: PlannerQuestion, settings: PlannerSettings, *, seed: int
) -> CallEnd:
    """Make one call that the limiter of the route has admitted."""
    request = CompletionRequest(
        model=settings.model(question.mode),
        messages=messages(question),
        schema_name=question.kind,
        schema=answer_schema(question.kind),
        seed=seed,
        temperature=settings.temperature,
        max_tokens=settings.max_tokens,
    )
    try:
        found = await route.complete(request, wait=False, total_seconds=timeout(question, settings))
    except ModelError as error:
        kinds = (outcome for kind, outcome in _OUTCOMES.items() if isinstance(error, kind))
        return CallEnd(next(kinds, "error"), detail=str(error)[:_DETAIL_CHARACTERS])
    answer = found.answer
    read, written = answer.prompt_tokens or 0, answer.completion_tokens or 0
    try:
        good = _READERS[question.kind](answer.text)
    except InvalidPlanError as error:
        cut = _CUT_OFF.format(settings.max_tokens) if answer.finish_reason == CUT_OFF else ""
        detail = f"{cut}{error}"[:_DETAIL_CHARACTERS]
        return CallEnd("invalid", detail=detail, tokens_read=read, tokens_written=written)
    return CallEnd("ok", good, tokens_read=read, tokens_written=written)


def timeout(question: PlannerQuestion, settings: PlannerSettings) -> float:
    """Maximum duration of a call, in seconds."""
    if question.kind == "plan":
        return settings.plan_seconds
    return settings.vision_seconds if question.mode == "vision" else settings.text_seconds


class PlannerSettingsError(ValueError):
    """Unusable settings; the message has the reason and a remedy."""


def open_planner(settings: PlannerSettings) -> Planner | None:
    """The planner, or None if disabled. No connection is opened before the first question."""
    return ThreadedPlanner(settings) if settings.is_on else None


def check_planner(settings: PlannerSettings) -> None:
    """Validate the settings without a call.

    Raises:
        PlannerSettingsError: A URL is invalid or has no effect, the API key cannot be sent in a
            header, or the certificate file or a proxy of the environment is unusable.
    """
    if not settings.is_on:
        own = [mode for mode in MODES if getattr(settings, f"{mode}_url") is not None]
        if own:
            raise PlannerSettingsError(
                f"TRAINER_PLANNER_{own[0].upper()}_URL is set, but there is no planner without "
                "TRAINER_PLANNER_BASE_URL: set that too, or neither"
            )
        return
    for mode in MODES:
        url = settings.base_url or ""
        with suppress(ValueError):
            url = settings.url(mode)
        if not is_http_url(url):
            raise PlannerSettingsError(
                f"the URL of the planner's route /{mode}, {without_credentials(url)!r}, is not "
                f"valid: set TRAINER_PLANNER_BASE_URL or TRAINER_PLANNER_{mode.upper()}_URL to "
                "one like http://llm:8000"
            )
    key = settings.api_key.get_secret_value() if settings.api_key else ""
    if not (key.isascii() and (key.isprintable() or not key)):
        raise PlannerSettingsError(
            "TRAINER_PLANNER_API_KEY has characters that are not allowed in a header, such as a "
            "line break at its end; set it without them"
        )
    urls = [settings.url(mode) for mode in MODES]
    try:
        connections_to(settings.calls, api_key=None, ca_file=settings.ca_file, urls=urls)
    except ClientSetupError as error:
        raise PlannerSettingsError(str(error)) from error
    except OSError as error:
        raise PlannerSettingsError(
            f"{settings.ca_file} is not a PEM file of certificates: {error}; set "
            "TRAINER_PLANNER_CA_FILE"
        ) from error


class ThreadedPlanner:
    """A `Planner` over HTTP; its thread starts with the first call."""

    def __init__(
        self,
        settings: PlannerSettings,
        models: Callable[[PlannerSettings], Models] = http_models,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`models` opens the models of all modes in the thread."""
        self._settings = settings
        self._open_models = models
        self._limiters = make_limiters(settings)
        self._questions = Questions(
            self._limiters,
            cached_answers=settings.cached_answers,
            cache_seconds=settings.cache_seconds,
            clock=clock,
        )
        self._clock = clock
        self._process = os.getpid()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._asked: asyncio.Queue[PlannerQuestion | None]

    def ask(self, question: PlannerQuestion) -> bool:
        if not self._is_mine:
            return False
        taken = self._questions.take(question)
        if taken == "call":
            self._hand_over(question)
        return taken != "refused"

    def refuses(self, mode: Mode, kind: Kind, about: str) -> bool:
        return not self._is_mine or self._questions.refuses(mode, kind, about)

    def replies(self) -> list[PlannerReply]:
        return self._questions.replies() if self._is_mine else []

    def counts(self) -> PlannerCounts:
        return self._questions.counts() if self._is_mine else PlannerCounts()

    def close(self) -> None:
        """Cancel all calls and end the thread, within `CLOSE_SECONDS`."""
        if not self._is_mine:
            return
        self._questions.close()
        if self._thread is not None:
            self._hand_over(None)
            self._thread.join(CLOSE_SECONDS)
            self._thread = None

    def __reduce__(self) -> NoReturn:
        raise TypeError("a planner cannot be pickled: create it in the process that plays")

    @property
    def _is_mine(self) -> bool:
        """Whether this process created it: threads do not survive a fork."""
        return os.getpid() == self._process

    def _hand_over(self, question: PlannerQuestion | None) -> None:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._asked = asyncio.Queue()
            self._thread = threading.Thread(
                target=self._run, args=(self._loop,), name="planner", daemon=True
            )
            self._thread.start()
        try:
            self._loop.call_soon_threadsafe(self._asked.put_nowait, question)
        except RuntimeError:  # the thread has ended and closed the loop
            self._questions.give_up("the planner's thread has ended")

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        reason = "the planner's thread has ended"
        try:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                runner.run(self._serve())
        except Exception as error:
            logger.exception("planner failed; the run continues without it")
            reason = f"{reason}: {type(error).__name__}"
        self._questions.give_up(reason)

    async def _serve(self) -> None:
        """Make a call for each question until None arrives."""
        seeds, limits = itertools.count(), route_limits(self._settings)
        async with self._open_models(self._settings) as models:
            routes = {
                mode: Route(mode, model, limits, limiter=self._limiters[mode], clock=self._clock)
                for mode, model in models.items()
            }
            tasks: set[asyncio.Task[None]] = set()
            while (question := await self._asked.get()) is not None:
                # Each call has another seed, so that a useless answer is not repeated.
                answering = self._answer(routes[question.mode], question, next(seeds))
                tasks.add(task := asyncio.create_task(answering))
                task.add_done_callback(tasks.discard)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _answer(self, route: Route, question: PlannerQuestion, seed: int) -> None:
        try:
            end = await call(route, question, self._settings, seed=seed)
        except Exception as error:
            logger.exception("unexpected error in a call of the planner")
            end = CallEnd("error", detail=type(error).__name__)
        self._questions.settle(question, end)
