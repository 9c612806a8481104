"""A process that ends in the middle of its writes."""

from typing import Any

from rlaif.storage.ports import ObjectStore


class Crash(BaseException):
    """The process ends here; nothing of it runs on, as after SIGKILL."""


def crashing(store: ObjectStore, write: int, *, after: bool) -> Any:
    """The store as a process sees it that ends before or after its write number `write`, from 0."""
    return _CrashingStore(store, write, after=after)


class _CrashingStore:
    def __init__(self, store: ObjectStore, write: int, *, after: bool) -> None:
        self._store = store
        self._left = write
        self._after = after

    def __getattr__(self, name: str) -> Any:
        does = getattr(self._store, name)
        return self._counted(does) if name.startswith(("put", "delete")) else does

    def _counted(self, does: Any) -> Any:
        def write(*given: Any, **options: Any) -> Any:
            self._left -= 1
            if self._left < 0 and not self._after:
                raise Crash
            done = does(*given, **options)
            if self._left < 0:
                raise Crash
            return done

        return write
