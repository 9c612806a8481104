"""Archive and coverage of a run as one tar file, which may come from an untrusted store.

`TarFile.extractall(filter="data")` needs Python 3.11.4, and has no limits. `pack` writes regular
files with relative names; everything else is rejected before anything is written.
"""

import io
import tarfile
from pathlib import Path, PurePosixPath

EXPLORATION_DIR = "exploration"
"""In the run's directory, with a directory for each game, emulator and frame skip."""

MAX_FILES = 100_000
MAX_BYTES = 1 << 30
"""Limits for unpacking; 512 states of 13 kB with their records, and coverage, are 10 MB."""


class ExplorationFileError(ValueError):
    """The file was not written by `pack`."""


def pack(source: Path, target: Path) -> None:
    """Write the files below `source`, except those that are deleted meanwhile."""
    with tarfile.open(target, "w") as tar:
        for path in sorted(source.rglob("*")):
            if path.name.startswith(".") or not path.is_file():
                continue
            try:
                data = path.read_bytes()
            except FileNotFoundError:
                continue
            entry = tarfile.TarInfo(path.relative_to(source).as_posix())
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))


def unpack(packed: bytes, target: Path) -> None:
    """Unpack below `target`.

    Raises:
        ExplorationFileError: The file is invalid or too large, or a name leads out of `target`.
    """
    try:
        with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
            members = _checked(tar)
            target.mkdir(parents=True, exist_ok=True)
            for member in members:
                stream = tar.extractfile(member)
                assert stream is not None  # a regular file
                path = target / member.name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(stream.read())
    except (tarfile.TarError, EOFError, ValueError, FileExistsError, NotADirectoryError) as error:
        raise ExplorationFileError(f"the archive of states cannot be unpacked: {error}") from error


def _checked(tar: tarfile.TarFile) -> list[tarfile.TarInfo]:
    """Its files; raises ValueError for anything else."""
    members = [member for member in tar if not member.isdir()]
    for member in members:
        path = PurePosixPath(member.name)
        if not member.isreg() or member.issparse():
            raise ValueError(f"{member.name!r} is not a regular file")
        if path.is_absolute() or ".." in path.parts or "\0" in member.name or not path.parts:
            raise ValueError(f"{member.name!r} is no path below the run")
    if len(members) > MAX_FILES or sum(member.size for member in members) > MAX_BYTES:
        raise ValueError(f"it contains more than {MAX_FILES} files or {MAX_BYTES} bytes")
    return members
