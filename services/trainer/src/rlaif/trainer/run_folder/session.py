"""The session of a training process, which contains its runners and search workers.

They are killed by the process itself, by the service, or, when both were killed, by a guard.

As a program, `python session.py`, this is the guard: it kills the session at the end of its input.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

_PROC = Path("/proc")
_PAUSE_SECONDS = 0.02
_PATIENCE_SECONDS = 5.0


def members(session: int) -> list[int]:
    """Running processes of a session; empty without /proc."""
    found = []
    for name in os.listdir(_PROC) if _PROC.is_dir() else ():
        with contextlib.suppress(OSError):
            if name.isdecimal() and os.getsid(int(name)) == session and _runs(int(name)):
                found.append(int(name))
    return found


def end(session: int) -> None:
    """Kill all processes of a session except the caller; wait at most 5 s for their end.

    Only for a session whose leader is a child of this process, so that its id is not reused.
    Without /proc, as on macOS, its first process group is killed.
    """
    deadline = time.monotonic() + _PATIENCE_SECONDS
    if not _PROC.is_dir():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.getpgid(0) != session:
                os.killpg(session, signal.SIGKILL)
        return
    # Repeatedly, as processes may start others meanwhile.
    while left := [pid for pid in members(session) if pid != os.getpid()]:
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > deadline:
            return
        time.sleep(_PAUSE_SECONDS)


def step_back(niceness: int) -> None:
    """Lower the priority of this process and, as a session's leader, of its session.

    With autogroups (sched(7)) niceness compares processes within a session only, so the session is
    niced as well where possible.
    """
    os.nice(niceness)
    if os.getsid(0) == os.getpid():
        with contextlib.suppress(OSError):
            (_PROC / "self" / "autogroup").write_text(str(niceness))


def guard() -> "subprocess.Popen[bytes]":
    """Start the guard of this session, which notices any end of this process."""
    return subprocess.Popen([sys.executable, "-S", "-E", __file__], stdin=subprocess.PIPE)


def _runs(pid: int) -> bool:
    stat = (_PROC / str(pid) / "stat").read_text()
    return stat.rpartition(")")[2].split()[0] not in "ZX"


if __name__ == "__main__":
    sys.stdin.buffer.read()
    end(os.getsid(0))
