"""Atomic files: written under a temporary name, then renamed."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

_PARTIAL = ".partial"


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file beside `path`, which replaces `path` if the block succeeds."""
    partial = path.with_name(f".{path.name}.{os.getpid()}{_PARTIAL}")
    try:
        yield partial
        partial.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        raise


def write_whole(path: Path, data: bytes) -> None:
    """Replace a file by `data`; its folder is created if missing."""
    with replacing(path) as partial:
        try:
            partial.write_bytes(data)
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_bytes(data)


def drop_partial(directory: Path) -> None:
    """Remove the temporary files of killed writers."""
    for path in directory.glob(f".*{_PARTIAL}"):
        path.unlink(missing_ok=True)


def to_disk(path: Path) -> None:
    """Flush a file or a folder entry to disk, so that it survives a power failure."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
