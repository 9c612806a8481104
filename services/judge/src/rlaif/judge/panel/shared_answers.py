"""Answers that all replicas of the judge share, in the object store, by the day.

A request that one replica has an answer for costs the others one look into the store and no call.
It is a cache and nothing else: what is missing, slow or broken is asked for as if it were not
there. The answers of earlier days are deleted, so it never holds more than a day's.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from rlaif.llm.ports import Answer
from rlaif.storage import keys
from rlaif.storage.ports import ObjectNotFoundError, ObjectStore, StorageError

logger = logging.getLogger(__name__)

_LOOK_SECONDS = 2.0
"""For how long a call may wait for the store's word."""
_REST_SECONDS = 30.0
"""After a failure nobody looks for so long."""
_CAP_BYTES = 64 * 1024
_MOST_WRITES = 32
"""Answers on their way to the store; more are not shared."""
_DELETED_AT_ONCE = 1000
_MOST_DELETED = 20_000
"""Objects of earlier days that are deleted in one go; the rest goes the next time."""


class SharedAnswers:
    """The shared answers of one judge configuration."""

    def __init__(
        self, judge_config: str, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        """Nothing is shared until there is a store: see `use`."""
        self._judge_config = judge_config
        self._now = now
        self._store: ObjectStore | None = None
        self._rests_until = float("-inf")
        self._tidied = ""
        self._tasks: set[asyncio.Task[None]] = set()

    def use(self, store: ObjectStore | None) -> None:
        """Share by `store` from now on; None stops it."""
        self._store = store

    async def get(self, request_key: str) -> Answer | None:
        """The answer of whoever asked the same today; None when there is none."""
        store = self._usable()
        if store is None:
            return None
        self._tidy_once_a_day(store)
        key = self._key(request_key)
        try:
            async with asyncio.timeout(_LOOK_SECONDS):
                return _read(await asyncio.to_thread(store.get, key))
        except ObjectNotFoundError:
            return None
        except (StorageError, TimeoutError) as error:
            self._rest(error)
            return None

    def keep(self, request_key: str, answer: Answer) -> None:
        """Share a good answer, in the background."""
        store = self._usable()
        if store is not None and len(self._tasks) < _MOST_WRITES:
            self._begin(self._put(store, self._key(request_key), answer))

    async def close(self) -> None:
        """Wait for the answers that are on their way."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _key(self, request_key: str) -> str:
        return keys.shared_answer(f"{self._now():%Y-%m-%d}", self._judge_config, request_key)

    def _usable(self) -> ObjectStore | None:
        resting = asyncio.get_running_loop().time() < self._rests_until
        return None if resting else self._store

    def _rest(self, error: Exception) -> None:
        self._rests_until = asyncio.get_running_loop().time() + _REST_SECONDS
        logger.info("answers are not shared for %g s: %s", _REST_SECONDS, str(error) or "too slow")

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _put(self, store: ObjectStore, key: str, answer: Answer) -> None:
        data = json.dumps(asdict(answer)).encode()
        try:
            await asyncio.to_thread(store.put_once, key, data, content_type="application/json")
        except StorageError as error:
            self._rest(error)

    def _tidy_once_a_day(self, store: ObjectStore) -> None:
        today = f"{self._now():%Y-%m-%d}"
        if self._tidied != today:
            self._tidied = today
            self._begin(self._tidy(store, today))

    async def _tidy(self, store: ObjectStore, today: str) -> None:
        try:
            gone = await asyncio.to_thread(delete_before, store, keys.SHARED_ANSWERS, today)
        except StorageError as error:
            self._rest(error)
        else:
            if gone >= _MOST_DELETED:
                self._tidied = ""  # there is more


def delete_before(store: ObjectStore, prefix: str, day: str) -> int:
    """Delete what lies under `prefix` of earlier days, up to a limit; gives how many. Blocks.

    Keys go on with their day, so what is old comes first in the listing.
    """
    gone = 0
    listed = store.list(prefix)
    while gone < _MOST_DELETED:
        old = [info.key for info in islice(listed, _DELETED_AT_ONCE) if info.key < prefix + day]
        if not old:
            break
        store.delete_many(old)
        gone += len(old)
    return gone


def _read(data: bytes) -> Answer | None:
    """The stored answer; None for what is none, such as one of another version."""
    if len(data) > _CAP_BYTES:
        return None
    try:
        return Answer(**json.loads(data))
    except (ValueError, TypeError, RecursionError):
        return None
