"""Errors of the operating system: as a sentence, and as the exit code of a command."""

import functools
import io
import os
import resource
import sys
from collections.abc import Callable
from typing import ParamSpec

P = ParamSpec("P")

WRONG_INPUT = 2
"""Exit code of a command with unusable arguments or settings."""


_NO_THREAD = "can't start new thread"
"""What Python says if the system refuses a thread, for lack of memory or of processes."""


class CommandError(Exception):
    """Ends a command with this message on standard error, and with an exit code."""

    def __init__(self, message: str, code: int = WRONG_INPUT) -> None:
        super().__init__(message)
        self.code = code


def why(error: OSError) -> str:
    """A readable message: the system's error text and the file."""
    said = error.strerror or str(error) or type(error).__name__
    where = error.filename2 or error.filename
    return f"{said}: {where}" if where else said


def command(name: str, *wrong: type[Exception]) -> Callable[[Callable[P, int]], Callable[P, int]]:
    """Decorate the `main` of the command `name`, which returns an exit code.

    An unhandled OSError, or an error of the types `wrong`, ends the command with one sentence and
    exit code 2, and a `CommandError` with its own. Characters that the terminal lacks are replaced.
    A closed pipe, such as that of `head`, ends the command quietly; with closed streams it runs
    without output.
    """
    ends: tuple[type[Exception], ...] = (CommandError, *wrong)

    def decorate(main: Callable[P, int]) -> Callable[P, int]:
        @functools.wraps(main)
        def run(*args: P.args, **kwargs: P.kwargs) -> int:
            _fill_closed_streams()
            for stream in (sys.stdout, sys.stderr):
                if isinstance(stream, io.TextIOWrapper):
                    stream.reconfigure(errors="replace")
            try:
                code = main(*args, **kwargs)
                sys.stdout.flush()
                return code
            except ends as error:
                sys.stderr.write(f"{name}: error: {error}\n")
                return error.code if isinstance(error, CommandError) else WRONG_INPUT
            except BrokenPipeError:
                # The interpreter flushes again at exit and would complain then.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                return 1
            except OSError as error:
                sys.stderr.write(f"{name}: error: {why(error)}\n")
                return WRONG_INPUT
            except (MemoryError, RuntimeError) as error:
                if isinstance(error, RuntimeError) and str(error) != _NO_THREAD:
                    raise
                what = str(error) or "out of memory"
                limits = "memory (ulimit -v) or processes (ulimit -u)"
                sys.stderr.write(f"{name}: error: {what}; are {limits} limited?\n")
                return WRONG_INPUT

        return run

    return decorate


def check_address_space(least: int) -> None:
    """Raise CommandError if processes may address fewer bytes than `least` (`ulimit -v`)."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < least:
        raise CommandError(
            f"processes are limited to {limit >> 20} MiB of address space (ulimit -v) and need "
            f"{least >> 20}: raise the limit"
        )


def _fill_closed_streams() -> None:
    """Open /dev/null in place of closed standard streams, such as after `>&-`.

    A file that is opened later would get their number, and the output of child processes.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) < 3:
        pass
    os.close(descriptor)
    # The interpreter has None for them.
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)
