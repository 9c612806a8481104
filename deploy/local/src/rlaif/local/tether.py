"""`python -m rlaif.local.tether PROGRAM ...`: become PROGRAM, and die with the parent.

A supervisor that is killed cannot stop its children. On Linux the kernel does: the request survives
the exec. Elsewhere this only becomes PROGRAM.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Ask the kernel for SIGTERM at the parent's death, then exec."""
    parent = os.getppid()
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # it died before the request
            sys.exit(1)
    os.execv(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
