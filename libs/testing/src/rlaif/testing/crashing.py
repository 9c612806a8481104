"""Stores whose writes a test intercepts, and simulated crashes between writes."""

from functools import partial
from typing import Any

from rlaif.storage.ports import ObjectStore


class Crash(BaseException):
    """Simulates the end of the process by SIGKILL: no handler of it may run."""


class Writes:
    """A store that routes all `put…` and `delete…` calls through one method, for subclasses."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    def write(self, method: str, *given: Any, **options: Any) -> Any:
        """Call `method` of the store; the first of `given` is a key, or a list of keys."""
        return getattr(self._store, method)(*given, **options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("put", "delete")):
            return partial(self.write, name)
        return getattr(self._store, name)


def crashing(store: ObjectStore, at: int | str, *, after: bool) -> Any:
    """A store that simulates a crash before or after one write.

    Args:
        store: The store.
        at: Index of the write, from 0, or a substring of its key.
        after: Whether to crash after the write; otherwise before it.
    """
    return _CrashingStore(store, at, after=after)


class _CrashingStore(Writes):
    def __init__(self, store: ObjectStore, at: int | str, *, after: bool) -> None:
        super().__init__(store)
        self._at = at
        self._after = after
        self._done = 0

    def write(self, method: str, *given: Any, **options: Any) -> Any:
        ends = self._at in given[0] if isinstance(self._at, str) else self._done >= self._at
        if ends and not self._after:
            raise Crash
        self._done += 1
        found = super().write(method, *given, **options)
        if ends:
            raise Crash
        return found
