"""A child process of a service that answers requests: both ends of its pipe.

Requests and answers are bytes on its standard input and output, each prefixed by its length in
eight bytes. The process ends when its input is closed between requests.
"""

import asyncio
import contextlib
import ctypes
import os
import re
import signal
import struct
import sys
from typing import BinaryIO

LENGTH = struct.Struct(">Q")

_END_SECONDS = 5.0
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
"""Without these, numpy and PyTorch start one thread per core, which small arrays do not need."""

_INHERITED = re.compile(
    r"PATH|HOME|TMPDIR|TZ|LANG|LC_\w+|PYTHON\w+|VIRTUAL_ENV|LD_LIBRARY_PATH"
    r"|(OMP|KMP|GOMP|OPENBLAS|MKL|NVPL|ATEN|TORCH|PYTORCH|CUDA|COVERAGE)_\w+"
    r"|NVIDIA_(VISIBLE_DEVICES|DRIVER_CAPABILITIES)"
)
"""Variables for a process without settings; those of numeric libraries may affect its results."""

_PR_SET_PDEATHSIG = 1


def bare_environment() -> dict[str, str]:
    """The environment without the settings and secrets of this project and of the user's shell."""
    kept = {name: value for name, value in os.environ.items() if _INHERITED.fullmatch(name)}
    return kept | ONE_THREAD


class ChildProcess:
    """One process, used for one request at a time."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, module: str) -> "ChildProcess":
        """Start a module, which gets this process's id as its argument and no settings.

        Raises:
            OSError: It cannot be started.
        """
        return cls(
            await asyncio.create_subprocess_exec(
                sys.executable, "-m", module, str(os.getpid()),
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
                env=bare_environment(),
            )
        )  # fmt: skip

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    @property
    def pid(self) -> int:
        return self._process.pid

    async def ask(self, request: bytes, *, seconds: float, most: int = sys.maxsize) -> bytes:
        """Send a request and wait for its answer, of at most `most` bytes.

        Raises:
            TimeoutError: No answer in time; the process is still busy.
            EOFError, OSError: The process ended.
            ValueError: The answer is larger.
        """
        outgoing, incoming = self._process.stdin, self._process.stdout
        assert outgoing is not None
        assert incoming is not None
        async with asyncio.timeout(seconds):
            outgoing.writelines((LENGTH.pack(len(request)), request))
            await outgoing.drain()
            (length,) = LENGTH.unpack(await incoming.readexactly(LENGTH.size))
            if length > most:
                raise ValueError(f"an answer of {length} bytes")
            return await incoming.readexactly(length)

    async def kill(self) -> int:
        """Kill the process; returns its exit code, negative for a signal."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        return await self._process.wait()

    async def ended(self) -> int:
        """Exit code of a process that closed its pipe.

        Waits briefly before killing it: `kill` polls first, and asyncio would then lose the exit
        code, which identifies the cause.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_END_SECONDS):
                return await self._process.wait()
        return await self.kill()

    async def end(self) -> None:
        """Close its input so that it ends; kill it if it does not."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self.ended()


def ending(code: int) -> str:
    """Description of an exit code, such as `exit code 1` or `signal SIGKILL`."""
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"signal {signal.Signals(-code).name}"
    return f"exit code {code}"


def end_with(parent: int) -> None:
    """In the child: end only when `parent` ends, which handles Ctrl-C and SIGTERM."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before the request
        sys.exit(1)


def own_output() -> BinaryIO:
    """In the child: reserve standard output for answers; other output goes to standard error."""
    mine = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(mine, "wb")


def next_request(incoming: BinaryIO) -> bytes | None:
    """In the child: wait for a request; returns None at the end of the input."""
    head = incoming.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    body = incoming.read(length)
    return body if len(body) == length else None


def answer(outgoing: BinaryIO, body: bytes) -> None:
    """In the child: write an answer."""
    outgoing.write(LENGTH.pack(len(body)) + body)
    outgoing.flush()
