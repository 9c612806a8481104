"""Rotation of the logs that child processes append to."""

import os
import shutil
from itertools import pairwise
from pathlib import Path

_MAX_BYTES = 10_000_000
_FILES = 5
"""With the current one, as in docker-compose.yml."""


def rotate(log: Path, *, max_bytes: int = _MAX_BYTES) -> None:
    """Copy a log that is too long to `NAME.1`, which moves on to `NAME.2`, and empty it.

    The child keeps its open file: it appends, so the next line is at the new beginning.
    """
    if not log.exists() or log.stat().st_size <= max_bytes:
        return
    older = [log.with_name(f"{log.name}.{number}") for number in range(1, _FILES)]
    for newer, old in reversed(list(pairwise(older))):
        if newer.exists():
            newer.replace(old)
    shutil.copyfile(log, older[0])
    os.truncate(log, 0)
