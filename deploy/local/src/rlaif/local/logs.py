"""Rotation of the logs that child processes append to."""

import os
import shutil
from itertools import pairwise
from pathlib import Path

_MAX_BYTES = 10_000_000
_FILES = 5
"""Including the current one, as in docker-compose.yml."""


def rotate(log: Path, *, max_bytes: int = _MAX_BYTES) -> None:
    """Copy a too large log to `NAME.1`, after `NAME.1` to `NAME.2` and so on, and truncate it.

    The child keeps its open file: it appends, so its next line is the first of the empty file.
    """
    if not log.exists() or log.stat().st_size <= max_bytes:
        return
    older = [log.with_name(f"{log.name}.{number}") for number in range(1, _FILES)]
    for newer, old in reversed(list(pairwise(older))):
        if newer.exists():
            newer.replace(old)
    shutil.copyfile(log, older[0])
    os.truncate(log, 0)
