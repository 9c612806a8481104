"""Live files of a runner on another machine, copied to the machine of the service.

    machine of the runner                            machine of the driver and the service
      {runner}.rgb, .where, .steps  ── ScreenUpdate ──▶  the same files
      watched                       ◀── the watched environment ──  watched

The first three are `Seqlock` files, so they can be copied alike.
"""

import time
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from rlaif.files.whole import write_whole
from rlaif.trainer.run_folder.live_files import WatchedFile, with_clock_offset

_PERIODS = {".rgb": 0.0, ".where": 0.5, ".steps": 0.5}
"""Suffix → minimum seconds between two copies: the readers poll at this rate."""

_NUMBER = slice(8)


@dataclass(frozen=True)
class ScreenUpdate:
    """The files that changed.

    Attributes:
        source: Identifies the sender; files of another sender are created again.
        sent_ns: Nanoseconds since 1970 by the clock of the runner's machine.
        files: Suffix → content.
    """

    runner: int
    source: str
    sent_ns: int
    files: dict[str, bytes]


class ScreenSource:
    """Reads the files of one runner on its own machine."""

    def __init__(self, folder: Path, runner: int) -> None:
        self._folder, self._runner = folder, runner
        self._source = uuid4().hex
        self._sent: dict[str, tuple[float, bytes]] = {}

    def update(self) -> ScreenUpdate | None:
        """Files that changed since the last call; None for none."""
        now, files = time.monotonic(), {}
        for suffix, period in _PERIODS.items():
            at, before = self._sent.get(suffix, (float("-inf"), b""))
            if now - at < period:
                continue
            data = _read(self._folder / f"{self._runner}{suffix}")
            if data is not None and data != before:
                files[suffix] = data
                self._sent[suffix] = now, data
        return ScreenUpdate(self._runner, self._source, time.time_ns(), files) if files else None

    def watch(self, env: tuple[int, int] | None) -> None:
        """Pass the watched environment to the runner; None for none."""
        with suppress(OSError), closing(WatchedFile(self._folder / "watched")) as watched:
            watched.env = env


class ScreenMirror:
    """Writes the files of runners on other machines where the service reads them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sources: dict[Path, str] = {}

    def write(self, update: ScreenUpdate) -> tuple[int, int] | None:
        """Write changed files; returns the watched environment, None for none.

        Raises:
            OSError: The files cannot be written.
        """
        self._folder.mkdir(exist_ok=True)
        for suffix, data in update.files.items():
            path = self._folder / f"{update.runner}{suffix}"
            if suffix == ".where":
                data = with_clock_offset(data, time.time_ns() - update.sent_ns)
            if self._sources.get(path) == update.source:
                _overwrite(path, data)
            else:
                write_whole(path, data)
                self._sources[path] = update.source
        with closing(WatchedFile(self._folder / "watched")) as watched:
            return watched.env


def _read(path: Path) -> bytes | None:
    """The content of a file; None while it is missing or being written."""
    with suppress(OSError), path.open("rb", buffering=0) as file:
        data = file.read()
        file.seek(0)
        if data and data[0] % 2 == 0 and file.read(8) == data[_NUMBER]:
            return data
    return None


def _overwrite(path: Path, data: bytes) -> None:
    """Write in place like the runner, as readers keep the file mapped."""
    number = int.from_bytes(data[_NUMBER], "little")
    with path.open("r+b", buffering=0) as file:
        file.write((number + 1).to_bytes(8, "little") + data[8:])
        file.seek(0)
        file.write(data[_NUMBER])
