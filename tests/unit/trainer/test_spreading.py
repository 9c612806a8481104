"""Jobs are distributed over processes, and all results are returned."""

import os
from collections.abc import Callable, Sequence

import pytest

from rlaif.trainer.spreading import LostProcessError, spread


def square(jobs: Sequence[int], tell: Callable[[tuple[int, int]], None]) -> None:
    for job in jobs:
        tell((job * job, os.getpid()))


def lose(jobs: Sequence[int], tell: Callable[[int], None]) -> None:
    tell(jobs[0])
    os._exit(3)


@pytest.mark.parametrize(("processes", "used"), [(0, 1), (2, 2), (9, 3)])
def test_every_job_is_done_once_on_as_many_processes_as_there_is_work_for(processes, used):
    reported: list[tuple[int, int]] = []
    spread(square, [1, 2, 3], processes, reported.append)
    assert sorted(result for result, _ in reported) == [1, 4, 9]
    pids = {pid for _, pid in reported}
    assert len(pids) == used
    assert (os.getpid() in pids) == (processes == 0)


def test_a_process_that_ends_early_is_an_error_with_its_last_output():
    reported: list[int] = []
    with pytest.raises(LostProcessError, match="process 0 of 1 ended early"):
        spread(lose, [7, 8], 1, reported.append)
    assert reported == [7]


def test_what_the_caller_raises_ends_everything():
    def refuse(result: tuple[int, int]) -> None:
        raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        spread(square, range(1000), 2, refuse)
