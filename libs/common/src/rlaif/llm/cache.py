"""A cache of answers by key; concurrent equal requests share one call."""

import asyncio
import hashlib
import json
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from rlaif.llm.ports import CompletionRequest

K = TypeVar("K")
V = TypeVar("V")
Use = Literal["miss", "hit", "shared"]
"""Source of an answer: its own call, the cache, or a concurrent call for the same key."""


@dataclass
class _Flight(Generic[V]):
    task: "asyncio.Task[V]"
    waiting: int = 0


class AnswerCache(Generic[K, V]):
    """Keeps the `limit` most recently used answers, each for `seconds`; shares concurrent calls."""

    def __init__(
        self,
        limit: int,
        seconds: float = float("inf"),
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limit = limit
        self._seconds = seconds
        self._clock = clock
        self._kept: OrderedDict[K, tuple[float, V]] = OrderedDict()
        self._flights: dict[K, _Flight[V]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def keys(self) -> Iterable[K]:
        return self._kept

    def get(self, key: K) -> V | None:
        until, answer = self._kept.get(key, (0.0, None))
        if answer is None:
            return None
        if self._clock() >= until:
            del self._kept[key]
            return None
        self._kept.move_to_end(key)
        return answer

    def keep(self, key: K, answer: V) -> None:
        self._kept[key] = (self._clock() + self._seconds, answer)
        self._kept.move_to_end(key)
        while len(self._kept) > self._limit:
            self._kept.popitem(last=False)

    async def answer(self, key: K, ask: Callable[[], Awaitable[V]]) -> tuple[V, Use]:
        """The cached answer, else that of a call, which continues while any caller waits for it."""
        kept = self.get(key)
        if kept is not None:
            return kept, "hit"
        flight = self._flights.get(key)
        use: Use = "miss" if flight is None else "shared"
        if flight is None:
            flight = self._flights[key] = _Flight(asyncio.ensure_future(ask()))
            flight.task.add_done_callback(_retrieve_error)
        flight.waiting += 1
        try:
            answer = await asyncio.shield(flight.task)
        finally:
            flight.waiting -= 1
            if flight.waiting == 0:
                self._land(key, flight)
        self.keep(key, answer)
        return answer, use

    def _land(self, key: K, flight: _Flight[V]) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]
        flight.task.cancel()


def _retrieve_error(task: "asyncio.Task[V]") -> None:
    """Mark the error of a call as retrieved: its callers may have been cancelled."""
    if not task.cancelled():
        task.exception()


def request_key(request: CompletionRequest, *, route: str = "") -> str:
    """SHA-256 of everything that determines the answer: route, model, prompt, schema, sampling."""
    parts = {
        "route": route,
        "model": request.model,
        "messages": request.messages,
        "schema": request.schema,
        "seed": request.seed,
        "temperature": request.temperature,
        "max_tokens": request.max_tokens,
    }
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
