"""Distribute jobs over worker processes, with results in order of arrival."""

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

J = TypeVar("J")
R = TypeVar("R")


class LostProcessError(Exception):
    """A process ended before its jobs were done."""


def spread(
    work: Callable[[Sequence[J], Callable[[R], None]], None],
    jobs: Sequence[J],
    processes: int,
    on_result: Callable[[R], None],
) -> None:
    """Run jobs in worker processes, which end with this call; with 0, in this process.

    Args:
        work: Runs a share of the jobs and passes on their results; each process imports its module.
        jobs: All jobs; process `n` of `N` gets every N-th one.
        processes: Number of processes, at most one per job.
        on_result: Called with each result, in order of arrival; its exceptions are propagated.

    Raises:
        LostProcessError: A process ended early.
    """
    if not processes:
        work(jobs, on_result)
        return
    context = multiprocessing.get_context("spawn")
    pipes: list[Connection] = []
    started = []
    try:
        for number in range(min(processes, len(jobs))):
            parent_end, child_end = context.Pipe(duplex=False)
            share = jobs[number::processes]
            process = context.Process(target=_serve, args=(child_end, work, share), daemon=True)
            process.start()
            child_end.close()
            pipes.append(parent_end)
            started.append(process)
        for result in _collected(pipes):
            on_result(result)
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.join()


def _collected(pipes: list[Connection]) -> Iterator[Any]:
    open_pipes = list(pipes)
    while open_pipes:
        for pipe in wait(open_pipes):
            assert isinstance(pipe, Connection), "only pipes are waited for"
            try:
                is_done, result = pipe.recv()
            except EOFError:
                raise LostProcessError(
                    f"process {pipes.index(pipe)} of {len(pipes)} ended early; see its output above"
                ) from None
            if is_done:
                open_pipes.remove(pipe)
            else:
                yield result


def _serve(pipe: Connection, work: Callable[..., None], share: Sequence[Any]) -> None:
    work(share, lambda result: pipe.send((False, result)))
    pipe.send((True, None))
