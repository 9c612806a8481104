"""Handling of a disk that is full, read-only or missing.

Non-essential writes (search, pictures, films, logs) are dropped and reported; essential
ones (record, checkpoints) are retried. Neither ends training or the service.
"""

import contextlib
import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from rlaif.files.failures import why as why  # part of this module's interface

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_PROBE_BYTES = 1 << 20
"""Size of the probe file; no checkpoint fits into less space."""


def is_disk_error(error: BaseException) -> TypeGuard[OSError]:
    """Whether an error comes from disk or machine, not a bug or a server, and may be temporary."""
    if not isinstance(error, OSError) or isinstance(error, ConnectionError | TimeoutError):
        return False
    return error.errno is not None


def problem(directory: Path) -> str | None:
    """Return why a 1 MB file cannot be written to a directory; None if it can."""
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


def reason(error: Exception) -> str:
    """Describe an error of the disk or of a server."""
    return why(error) if isinstance(error, OSError) else str(error)


class LossyOutput(io.RawIOBase):
    """A file descriptor for a log; data that cannot be written is dropped."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def write(self, data: "ReadableBuffer", /) -> int:
        """Write as much as possible; returns the length of all data."""
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
