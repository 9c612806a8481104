"""Writing to a disk that may be full, read-only or gone: files appear whole, errors become words.

What a run can do without (archive, coverage, pictures, films, logs) is lost with a word; what it
cannot (its record, checkpoints) is tried again. Neither ends training or who watches over it.
"""

import contextlib
import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from rlaif.files.failures import why as why  # callers find all about the disk here

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_PROBE_BYTES = 1 << 20
"""A disk that takes less than this takes no checkpoint."""


def is_trouble(error: BaseException) -> TypeGuard[OSError]:
    """Whether an error is the disk's, or this machine's, and may pass: no bug, no server."""
    if not isinstance(error, OSError) or isinstance(error, ConnectionError | TimeoutError):
        return False
    return error.errno is not None


def trouble(directory: Path) -> str | None:
    """Why a directory takes no file of a megabyte; None when it does. The file is removed."""
    probe = directory / f".probe.{os.getpid()}.partial"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        try:
            with probe.open("wb") as file:
                file.write(b"\1" * _PROBE_BYTES)
                file.flush()
                os.fsync(file.fileno())
        finally:
            probe.unlink(missing_ok=True)
    except OSError as error:
        return why(error)
    return None


class LossyOutput(io.RawIOBase):
    """A file descriptor to write to, such as that of a log: what it does not take is lost."""

    def __init__(self, descriptor: int) -> None:
        """Write to it; it is not closed."""
        self._descriptor = descriptor

    def writable(self) -> bool:
        """Yes."""
        return True

    def fileno(self) -> int:
        """The descriptor."""
        return self._descriptor

    def write(self, data: "ReadableBuffer", /) -> int:
        """Write what can be written; gives the length of it all."""
        left = memoryview(data).cast("B")
        total = len(left)
        with contextlib.suppress(OSError):
            while left:
                left = left[os.write(self._descriptor, left) :]
        return total


def lossy_text(descriptor: int) -> io.TextIOWrapper:
    """`LossyOutput` as a text stream, for `sys.stdout` and `sys.stderr`."""
    raw = LossyOutput(descriptor)
    return io.TextIOWrapper(io.BufferedWriter(raw), errors="backslashreplace", write_through=True)
