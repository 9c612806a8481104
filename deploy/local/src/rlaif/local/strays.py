"""Finds, terminates and reaps processes that a child left behind.

Processes of a child may start their own sessions, as Ray does, and then miss the signal to its
group. On Linux this process adopts them when their parents end; those that persist have no other
supervisor. On other systems nothing is found.
"""

import asyncio
import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_PATIENCE_SECONDS = 5.0
_POLL_SECONDS = 0.05


@dataclass(frozen=True)
class Process:
    """An entry of the process table; an `ended` one is a zombie."""

    pid: int
    parent: int
    session: int
    name: str
    ended: bool


def adopt_orphans() -> None:
    """Make this process the new parent of orphaned descendants."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1)


class Strays:
    """Terminates adopted processes: a restarted trainer must not run beside an old Ray."""

    def __init__(self, *, patience: float = _PATIENCE_SECONDS) -> None:
        self._patience = patience
        self._since: dict[int, float] = {}

    def update(self, now: float, spare: Collection[int]) -> list[Process]:
        """End processes adopted `patience` seconds ago, except `spare`; returns those that ran."""
        found = {stray.pid: stray for stray in strays(spare)}
        self._since = {pid: self._since.get(pid, now) for pid in found}
        due = [found[pid] for pid, since in self._since.items() if now - since >= self._patience]
        for stray in due:
            _end(stray.pid)
        return [stray for stray in due if not stray.ended]


async def end_strays(*, seconds: float) -> list[Process]:
    """End all remaining descendants of this process, after all supervised children have ended.

    Returns the processes that were ended within `seconds`, without those that had ended before.
    """
    ended: dict[int, Process] = {}
    deadline = time.monotonic() + seconds
    while (found := strays(())) and time.monotonic() < deadline:
        for stray in [*found, *descendants(stray.pid for stray in found)]:
            if not stray.ended:
                ended.setdefault(stray.pid, stray)
            _end(stray.pid)
        await asyncio.sleep(_POLL_SECONDS)
    return list(ended.values())


def strays(spare: Collection[int]) -> list[Process]:
    """Children of this process outside its session, except `spare`."""
    mine, session = os.getpid(), os.getsid(0)
    return [
        process
        for process in _table()
        if process.parent == mine and process.session != session and process.pid not in spare
    ]


def descendants(pids: Iterable[int]) -> list[Process]:
    """Children of these processes, their children, and so on."""
    table, above, found = _table(), list(pids), list[Process]()
    for pid in above:  # grows during the iteration
        children = [process for process in table if process.parent == pid]
        above += [child.pid for child in children]
        found += children
    return found


def _end(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):  # its parent reaps it
        os.waitpid(pid, os.WNOHANG)


def _table() -> list[Process]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "stat").read_text(errors="replace")
        except OSError:
            continue
        # The name is in brackets and may itself contain brackets.
        name, _, rest = line.partition("(")[2].rpartition(")")
        words = rest.split()
        parent, session, ended = int(words[1]), int(words[3]), words[0] in "ZX"
        found.append(Process(int(entry.name), parent, session, name, ended))
    return found
