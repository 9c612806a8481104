"""`python -m rlaif.local.tether PROGRAM ...`: exec PROGRAM, which ends with its parent.

A killed supervisor cannot stop its children. On Linux the kernel does: the request survives the
exec. On other systems this only executes PROGRAM.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Request SIGTERM at the parent's death from the kernel, then exec."""
    parent = os.getppid()
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # it died before the request
            sys.exit(1)
    os.execv(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
