"""Answers by the content of their request, so that equal questions are asked once.

Segments in which little happens give equal evidence, an event that is tried again repeats its
questions, and two segments at work at once may ask the same thing: they share one call.
"""

import asyncio
import hashlib
import json
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from rlaif.llm.ports import Answer, CompletionRequest

Use = Literal["miss", "hit", "shared"]
"""Where an answer came from: a call, the cache, or a concurrent call for the same request."""

Timed = tuple[Answer, float]
"""An answer and the seconds that its call took."""


@dataclass
class _Flight:
    task: "asyncio.Task[Timed]"
    waiting: int = 0


class AnswerCache:
    """Keeps the newest answers of one process."""

    def __init__(self, most: int) -> None:
        """Keep at most `most` answers, about 1 kB each; 0 keeps none and still shares calls."""
        self._most = most
        self._kept: OrderedDict[str, Answer] = OrderedDict()
        self._flights: dict[str, _Flight] = {}

    async def answer(
        self, key: str, ask: Callable[[], Awaitable[Timed]]
    ) -> tuple[Answer, float, Use]:
        """(answer, seconds of the call or 0 when another made it, how it came); asks at most once.

        The call continues as long as somebody waits for it. Its error reaches all who wait; errors
        are not kept.
        """
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
            return kept, 0.0, "hit"
        flight = self._flights.get(key)
        first = flight is None
        if flight is None:
            flight = self._flights[key] = _Flight(asyncio.ensure_future(ask()))
            flight.task.add_done_callback(_mark_error_seen)
        flight.waiting += 1
        try:
            answer, seconds = await asyncio.shield(flight.task)
        finally:
            flight.waiting -= 1
            if flight.waiting == 0:
                self._land(key, flight)
        return (answer, seconds, "miss") if first else (answer, 0.0, "shared")

    def keep(self, key: str, answer: Answer) -> None:
        """Remember a good answer."""
        if self._most:
            self._kept[key] = answer
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def _land(self, key: str, flight: _Flight) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]
        flight.task.cancel()


def _mark_error_seen(task: "asyncio.Task[Timed]") -> None:
    """Everybody who waited may be gone; their errors are reported elsewhere."""
    if not task.cancelled():
        task.exception()


def request_key(request: CompletionRequest, *, route: str) -> str:
    """SHA-256 of everything that the answer depends on: route, model, prompt, schema, sampling."""
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
