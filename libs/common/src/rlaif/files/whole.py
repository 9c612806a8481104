"""Files that appear whole: written beside their place under another name, then renamed.

Another process reads the old bytes or the new ones, and a reader of the folder sees no half.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

_PARTIAL = ".partial"


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A name beside `path` to write to; it takes the place of `path` when the block ends well.

    What a failed block wrote is removed, as it fills the disk; then the old file is as it was.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}{_PARTIAL}")
    try:
        yield partial
        partial.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        raise


def write_whole(path: Path, data: bytes) -> None:
    """Replace a file by `data`; its folder is made when it is missing."""
    with replacing(path) as partial:
        try:
            partial.write_bytes(data)
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_bytes(data)


def drop_partial(directory: Path) -> None:
    """Remove what a killed writer left half-done."""
    for path in directory.glob(f".*{_PARTIAL}"):
        path.unlink(missing_ok=True)


def to_disk(path: Path) -> None:
    """Flush a file, or a folder's list of names, so that it outlives a power cut."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
