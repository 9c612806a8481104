"""Diagnosis of failures: whether the server or the request is at fault.

A failed call alone shows neither. So the route is probed with a question that is known to work. If
the server answers it, the failed request is at fault; if not, the route has an outage, and no other
call is made until a later probe succeeds. Text and pictures are diagnosed separately.
"""

import asyncio
import logging
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from rlaif.llm.cache import request_key
from rlaif.llm.ports import (
    BreakReason,
    BrokenRouteError,
    CallTimeoutError,
    CompletionRequest,
    FailedRequestError,
    FaultyReplyError,
    InvalidReplyError,
    LanguageModel,
    Modality,
    ModelError,
    OutageError,
    RefusedError,
    RouteWaitsError,
    ThrottledError,
    UnreadableAnswerError,
)

logger = logging.getLogger(__name__)

REQUEST_ROUNDS = 3
"""Failed calls, each with all of its attempts, after which a request on a healthy route is
abandoned."""
THROTTLED_ROUNDS = 10
"""The same for a request that is answered with 429 while others succeed."""
MIN_VOTES, MAX_VOTES = 6, 20
"""Size of the window of answers; if nearly all are unreadable, the route has an outage."""

_MIN_READABLE_SHARE = 0.2
_FAILURES_BEFORE_PROBE = 2
_REPEAT_SECONDS = 0.5
_MAX_PROBE_INTERVAL_SECONDS = 30.0
_MAX_RETRY_SECONDS = 3.0
"""Longest wait suggested to a caller; short, so that the end of an outage is detected early."""
_SILENCE_SECONDS = 8.0
"""Time without any answer after which it is reported."""
_MAX_REMEMBERED_REQUESTS = 1000
_GIVEN_UP = 1_000_000

Kind = Literal["down", "refused", "unreadable", "blind", "silent", "partial"]


@dataclass(frozen=True)
class Outage:
    """Reason and start time of an outage of a route.

    `down` may end by itself: no connection, timeout, 5xx, 429. `refused` needs an operator: a wrong
    key, path or model name. `unreadable`: answers cannot be parsed. `blind`: only pictures fail.
    `silent`: calls in flight have no answer yet. `partial`: most requests fail, and no probe does.
    """

    kind: Kind
    since: float
    error: ModelError


async def _unknown() -> bool:
    return False


@dataclass(frozen=True)
class Probe:
    """Parameters of the probes of a route.

    Attributes:
        questions: Requests that a healthy route answers, by modality.
        interval_seconds: Pause between two probes in an outage; grows to 30 s with its age.
        refused_patience_seconds: How long callers wait in an outage that needs an operator.
        outage_patience_seconds: How long callers wait in an outage that may end by itself.
        describe: Message about an outage; the flag says whether callers still wait.
        is_up: Whether the server responds to anything while a call gets no answer.
    """

    questions: Mapping[Modality, CompletionRequest]
    interval_seconds: float = 5.0
    refused_patience_seconds: float = 15.0
    outage_patience_seconds: float = 600.0
    describe: Callable[[Outage, bool], str] = lambda outage, waiting: str(outage.error)
    is_up: Callable[[], Awaitable[bool]] = _unknown


@dataclass
class _State:
    """Observations of one route."""

    outages: dict[Modality, Outage] = field(default_factory=dict)
    answered_at: dict[Modality, float] = field(default_factory=dict)
    failures_in_row: dict[Modality, int] = field(default_factory=dict)
    in_flight: int = 0
    silent_since: float | None = None
    rounds: OrderedDict[str, int] = field(default_factory=OrderedDict)
    given_up: deque[ModelError | None] = field(default_factory=lambda: deque(maxlen=MAX_VOTES))
    readable: deque[bool] = field(default_factory=lambda: deque(maxlen=MAX_VOTES))
    unreadable: Outage | None = None

    def outage(self, modality: Modality) -> Outage | None:
        return self.outages.get("text") or self.outages.get(modality)

    def answered_since(self, modality: Modality, then: float) -> bool:
        return self.answered_at.get(modality, float("-inf")) >= then


class Prober:
    """Tracks the health of one route."""

    def __init__(
        self,
        name: str,
        model: LanguageModel,
        probe: Probe,
        *,
        deadline: Callable[[], float],
        slowest: Callable[[], float | None],
        on_answer: Callable[[float], None],
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self._name = name
        self._model = model
        self._probe = probe
        self._deadline = deadline
        self._slowest = slowest
        self._on_answer = on_answer
        self._clock = clock
        self._sleep = sleep
        self._state = _State()
        self._probes: dict[Modality, asyncio.Task[Outage | None]] = {}

    @property
    def answered(self) -> bool:
        return bool(self._state.answered_at)

    @property
    def unreadable(self) -> bool:
        """Whether the route has an outage because its answers cannot be parsed."""
        outage = self._any_outage()
        return outage is not None and outage.kind == "unreadable"

    def is_healthy(self, modality: Modality) -> bool:
        return self.answered and self._state.outage(modality) is None

    def broken(self, modality: Modality) -> str | None:
        """Message about an outage that callers no longer wait for; None if there is none."""
        outage = self._state.outage(modality)
        return self._message(outage) if outage and not self._waiting(outage) else None

    def check(self) -> str | None:
        """Message with the problem and the fix; None for a healthy route."""
        if (outage := self._any_outage() or self._partial()) is not None:
            return self._message(outage)
        since = self._state.silent_since
        silent = 0.0 if since is None else self._clock() - since
        if since is None or silent <= max(_SILENCE_SECONDS, 2 * (self._slowest() or 0.0)):
            return None
        error = CallTimeoutError(f"has not answered for {silent:.0f} s")
        return self._message(Outage("silent", since, error))

    def admit(self, request: CompletionRequest) -> None:
        """Raise the expected error of a request without calling the server.

        Raises:
            RouteWaitsError: The route has an outage.
            BrokenRouteError: The outage has lasted too long.
            FailedRequestError: The request was abandoned earlier.
        """
        if (outage := self._state.outage(request.modality)) is not None:
            raise self._refusal(outage)
        if self._state.rounds and self._state.rounds.get(request_key(request)) == _GIVEN_UP:
            raise FailedRequestError(f"{self._name} failed on this request earlier")

    def call_began(self) -> None:
        self._state.in_flight += 1
        if self._state.silent_since is None:
            self._state.silent_since = self._clock()

    def call_ended(self, request: CompletionRequest, error: BaseException | None) -> None:
        self._note_end(error)
        if error is None:
            self._state.given_up.append(None)
            self.call_answered(request)
        elif isinstance(error, ModelError):
            self._count_failure(request.modality, error)

    def call_answered(self, request: CompletionRequest) -> None:
        state, now = self._state, self._clock()
        before = state.outage("pictures")
        # A route that answers pictures also answers text.
        modalities: tuple[Modality, ...] = ("text",)
        for each in ("text", "pictures") if request.modality == "pictures" else modalities:
            state.answered_at[each] = now
            state.outages.pop(each, None)
        state.failures_in_row.pop(request.modality, None)
        if state.rounds:
            state.rounds.pop(request_key(request), None)
        if before is not None and state.outage("pictures") is None:
            logger.info("route %s answers again", self._name)

    def count_vote(self, lost: UnreadableAnswerError | None) -> ModelError | None:
        """Record a readable or an unreadable answer; returns the error of an outage, if any."""
        state = self._state
        state.readable.append(lost is None)
        count = len(state.readable)
        if count < MIN_VOTES or sum(state.readable) > _MIN_READABLE_SHARE * count:
            state.unreadable = None
            return None
        if lost is None:
            return None
        if state.unreadable is None:
            state.unreadable = Outage("unreadable", self._clock(), lost)
            logger.warning("%s", self._message(state.unreadable))
        return self._refusal(state.unreadable)

    async def diagnose(
        self, request: CompletionRequest, error: ModelError, began: float
    ) -> ModelError:
        """The final error of a request that was started at `began` and failed."""
        if isinstance(error, ThrottledError):
            # Some servers answer 429 to a request that exceeds the quota per minute.
            alone = self._state.answered_since(request.modality, began)
            if not alone or self._count_round(request) < THROTTLED_ROUNDS:
                return error
            return self._give_up(request, error)
        outage = await self.probe(request.modality, since=began)
        if outage is not None:
            return self._refusal(outage)
        if isinstance(error, InvalidReplyError):
            return error  # another seed may succeed
        if not isinstance(error, RefusedError) and self._count_round(request) < REQUEST_ROUNDS:
            return error
        return self._give_up(request, error)

    async def probe(self, modality: Modality, *, since: float) -> Outage | None:
        """The outage of a modality, None if there is none; probes unless answered since then."""
        if self._state.answered_since(modality, since):
            return None
        if modality not in self._probe.questions:
            return self._state.outage(modality)
        return await asyncio.shield(self._start_probe(modality))

    async def run(self, *, at_start: bool = True) -> None:
        while True:
            began, state = self._clock(), self._state
            unknown = at_start and not state.answered_at and not state.outages
            if unknown or state.outage("pictures") is not None:
                hardest: Modality = "pictures" if "pictures" in self._probe.questions else "text"
                try:
                    await self.probe(hardest, since=began)
                except Exception:
                    # Keep probing after any error.
                    logger.exception("route %s cannot be probed", self._name)
            # The time of the probe is part of the pause.
            took = self._clock() - began
            await self._sleep(max(_REPEAT_SECONDS, self._interval() - took))

    async def close(self) -> None:
        for task in self._probes.values():
            task.cancel()
        await asyncio.gather(*self._probes.values(), return_exceptions=True)

    def _any_outage(self) -> Outage | None:
        return self._state.outage("pictures") or self._state.unreadable

    def _partial(self) -> Outage | None:
        """An outage if most of the last requests, which are longer than probes, were given up."""
        last = self._state.given_up
        errors = [error for error in last if error is not None]
        if len(last) < MIN_VOTES or 2 * len(errors) <= len(last):
            return None
        return Outage("partial", float("-inf"), errors[-1])  # no call waits for its end

    def _waiting(self, outage: Outage) -> bool:
        probe = self._probe
        patience = probe.refused_patience_seconds
        if outage.kind in ("down", "silent"):
            patience = probe.outage_patience_seconds
        return self._clock() - outage.since < patience

    def _message(self, outage: Outage) -> str:
        return f"{self._name} {self._probe.describe(outage, self._waiting(outage))}"

    def _refusal(self, outage: Outage) -> OutageError | BrokenRouteError:
        if not self._waiting(outage):
            reasons: dict[Kind, BreakReason] = {
                "refused": "route_refused",
                "unreadable": "route_unreadable",
                "blind": "route_blind",
            }
            return BrokenRouteError(self._message(outage), reasons.get(outage.kind, "route_down"))
        wait = min(_MAX_RETRY_SECONDS, (self._clock() - outage.since) / 4)
        return RouteWaitsError(self._message(outage), wait)

    def _count_round(self, request: CompletionRequest) -> int:
        key, rounds = request_key(request), self._state.rounds
        rounds[key] = rounds.pop(key, 0) + 1
        if len(rounds) > _MAX_REMEMBERED_REQUESTS:
            rounds.popitem(last=False)
        return rounds[key]

    def _give_up(self, request: CompletionRequest, error: ModelError) -> FailedRequestError:
        self._count_round(request)
        self._state.rounds[request_key(request)] = _GIVEN_UP
        self._state.given_up.append(error)
        return FailedRequestError(
            f"{self._name} is healthy but fails on this request: {error}", error.status
        )

    def _note_end(self, error: BaseException | None) -> None:
        """Record whether the outcome of a call shows that the server responds."""
        state = self._state
        state.in_flight -= 1
        if not state.in_flight:
            state.silent_since = None
        elif not isinstance(error, CallTimeoutError | asyncio.CancelledError):
            state.silent_since = self._clock()

    def _count_failure(self, modality: Modality, error: ModelError) -> None:
        state, recently = self._state, self._clock() - _SILENCE_SECONDS
        if isinstance(error, ThrottledError) and state.answered_since(modality, recently):
            return  # throttled only
        failures = state.failures_in_row.get(modality, 0) + 1
        due = failures >= _FAILURES_BEFORE_PROBE and modality in self._probe.questions
        state.failures_in_row[modality] = 0 if due else failures
        if due and state.outage(modality) is None:
            self._start_probe(modality)

    def _interval(self) -> float:
        outage, least = self._state.outage("pictures"), self._probe.interval_seconds
        if outage is None:
            return least
        asked = outage.error.retry_after if isinstance(outage.error, OutageError) else None
        age = self._clock() - outage.since
        return max(least, asked or 0.0, min(_MAX_PROBE_INTERVAL_SECONDS, age / 30))

    def _start_probe(self, modality: Modality) -> "asyncio.Task[Outage | None]":
        task = self._probes.get(modality)
        if task is None or task.done():
            task = self._probes[modality] = asyncio.ensure_future(self._run_probe(modality))
        return task

    async def _run_probe(self, modality: Modality) -> Outage | None:
        # While text fails, the outcome of a picture does not matter.
        if modality == "pictures" and self._state.outages.get("text") is not None:
            outage = await self._run_probe("text")
            if outage is not None:
                return outage
        error = await self._ask_twice(modality)
        if error is None:
            return None
        before = self._state.outage("pictures")
        if modality == "pictures" and (plain := await self._ask_twice("text")) is not None:
            modality, error = "text", plain
        if isinstance(error, CallTimeoutError) and error.fault == "total_timeout":
            error.is_slow = await self._probe.is_up()
        outage = self._new_outage(modality, error)
        if before is None or before.kind != outage.kind:
            logger.warning("%s", self._message(outage))
        return outage

    def _new_outage(self, modality: Modality, error: ModelError) -> Outage:
        kind: Kind = "refused" if isinstance(error, FaultyReplyError) else "down"
        if isinstance(error, UnreadableAnswerError):
            kind = "unreadable"
        elif modality == "pictures":
            kind = "blind"
        before = self._state.outages.get(modality)
        outage = Outage(kind, before.since if before else self._clock(), error)
        self._state.outages[modality] = outage
        return outage

    async def _ask_twice(self, modality: Modality) -> ModelError | None:
        """The error of a probe, which is repeated once: a single failure may be transient."""
        error = await self._ask(self._probe.questions[modality])
        if error is None or isinstance(error, CallTimeoutError | ThrottledError):
            return error
        await self._sleep(_REPEAT_SECONDS)
        return await self._ask(self._probe.questions[modality])

    async def _ask(self, question: CompletionRequest) -> ModelError | None:
        started = self._clock()
        self.call_began()
        try:
            error = await self._failure_of(question)
        except BaseException as failure:
            self._note_end(failure)
            raise
        self._note_end(error)
        if error is None:
            self._on_answer(self._clock() - started)
            self.call_answered(question)
        return error

    async def _failure_of(self, question: CompletionRequest) -> ModelError | None:
        deadline = self._deadline()
        try:
            async with asyncio.timeout(deadline):
                question.check(await self._model.complete(question))
        except TimeoutError:
            return CallTimeoutError(f"no answer in {deadline:.0f} s")
        except ModelError as error:
            return error
        return None
