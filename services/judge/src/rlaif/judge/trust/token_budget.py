"""How many tokens all replicas together may spend a day, and whether they have.

Each replica keeps one small object a day in the store and replaces it while it spends: the sum of
all is what was spent. It is written and read every few seconds, so replicas together overshoot by
what they spend in that time, and by the segments that they have in hand. Days are those of UTC.
"""

import asyncio
import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from itertools import islice

from rlaif.storage import keys
from rlaif.storage.ports import ObjectNotFoundError, ObjectStore, StorageError

logger = logging.getLogger(__name__)

_REFRESH_SECONDS = 10.0
_MAX_DELETED = 1000
_KEPT_DAYS = 7
_MOST_REPLICAS = 1000


class TokenBudget:
    """What this replica and the others spent today, and what is left."""

    def __init__(
        self,
        per_day: int | None,
        *,
        replica: str,
        on_spent: Callable[[int], None] = lambda tokens: None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Without a limit `per_day` tokens are counted and nothing is stored or held back.

        `replica` must be the same after a restart and another one for each process. `on_spent` is
        called with the tokens of today whenever they change.
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
        self._told = False

    @property
    def spent(self) -> int:
        """Tokens of today, of all replicas as far as is known."""
        self._turn_the_page()
        return self._mine + self._others

    @property
    def mine(self) -> int:
        """Tokens of today that this replica spent."""
        self._turn_the_page()
        return self._mine

    def spend(self, tokens: int) -> None:
        """Note tokens that were spent."""
        self._turn_the_page()
        self._mine += tokens
        self._on_spent(self.spent)

    def seconds_to_wait(self) -> float:
        """Until the next day when the budget is spent; 0 while some of it is left."""
        if self.per_day is None or self.spent < self.per_day:
            return 0.0
        if not self._told:
            self._told = True
            logger.warning("%s", self.check())
        return max(1.0, (self._next_day() - self._now()).total_seconds())

    def check(self) -> str | None:
        """One sentence when judging pauses because the budget is spent; None when it does not."""
        if self.per_day is None or self.spent < self.per_day:
            return None
        return (
            f"{self.spent:,} of {self.per_day:,} tokens of this day are spent. Segments wait, none "
            f"is dropped; judging goes on at {self._next_day():%Y-%m-%d %H:%M} UTC, or with a "
            "higher JUDGE_TOKENS_PER_DAY"
        )

    async def refresh(self, store: ObjectStore) -> None:
        """Tell what was spent here and learn what was elsewhere, when that is some time ago.

        A store that is away changes nothing: what is known goes on counting.
        """
        if self.per_day is None:
            return
        async with self._refreshing:
            self._turn_the_page()
            now = self._now()
            if self._refreshed is not None and now - self._refreshed < timedelta(
                seconds=_REFRESH_SECONDS
            ):
                return
            try:
                await self._exchange(store)
            except StorageError as error:
                logger.info("the tokens of other replicas are not known: %s", error)
            self._refreshed = now
            self._on_spent(self.spent)

    async def _exchange(self, store: ObjectStore) -> None:
        day, key = self._day, keys.spent_tokens(self._day, self._replica)
        if self._stored is None:
            # After a restart this replica goes on where it was.
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

    def _turn_the_page(self) -> None:
        if f"{self._now():%Y-%m-%d}" != self._day:
            self._begin_day()

    def _next_day(self) -> datetime:
        return datetime.combine(self._now().date() + timedelta(days=1), time(), UTC)


def _delete_before(store: ObjectStore, day: str) -> None:
    """Delete the records of earlier days. Blocks."""
    listed = islice(store.list(keys.SPENT_TOKENS), _MAX_DELETED)
    old = [info.key for info in listed if info.key < keys.SPENT_TOKENS + day]
    if old:
        store.delete_many(old)


def _sum(store: ObjectStore, day: str, but: str) -> int:
    """What all but one replica spent on a day. Blocks."""
    listed = [info.key for info in store.list(keys.spent_tokens(day))][:_MOST_REPLICAS]
    return sum(_read(store, key) for key in listed if key != but)


def _read(store: ObjectStore, key: str) -> int:
    """What a replica says that it spent; 0 when it says nothing that can be read. Blocks."""
    try:
        tokens = json.loads(store.get(key))["tokens"]
    except ObjectNotFoundError:
        return 0
    except (ValueError, LookupError, TypeError, RecursionError):
        return 0
    return tokens if type(tokens) is int and tokens >= 0 else 0
