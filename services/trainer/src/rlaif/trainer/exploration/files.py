"""Files that appear whole or not at all."""

import os
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Replace a file by rename; another process reads the old bytes or the new ones."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    partial.write_bytes(data)
    partial.replace(path)


def drop_partial(directory: Path) -> None:
    """Remove what a killed writer left half-done."""
    for path in directory.glob(".*.partial"):
        path.unlink(missing_ok=True)
