"""Monitors the state of a store by the outcomes of its calls, or by probes while there are none.

A failed read is cleared by the next answer. A failed write is cleared only by a successful write: a
server with a full disk still answers reads.
"""

import asyncio
import contextlib
import time
from collections.abc import Iterator, Sequence

from rlaif.storage.ports import (
    BINARY,
    ObjectInfo,
    ObjectStore,
    StorageError,
    StoreUnavailableError,
)
from rlaif.storage.probe import SCRATCH

PROBE_KEY = f"{SCRATCH}watch"
_PROBE_BYTES = bytes(65_536)
"""As large as a small object: a full disk may still accept a few bytes."""


class WatchedStore:
    """A store that records the outcome of every call; thread-safe.

    `run` probes it if no call was answered for `every` seconds, or after a failed write. A probe
    without an answer within `limit` seconds is a failure.
    """

    def __init__(self, store: ObjectStore, *, every: float = 5.0, limit: float = 3.0) -> None:
        self._store = store
        self._every = every
        self._limit = limit
        self._answered_at = time.monotonic()
        self._read_issue: str | None = "not checked yet"
        self._write_issue: str | None = None

    def check(self) -> str | None:
        """The current problem of the store; None if it works."""
        return self._write_issue or self._read_issue

    async def run(self) -> None:
        """Probe the store until cancelled."""
        while True:
            if self.check() is not None or time.monotonic() - self._answered_at >= self._every:
                probing = asyncio.create_task(asyncio.to_thread(self._probe))
                await asyncio.wait((probing,), timeout=self._limit)
                if not probing.done():
                    self._read_issue = f"{self.url} gave no answer for {self._limit:g} s"
                await probing  # a thread cannot be stopped, and a second one would hang too
            await asyncio.sleep(self._every)

    def _probe(self) -> None:
        with contextlib.suppress(StorageError):  # recorded by the call itself
            if self._write_issue is None:
                self.head(PROBE_KEY)
            else:
                self.put(PROBE_KEY, _PROBE_BYTES)
                self.delete_many([PROBE_KEY])

    @contextlib.contextmanager
    def _noted(self, *, write: bool = False) -> Iterator[None]:
        try:
            yield
        except StoreUnavailableError as error:
            if write:
                self._write_issue = str(error)
            else:
                self._read_issue = str(error)
            raise
        except StorageError:
            self._note_answer()  # such as a missing object
            raise
        self._note_answer()
        if write:
            self._write_issue = None

    def _note_answer(self) -> None:
        self._answered_at = time.monotonic()
        self._read_issue = None

    @property
    def url(self) -> str:
        return self._store.url

    def put_once(self, key: str, data: bytes, *, content_type: str = BINARY) -> bool:
        with self._noted(write=True):
            return self._store.put_once(key, data, content_type=content_type)

    def put(self, key: str, data: bytes, *, content_type: str = BINARY) -> None:
        with self._noted(write=True):
            self._store.put(key, data, content_type=content_type)

    def put_over(self, key: str, data: bytes, tag: str, *, content_type: str = BINARY) -> bool:
        with self._noted(write=True):
            return self._store.put_over(key, data, tag, content_type=content_type)

    def get(self, key: str, max_bytes: int | None = None) -> bytes:
        with self._noted():
            return self._store.get(key, max_bytes)

    def get_tagged(self, key: str) -> tuple[bytes, str]:
        with self._noted():
            return self._store.get_tagged(key)

    def head(self, key: str) -> ObjectInfo | None:
        with self._noted():
            return self._store.head(key)

    def list(self, prefix: str = "", *, after: str = "") -> Iterator[ObjectInfo]:
        with self._noted():
            yield from self._store.list(prefix, after=after)

    def scan(self, prefix: str = "") -> Iterator[ObjectInfo]:
        with self._noted():
            yield from self._store.scan(prefix)

    def delete_many(self, keys: Sequence[str]) -> None:
        with self._noted():
            self._store.delete_many(keys)
