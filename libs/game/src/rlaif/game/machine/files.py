"""Files that a user names: a path and the largest size in, bytes out, or a phrase why not."""

import stat
from pathlib import Path


class UnusableFileError(Exception):
    """The file cannot be read; the message is the rest of `cannot read the ROM /x: …`."""


def read_bounded(path: Path, largest: int, what: str) -> bytes:
    """Read a file that may be anything: a device, a pipe that never ends, or 2 GB.

    One of more than `largest` bytes is not read; `what` it should be is such as `a Game Boy ROM`.

    Raises:
        FileNotFoundError: There is none.
        UnusableFileError: It is none of this kind, or cannot be read.
    """
    try:
        info = path.stat()
        if stat.S_ISDIR(info.st_mode):
            raise UnusableFileError("it is a folder; give the file in it")
        if not stat.S_ISREG(info.st_mode):
            raise UnusableFileError("it is a device, pipe or socket; give a plain file")
        if info.st_size > largest:
            raise UnusableFileError(
                f"it has {info.st_size} bytes, {what} has at most {largest}; give another file"
            )
        return path.read_bytes()
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise UnusableFileError(reason or str(error)) from error
