"""Counts of the other runners: the sum over their files, which are cached until they change."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

Key = TypeVar("Key")


def sum_of_others(file: Path, read: Callable[[Path], Counter[Key]]) -> Counter[Key]:
    """Sum `read` over all files of the same kind beside `file`."""
    total: Counter[Key] = Counter()
    for other in sorted(file.parent.glob(f"[!.]*{file.suffix}")):
        if other.name != file.name:
            total.update(read(other))
    return total


class CachedReader(Generic[Key]):
    """Caches the counts of files by inode and modification time."""

    def __init__(self, read: Callable[[Path], Counter[Key]]) -> None:
        self._read = read
        self._known: dict[Path, tuple[tuple[int, int], Counter[Key]]] = {}

    def __call__(self, path: Path) -> Counter[Key]:
        """Return the counts of a file, empty if it does not exist; do not modify them."""
        try:
            stat = path.stat()
        except FileNotFoundError:
            return Counter()
        stamp = stat.st_ino, stat.st_mtime_ns
        known = self._known.get(path)
        if known is None or known[0] != stamp:
            known = self._known[path] = stamp, self._read(path)
        return known[1]
