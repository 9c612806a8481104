"""The daily token budget of all replicas.

Each replica stores one small object per day with its spent tokens; the sum is compared with the
budget. Objects are written and read every few seconds, so replicas may exceed the budget by the
tokens of this interval and of segments in progress. Days are in UTC.
"""

import asyncio
import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from itertools import islice

from rlaif.llm.ports import Answer, CompletionRequest, LanguageModel
from rlaif.storage import keys
from rlaif.storage.ports import DAMAGED, ObjectStore, StorageError

logger = logging.getLogger(__name__)

_CHARACTERS_PER_TOKEN = 3
_REFRESH_INTERVAL = timedelta(seconds=10)
_MAX_DELETED = 1000
_KEPT_DAYS = 7
_MAX_REPLICAS = 1000


class TokenBudget:
    """Tokens spent today by this replica and the others."""

    def __init__(
        self,
        per_day: int | None,
        *,
        replica: str,
        on_spent: Callable[[int], None] = lambda tokens: None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Without a limit `per_day`, tokens are only counted.

        `replica` is unique per process and unchanged by restarts. `on_spent` is called with today's
        tokens after each change.
        """
        self.per_day = per_day
        self._replica = replica
        self._on_spent = on_spent
        self._now = now
        self._refreshing = asyncio.Lock()
        self._begin_day()

    def _begin_day(self) -> None:
        self._day = f"{self._now():%Y-%m-%d}"
        self._mine = 0
        self._stored: int | None = None
        self._others = 0
        self._refreshed: datetime | None = None
        self._reported = False

    @property
    def spent(self) -> int:
        self._start_day_if_new()
        return self._mine + self._others

    def spend(self, tokens: int) -> None:
        self._start_day_if_new()
        self._mine += tokens
        self._on_spent(self.spent)

    def seconds_to_wait(self) -> float:
        """Seconds until the next day; 0 while budget is left."""
        if self.per_day is None or self.spent < self.per_day:
            return 0.0
        if not self._reported:
            self._reported = True
            logger.warning("%s", self.check())
        return max(1.0, (self._next_day() - self._now()).total_seconds())

    def check(self) -> str | None:
        """A message if judging is paused because the budget is spent, else None."""
        if self.per_day is None or self.spent < self.per_day:
            return None
        return (
            f"{self.spent:,} of {self.per_day:,} tokens of this day are spent. Segments wait and "
            f"are not dropped; judging resumes at {self._next_day():%Y-%m-%d %H:%M} UTC, or with a "
            "higher JUDGE_TOKENS_PER_DAY"
        )

    async def refresh(self, store: ObjectStore) -> None:
        """Publish the tokens of this replica and read those of the others, every few seconds.

        If the store is unavailable, the last known numbers count.
        """
        if self.per_day is None:
            return
        async with self._refreshing:
            self._start_day_if_new()
            now = self._now()
            if self._refreshed is not None and now - self._refreshed < _REFRESH_INTERVAL:
                return
            try:
                await self._exchange(store)
            except StorageError as error:
                logger.info("tokens of other replicas are unknown: %s", error)
            self._refreshed = now
            self._on_spent(self.spent)

    async def _exchange(self, store: ObjectStore) -> None:
        day, key = self._day, keys.spent_tokens(self._day, self._replica)
        if self._stored is None:
            # Resume after a restart.
            self._stored = await asyncio.to_thread(_read, store, key)
            self._mine += self._stored
            oldest = self._now() - timedelta(days=_KEPT_DAYS)
            await asyncio.to_thread(_delete_before, store, f"{oldest:%Y-%m-%d}")
        mine = self._mine
        if mine != self._stored:
            data = json.dumps({"tokens": mine}).encode()
            await asyncio.to_thread(store.put, key, data, content_type="application/json")
            self._stored = mine
        others = await asyncio.to_thread(_sum, store, day, key)
        if day == self._day:
            self._others = others

    def _start_day_if_new(self) -> None:
        if f"{self._now():%Y-%m-%d}" != self._day:
            self._begin_day()

    def _next_day(self) -> datetime:
        return datetime.combine(self._now().date() + timedelta(days=1), time(), UTC)


def _delete_before(store: ObjectStore, day: str) -> None:
    listed = islice(store.list(keys.SPENT_TOKENS), _MAX_DELETED)
    old = [info.key for info in listed if info.key < keys.SPENT_TOKENS + day]
    if old:
        store.delete_many(old)


def _sum(store: ObjectStore, day: str, but: str) -> int:
    """Tokens of all replicas except one on a day. Blocks."""
    listed = [info.key for info in store.list(keys.spent_tokens(day))][:_MAX_REPLICAS]
    return sum(_read(store, key) for key in listed if key != but)


def _read(store: ObjectStore, key: str) -> int:
    """Tokens of a replica; 0 if its object is missing or cannot be parsed. Blocks."""
    try:
        tokens = json.loads(store.get(key))["tokens"]
    except (*DAMAGED, ValueError, LookupError, TypeError, RecursionError):
        return 0
    return tokens if type(tokens) is int and tokens >= 0 else 0


class MeteredModel:
    """A language model whose tokens are counted for all calls.

    Missing numbers are replaced by upper estimates. Calls without an answer are not counted.
    """

    def __init__(
        self,
        model: LanguageModel,
        *,
        prompt_tokens: Callable[[CompletionRequest], int],
        on_spent: Callable[[int], None],
    ) -> None:
        """`prompt_tokens` estimates the tokens of a request."""
        self._model = model
        self._prompt_tokens = prompt_tokens
        self._on_spent = on_spent

    async def complete(self, request: CompletionRequest) -> Answer:
        answer = await self._model.complete(request)
        read, written = answer.prompt_tokens, answer.completion_tokens
        if read is None:
            read = self._prompt_tokens(request)
        if written is None:
            written = 1 + len(answer.text) // _CHARACTERS_PER_TOKEN
        self._on_spent(read + written)
        return answer
