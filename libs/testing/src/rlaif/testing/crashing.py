"""Stores whose writes a test takes over, and a process that ends in the middle of its writes."""

from functools import partial
from typing import Any

from rlaif.storage.ports import ObjectStore


class Crash(BaseException):
    """The process ends here; nothing of it runs on, as after SIGKILL."""


class Writes:
    """A store with all `put…` and `delete…` calls in one method, for subclasses to change."""

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
    """The store as seen by a process that ends before or after one of its writes.

    Args:
        store: The store.
        at: Number of the write, from 0, or a part of its key.
        after: Whether the write is done.
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
