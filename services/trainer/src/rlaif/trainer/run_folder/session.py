"""The session of a training process, which contains Ray's servers, agents and workers.

Ray's own shutdown takes 1.5 s and is incomplete: agents of a killed process retry for 60 s. So they
are killed by the process itself, by the service, or, when both were killed, by a guard. The folder
of their sockets and logs is removed, too.

As a program, `python session.py`, this is the guard: it kills the session at the end of its input.
"""

import contextlib
import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

_PROC = Path("/proc")
_PAUSE_SECONDS = 0.02
_PATIENCE_SECONDS = 5.0
_RAY_FOLDER = "RAY_TMPDIR"
"""Variable with the folder in which Ray creates its own."""

_PREFIX = "rlray-"
_LONGEST_SOCKET = "/ray/session_2026-01-31_00-00-00_000000_4194304/sockets/plasma_store"
_MAX_PARENT_BYTES = (
    (103 if sys.platform == "darwin" else 107) - len(_LONGEST_SOCKET) - len(f"/{_PREFIX}12345678")
)


def members(session: int) -> list[int]:
    """Running processes of a session; empty without /proc."""
    found = []
    for name in os.listdir(_PROC) if _PROC.is_dir() else ():
        with contextlib.suppress(OSError):
            if name.isdecimal() and os.getsid(int(name)) == session and _runs(int(name)):
                found.append(int(name))
    return found


def end(session: int) -> None:
    """Kill all processes of a session except the caller; waits for their end, at most 5 s.

    Only for a session whose leader is a child of this process, so that its number is not reused.
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


@contextlib.contextmanager
def ray_folder() -> Iterator[dict[str, str]]:
    """Create a folder for Ray's sockets and logs; yields the variable that passes it to Ray.

    It is private and short, as a socket's path may have 107 bytes.

    Raises:
        OSError: No directory for temporary files is usable.
    """
    for parent in (os.environ.get(_RAY_FOLDER), tempfile.gettempdir(), "/tmp", "/var/tmp"):
        if parent and len(os.fsencode(os.path.abspath(parent))) <= _MAX_PARENT_BYTES:
            with contextlib.suppress(OSError):
                folder = tempfile.mkdtemp(prefix=_PREFIX, dir=os.path.abspath(parent))
                break
    else:
        raise OSError(
            errno.ENOENT,
            f"Ray has no directory for its sockets; set {_RAY_FOLDER} to one that can be written "
            f"to and whose path has at most {_MAX_PARENT_BYTES} bytes",
        )
    try:
        yield {_RAY_FOLDER: folder}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_ray_folder() -> None:
    """Remove the folder of `ray_folder` that was passed to this process, if any."""
    folder = os.environ.get(_RAY_FOLDER, "")
    if os.path.basename(folder).startswith(_PREFIX):
        shutil.rmtree(folder, ignore_errors=True)


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
    remove_ray_folder()
