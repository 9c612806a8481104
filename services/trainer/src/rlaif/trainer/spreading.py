"""Spreads jobs over processes of their own: jobs in, what came of each out, as it comes."""

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

J = TypeVar("J")
R = TypeVar("R")


class LostProcessError(Exception):
    """A process ended before its jobs were done; the message says which."""


def spread(
    work: Callable[[Sequence[J], Callable[[R], None]], None],
    jobs: Sequence[J],
    processes: int,
    tell: Callable[[R], None],
) -> None:
    """Do jobs in processes, which end with this call; 0 does them in this one.

    Args:
        work: Does some of the jobs and hands on what comes of them; its module is imported in each
            process.
        jobs: All of them; each process has a share, every so many-th.
        processes: How many, at most one a job.
        tell: Called with all that is handed on, as it comes; what it raises ends everything.

    Raises:
        LostProcessError: One ended early.
    """
    if not processes:
        work(jobs, tell)
        return
    context = multiprocessing.get_context("spawn")
    pipes: list[Connection] = []
    started = []
    try:
        for number in range(min(processes, len(jobs))):
            ours, theirs = context.Pipe(duplex=False)
            share = jobs[number::processes]
            process = context.Process(target=_serve, args=(theirs, work, share), daemon=True)
            process.start()
            theirs.close()
            pipes.append(ours)
            started.append(process)
        for result in _collected(pipes):
            tell(result)
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.join()


def _collected(pipes: list[Connection]) -> Iterator[Any]:
    """What the processes send, until each has sent that it is done."""
    open_pipes = list(pipes)
    while open_pipes:
        for pipe in wait(open_pipes):
            assert isinstance(pipe, Connection), "pipes alone are waited for"
            try:
                is_done, result = pipe.recv()
            except EOFError:
                raise LostProcessError(
                    f"process {pipes.index(pipe)} of {len(pipes)} ended early; what it said is "
                    "above"
                ) from None
            if is_done:
                open_pipes.remove(pipe)
            else:
                yield result


def _serve(pipe: Connection, work: Callable[..., None], share: Sequence[Any]) -> None:
    work(share, lambda result: pipe.send((False, result)))
    pipe.send((True, None))
