"""What a planner keeps account of: who waits for what, what may be asked, how it ended.

Questions come from the thread that plays, ends of calls from the thread that calls; each method
holds one lock for some microseconds, in which nothing waits. Time is passed in, in seconds of any
steady clock.
"""

import threading
from collections import Counter
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal

from rlaif.contracts.plans import Mode, Plan, Suggestion
from rlaif.llm.breaker import Breaker
from rlaif.pacing.token_bucket import TokenBucket
from rlaif.trainer.planning.cache import AnswerCache, Good, Key, key_of
from rlaif.trainer.play.planner_counts import (
    ModeCounts,
    NotAsked,
    Outcome,
    PlannerCounts,
    one_call,
)
from rlaif.trainer.play.planner_port import Kind, PlannerQuestion, PlannerReply
from rlaif.trainer.settings.planner import PlannerSettings

MODES: tuple[Mode, ...] = ("dialog", "puzzle", "vision")

BURST = 2.0
"""Calls that may come at once after a quiet time: so many, or what is allowed in a second."""

MOST_SHARING = 64
"""Questions that may wait for one call: one of each environment is the most that comes."""

Taken = Literal["call", "waits", "refused"]
"""A call is to be made; it has its answer or shares a call; it is not asked."""


@dataclass(frozen=True)
class CallEnd:
    """How a call ended: `answer` for `ok`, `detail` for all else.

    Attributes:
        retry_after: Seconds for which the server wants no call; None when it says nothing.
    """

    outcome: Outcome
    answer: Good | None = None
    detail: str | None = None
    retry_after: float | None = None
    tokens_read: int = 0
    tokens_written: int = 0


class Desk:
    """The account of one planner."""

    def __init__(self, settings: PlannerSettings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._cache = AnswerCache(settings.cached_answers, settings.cache_seconds)
        self._breakers = {mode: Breaker(settings.breaker) for mode in MODES}
        self._pace = _pace(settings.calls_per_second)
        self._flights: dict[Key, list[tuple[PlannerQuestion, float]]] = {}
        self._calls: Counter[Mode] = Counter()
        self._ready: list[PlannerReply] = []
        self._counts = PlannerCounts()
        self._closed = False

    def take(self, question: PlannerQuestion, now: float) -> Taken:
        """Take a question, or not; for `call`, `settle` has to follow."""
        key = key_of(question)
        with self._lock:
            if self._closed:
                return self._refuse(question.mode, "closed")
            known = self._cache.get(key, now)
            if known is not None:
                self._count(question.mode, ModeCounts(asked=1, outcomes={"ok": 1}, cached=1))
                self._ready.append(_reply(question, CallEnd("ok", known), 0.0, cached=True))
                return "waits"
            sharing = self._flights.get(key)
            if sharing is not None and len(sharing) < MOST_SHARING:
                sharing.append((question, now))
                self._count(question.mode, ModeCounts(asked=1))
                return "waits"
            why = "busy" if sharing is not None else self._why_no_call(question.mode, now)
            if why is not None:
                return self._refuse(question.mode, why)
            self._pace.spend(1)
            self._flights[key] = [(question, now)]
            self._calls[question.mode] += 1
            self._breakers[question.mode].enter()
            self._count(question.mode, ModeCounts(asked=1))
            return "call"

    def refuses(self, mode: Mode, kind: Kind, about: str, now: float) -> bool:
        """Whether `take` refuses all questions whose situation begins so; counts it as one refused.

        One that is equal to another that was answered, or is under way, needs no call.
        """
        with self._lock:
            if not self._closed:
                for known in chain(self._flights, self._cache.keys()):
                    if known[:2] == (mode, kind) and known[2].startswith(about):
                        return False
            why = "closed" if self._closed else self._why_no_call(mode, now)
            return why is not None and self._refuse(mode, why) == "refused"

    def settle(self, question: PlannerQuestion, end: CallEnd, now: float) -> None:
        """The call for a question ended: all who waited for it have their replies."""
        key, mode = key_of(question), question.mode
        with self._lock:
            waited = self._flights.pop(key, None)
            if waited is None:
                return  # closed meanwhile
            self._calls[mode] -= 1
            self._judge(mode, end, now)
            if end.answer is not None:
                self._cache.keep(key, end.answer, now)
            for number, (each, since) in enumerate(waited):
                seconds, shared = max(0.0, now - since), number > 0
                self._ready.append(_reply(each, end, seconds, cached=shared))
                counts = ModeCounts(outcomes={end.outcome: 1}, cached=1)
                self._count(mode, counts if shared else _of_call(end, seconds))

    @property
    def has_replies(self) -> bool:
        """Whether any came since the last call of `replies`; takes no lock, as most have not."""
        return bool(self._ready)

    def replies(self) -> list[PlannerReply]:
        """Those that came since the last call."""
        with self._lock:
            ready, self._ready = self._ready, []
            return ready

    def counts(self) -> PlannerCounts:
        """What happened since the last call, and what is under way now."""
        with self._lock:
            counts, self._counts = self._counts, PlannerCounts()
            in_flight = Counter(key[0] for key, waiting in self._flights.items() for _ in waiting)
        return replace(counts, in_flight=dict(in_flight))

    def give_up(self, detail: str, now: float) -> None:
        """No call will end any more: whoever waits is told so, and nothing is taken from now on."""
        with self._lock:
            self._closed = True
            waiting = [each for sharing in self._flights.values() for each, _ in sharing[:1]]
        for question in waiting:
            self.settle(question, CallEnd("dropped", detail=detail), now)

    def close(self) -> None:
        """Take nothing any more, and forget who waits."""
        with self._lock:
            self._closed = True
            self._flights.clear()
            self._calls.clear()
            self._ready = []

    def _why_no_call(self, mode: Mode, now: float) -> NotAsked | None:
        limits = self._settings
        full = self._calls[mode] >= limits.in_flight
        if full or self._calls.total() >= limits.in_flight_total:
            return "busy"
        if self._breakers[mode].wait(now) > 0:
            return "resting"
        return "paced" if self._pace.level(now) < 1 else None

    def _judge(self, mode: Mode, end: CallEnd, now: float) -> None:
        """What the end of a call tells of its route.

        A route that refuses rests as well: what it does not take is a key or a model's name, and
        the next question would have them too.
        """
        breaker = self._breakers[mode]
        if end.outcome in ("ok", "invalid"):
            breaker.succeeded()
        elif end.outcome == "throttled" and end.retry_after is not None:
            breaker.rest(now, end.retry_after)
        elif end.outcome == "dropped":
            breaker.abandoned()
        else:
            breaker.failed(now)

    def _refuse(self, mode: Mode, why: NotAsked) -> Taken:
        self._count(mode, ModeCounts(not_asked={why: 1}))
        return "refused"

    def _count(self, mode: Mode, counts: ModeCounts) -> None:
        self._counts += PlannerCounts({mode: counts})


def _pace(per_second: float) -> TokenBucket:
    burst = max(BURST, per_second)
    return TokenBucket(per_second, burst, tokens=burst)


def _of_call(end: CallEnd, seconds: float) -> ModeCounts:
    counts = one_call(end.outcome, seconds)
    return replace(counts, tokens_read=end.tokens_read, tokens_written=end.tokens_written)


def _reply(
    question: PlannerQuestion, end: CallEnd, seconds: float, *, cached: bool
) -> PlannerReply:
    answer = end.answer
    return PlannerReply(
        question,
        end.outcome,
        plan=answer if isinstance(answer, Plan) else None,
        suggestion=answer if isinstance(answer, Suggestion) else None,
        latency_seconds=seconds,
        cached=cached,
        detail=end.detail,
    )
