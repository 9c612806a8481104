"""Questions in flight and their replies: one call per situation.

Questions come from the playing thread, ends of calls from the calling thread. Each method holds
one lock for some microseconds. Times are in seconds of any monotonic clock.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal

from rlaif.contracts.planning.plans import Mode, Plan, Suggestion
from rlaif.llm.cache import AnswerCache
from rlaif.llm.limiter import Limiter
from rlaif.trainer.play.planner_counts import (
    ModeCounts,
    NotAsked,
    Outcome,
    PlannerCounts,
    one_call,
)
from rlaif.trainer.play.planner_port import Kind, PlannerQuestion, PlannerReply

MAX_SHARING = 64
"""Questions that may share one call; each environment has at most one."""

Good = Plan | Suggestion
Key = tuple[Mode, Kind, str]
Taken = Literal["call", "waits", "refused"]
"""`call`: a call must be made. `waits`: the answer is known, or another call is shared."""


@dataclass(frozen=True)
class CallEnd:
    """End of a call: an `answer` for outcome `ok`, else a `detail`."""

    outcome: Outcome
    answer: Good | None = None
    detail: str | None = None
    tokens_read: int = 0
    tokens_written: int = 0


class Questions:
    """Questions of one planner; `limiters` decides by mode whether a call may start."""

    def __init__(
        self,
        limiters: Mapping[Mode, Limiter],
        *,
        cached_answers: int,
        cache_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limiters = limiters
        self._clock = clock
        self._lock = threading.Lock()
        self._cache: AnswerCache[Key, Good] = AnswerCache(
            cached_answers, cache_seconds, clock=clock
        )
        self._in_flight: dict[Key, list[tuple[PlannerQuestion, float]]] = {}
        self._ready: list[PlannerReply] = []
        self._counts = PlannerCounts()
        self._closed = False

    def take(self, question: PlannerQuestion) -> Taken:
        """Accept or reject a question; after `call`, call `settle`."""
        mode, key = question.mode, _key_of(question)
        with self._lock:
            if self._closed:
                return self._refuse(mode, "closed")
            known = self._cache.get(key)
            if known is not None:
                self._count(mode, ModeCounts(asked=1, outcomes={"ok": 1}, cached=1))
                self._ready.append(_reply(question, CallEnd("ok", known), 0.0, cached=True))
                return "waits"
            sharing = self._in_flight.get(key)
            if sharing is not None and len(sharing) >= MAX_SHARING:
                return self._refuse(mode, "busy")
            if sharing is None and (held := self._limiters[mode].enter(self._clock())):
                return self._refuse(mode, held.reason)
            self._in_flight.setdefault(key, []).append((question, self._clock()))
            self._count(mode, ModeCounts(asked=1))
            return "call" if sharing is None else "waits"

    def refuses(self, mode: Mode, kind: Kind, prefix: str) -> bool:
        """Whether `take` would refuse all questions with this prefix of their situation.

        If so, it counts as one refused question. A question that equals an answered one, or one in
        flight, needs no call.
        """
        with self._lock:
            known = chain(self._in_flight, self._cache.keys())
            reason: NotAsked | None = "closed" if self._closed else None
            if reason is None and not any(
                key[:2] == (mode, kind) and key[2].startswith(prefix) for key in known
            ):
                held = self._limiters[mode].held(self._clock())
                reason = None if held is None else held.reason
            return reason is not None and self._refuse(mode, reason) == "refused"

    def settle(self, question: PlannerQuestion, end: CallEnd) -> None:
        key, mode = _key_of(question), question.mode
        with self._lock:
            for number, (each, since) in enumerate(self._in_flight.pop(key, ())):
                seconds, shared = max(0.0, self._clock() - since), number > 0
                self._ready.append(_reply(each, end, seconds, cached=shared))
                counts = ModeCounts(outcomes={end.outcome: 1}, cached=1)
                if not shared:
                    counts = replace(
                        one_call(end.outcome, seconds),
                        tokens_read=end.tokens_read,
                        tokens_written=end.tokens_written,
                    )
                self._count(mode, counts)
            if end.answer is not None:
                self._cache.keep(key, end.answer)

    def replies(self) -> list[PlannerReply]:
        if not self._ready:  # the usual case; avoids the lock
            return []
        with self._lock:
            ready, self._ready = self._ready, []
            return ready

    def counts(self) -> PlannerCounts:
        """Events since the last call, and questions in flight."""
        with self._lock:
            counts, self._counts = self._counts, PlannerCounts()
            in_flight = Counter(key[0] for key, waiting in self._in_flight.items() for _ in waiting)
        return replace(counts, in_flight=dict(in_flight))

    def give_up(self, detail: str) -> None:
        """Reply `dropped` to all questions in flight, and accept no more."""
        with self._lock:
            self._closed = True
            waiting = [sharing[0][0] for sharing in self._in_flight.values()]
        for question in waiting:
            self.settle(question, CallEnd("dropped", detail=detail))

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._in_flight.clear()
            self._ready = []

    def _refuse(self, mode: Mode, reason: NotAsked) -> Taken:
        self._count(mode, ModeCounts(not_asked={reason: 1}))
        return "refused"

    def _count(self, mode: Mode, counts: ModeCounts) -> None:
        self._counts += PlannerCounts({mode: counts})


def _key_of(question: PlannerQuestion) -> Key:
    return question.mode, question.kind, question.situation


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
