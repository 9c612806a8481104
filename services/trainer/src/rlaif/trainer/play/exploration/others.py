"""What the other runners have counted: the sum over their files, read again when they changed."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

Key = TypeVar("Key")


def sum_of_others(file: Path, read: Callable[[Path], Counter[Key]]) -> Counter[Key]:
    """What `read` gives of each file of the same kind beside `file`, added up."""
    total: Counter[Key] = Counter()
    for other in sorted(file.parent.glob(f"[!.]*{file.suffix}")):
        if other.name != file.name:
            total.update(read(other))
    return total


class ReadOnce(Generic[Key]):
    """Reads a file as `read` does, and gives the same counts until another one takes its place."""

    def __init__(self, read: Callable[[Path], Counter[Key]]) -> None:
        self._read = read
        self._known: dict[Path, tuple[tuple[int, int], Counter[Key]]] = {}

    def __call__(self, path: Path) -> Counter[Key]:
        """Not to be changed by who gets it; none for a file that is gone."""
        try:
            stat = path.stat()
        except FileNotFoundError:
            return Counter()
        stamp = stat.st_ino, stat.st_mtime_ns
        known = self._known.get(path)
        if known is None or known[0] != stamp:
            known = self._known[path] = stamp, self._read(path)
        return known[1]
