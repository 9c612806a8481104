"""What a service's child process does first: it ends with the service, and keeps its output."""

import ctypes
import os
import signal
import sys
from typing import BinaryIO

_PR_SET_PDEATHSIG = 1


def end_with(parent: int) -> None:
    """End with the process `parent` only: it handles Ctrl-C and SIGTERM of the group."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before the request
        sys.exit(1)


def own_output() -> BinaryIO:
    """Standard output, for answers alone: what anything else prints goes to standard error."""
    mine = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(mine, "wb")


def ending(code: int) -> str:
    """How a process ended, such as `exit code 1` or `signal SIGKILL`."""
    if code < 0:
        try:
            return f"signal {signal.Signals(-code).name}"
        except ValueError:
            pass
    return f"exit code {code}"
