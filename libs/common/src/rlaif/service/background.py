"""Supervised tasks that run as long as their service."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

logger = logging.getLogger(__name__)

_RETRY_SECONDS = 2.0
_PROVEN_SECONDS = 30.0
"""Time that a restarted task must run before it counts as healthy again."""


class BackgroundTasks:
    """Named tasks that never end; one that ends or fails is logged and restarted.

    The tasks are independent: the failure of one does not affect the others. Its reason is in
    `check`, which is meant for `/readyz`. `outage_errors` are logged as one line; any other error
    is a bug, logged with its traceback.
    """

    def __init__(
        self,
        jobs: Mapping[str, Callable[[], Awaitable[None]]],
        *,
        outage_errors: tuple[type[Exception], ...] = (),
        retry_seconds: float = _RETRY_SECONDS,
        proven_seconds: float = _PROVEN_SECONDS,
    ) -> None:
        self._jobs = dict(jobs)
        self._outage_errors = outage_errors
        self._retry_seconds = retry_seconds
        self._proven_seconds = proven_seconds
        self._failures: dict[str, str] = {}

    def check(self) -> str | None:
        """The failed tasks with their reasons; None if all run."""
        failed = (f"task {name} failed: {why}" for name, why in self._failures.items())
        return "; ".join(failed) or None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the tasks inside the context; cancel them in reverse order at its end."""
        tasks = [
            asyncio.create_task(self._keep_running(name, job), name=name)
            for name, job in self._jobs.items()
        ]
        try:
            yield
        finally:
            for task in reversed(tasks):
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _keep_running(self, name: str, job: Callable[[], Awaitable[None]]) -> None:
        after = asyncio.get_running_loop().call_later
        while True:
            proven = after(self._proven_seconds, self._failures.pop, name, None)
            try:
                await job()
                self._failures[name] = "it ended"
                logger.error("task %s ended; restarting it", name)
            except Exception as error:
                self._failures[name] = f"{type(error).__name__}: {error}"
                bug = None if isinstance(error, self._outage_errors) else error
                logger.error("task %s failed; restarting it: %s", name, error, exc_info=bug)
            finally:
                proven.cancel()
            await asyncio.sleep(self._retry_seconds)
