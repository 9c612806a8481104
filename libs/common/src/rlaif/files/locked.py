"""Lock files, which the system releases when their process ends."""

import fcntl
import os
from pathlib import Path
from typing import IO


class LockedError(Exception):
    """Another process has the lock; `owner` is its id, or `unknown`."""

    def __init__(self, owner: str) -> None:
        super().__init__(f"locked by process {owner}")
        self.owner = owner


def lock(path: Path) -> IO[str]:
    """Lock a file, which is created if missing; closing the returned file unlocks it.

    Raises:
        LockedError: Another process, or another open file of this one, has it.
        OSError: It cannot be created or written.
    """
    file = path.open("a+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
    except BlockingIOError:
        file.seek(0)
        owner = file.read().strip() or "unknown"
        file.close()
        raise LockedError(owner) from None
    except OSError:
        file.close()
        raise
    return file
