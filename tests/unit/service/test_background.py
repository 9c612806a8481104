import asyncio

import pytest

from rlaif.service.background import BackgroundTasks
from rlaif.testing.waiting import eventually


async def forever() -> None:
    await asyncio.Event().wait()


@pytest.mark.parametrize("fails", [True, False])
async def test_a_task_that_fails_or_ends_is_reported_and_started_again(fails: bool) -> None:
    starts = 0

    async def broken() -> None:
        nonlocal starts
        starts += 1
        if fails:
            raise ValueError("no such thing")

    tasks = BackgroundTasks({"broken": broken, "good": forever}, retry_seconds=0.001)
    assert tasks.check() is None
    async with tasks.running():
        await eventually(lambda: starts > 3, "started again")
        why = "ValueError: no such thing" if fails else "it ended"
        assert tasks.check() == f"task broken failed: {why}"


async def test_a_task_that_runs_again_is_reported_until_it_has_run_for_a_while() -> None:
    tries = 0

    async def once() -> None:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise ValueError
        await forever()

    tasks = BackgroundTasks({"once": once}, retry_seconds=0.001, proven_seconds=0.05)
    async with tasks.running():
        await eventually(lambda: tries == 2, "started again")
        await eventually(lambda: tasks.check() is None, "proven")


async def test_tasks_end_with_their_context() -> None:
    ended = []

    async def noted(name: str) -> None:
        try:
            await forever()
        finally:
            ended.append(name)

    jobs = {name: (lambda name=name: noted(name)) for name in "ab"}
    async with BackgroundTasks(jobs).running():
        await asyncio.sleep(0)
    assert ended == ["b", "a"]
