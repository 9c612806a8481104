"""The processes of a training process: Ray's servers, agents and workers are in its session.

Ray's own end of them is slow, 1.5 s when all is well, and incomplete: when the process that
started it is killed, its agents ask a server that is gone for another 60 s. So they are killed by
whoever is left: the process itself, the service, or, when both were killed, a guard.

Their sockets and logs are in a folder that whoever ends them removes as well.

As a program, `python session.py`, this is the guard: it waits for the end of its input, then ends
the session.
"""

import contextlib
import errno
import fcntl
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
"""The variable by which Ray is told in which folder to make one of its own."""

_PREFIX = "rlray-"
_NEW_SECONDS = 60.0
_LONGEST_SOCKET = "/ray/session_2026-01-31_00-00-00_000000_4194304/sockets/plasma_store"
_MAX_PARENT_BYTES = (
    (103 if sys.platform == "darwin" else 107) - len(_LONGEST_SOCKET) - len(f"/{_PREFIX}12345678")
)


def members(session: int) -> list[int]:
    """Processes of a session that run; empty where there is no /proc to look into."""
    found = []
    for name in os.listdir(_PROC) if _PROC.is_dir() else ():
        with contextlib.suppress(OSError):
            if name.isdecimal() and os.getsid(int(name)) == session and _runs(int(name)):
                found.append(int(name))
    return found


def end(session: int) -> None:
    """Kill all of a session but the process that asks; waits until they are gone, 5 s at most.

    Only for a session whose leader is ours: its number is then no other one's. Without /proc, as on
    macOS, its first process group is killed.
    """
    deadline = time.monotonic() + _PATIENCE_SECONDS
    if not _PROC.is_dir():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.getpgid(0) != session:
                os.killpg(session, signal.SIGKILL)
        return
    # Again and again: one may start another while they are being killed.
    while left := [pid for pid in members(session) if pid != os.getpid()]:
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > deadline:
            return
        time.sleep(_PAUSE_SECONDS)


@contextlib.contextmanager
def ray_folder() -> Iterator[dict[str, str]]:
    """Make a folder for Ray's sockets and logs; the variable that tells Ray of it.

    It is this user's alone, and short: a socket's path may have 107 bytes. It is removed at the
    end, with what is in it, and so are those beside it whose makers were killed.

    Raises:
        OSError: No directory for temporary files can be used.
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
    with _locked(folder):
        _remove_left_ones(Path(folder).parent)
        try:
            yield {_RAY_FOLDER: folder}
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _locked(folder: "str | Path") -> Iterator[None]:
    """Hold a folder's lock, which the system releases when this process is killed.

    Raises:
        OSError: Another process has it.
    """
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


def _remove_left_ones(parent: Path) -> None:
    for folder in parent.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > _NEW_SECONDS:  # else not yet locked
                with _locked(folder):
                    shutil.rmtree(folder, ignore_errors=True)


def remove_ray_folder() -> None:
    """Remove the folder that this process was given by `ray_folder`, if it was."""
    folder = os.environ.get(_RAY_FOLDER, "")
    if os.path.basename(folder).startswith(_PREFIX):
        shutil.rmtree(folder, ignore_errors=True)


def step_back(niceness: int) -> None:
    """Let other sessions have the cores first; for the leader of a session.

    Many Linux desktops and servers share the cores out by session (sched(7), autogroup): there the
    niceness of a process counts against those of its own session only, and all of them get what the
    session gets. So the session is niced as well, where it can be.
    """
    os.nice(niceness)
    if os.getsid(0) == os.getpid():
        with contextlib.suppress(OSError):
            (_PROC / "self" / "autogroup").write_text(str(niceness))


def guard() -> "subprocess.Popen[bytes]":
    """Start the guard of this session; it sees the end of this process, however it comes."""
    return subprocess.Popen([sys.executable, "-S", "-E", __file__], stdin=subprocess.PIPE)


def _runs(pid: int) -> bool:
    """Whether it is more than a zombie, which its parent has only to take note of."""
    stat = (_PROC / str(pid) / "stat").read_text()
    return stat.rpartition(")")[2].split()[0] not in "ZX"


if __name__ == "__main__":
    sys.stdin.buffer.read()
    end(os.getsid(0))
    remove_ray_folder()
