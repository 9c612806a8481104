"""Starts the stack, monitors the pipeline, and stops everything."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping

from rlaif.local.child import Child
from rlaif.local.display import Display
from rlaif.local.logs import rotate
from rlaif.local.loop_watch import LastingIssues, LoopReading, LoopWatch
from rlaif.local.places import disk_report
from rlaif.local.stack import PAGE, Stack
from rlaif.local.strays import Strays, adopt_orphans, end_strays
from rlaif.pacing.pause import SAME_REQUEST_SECONDS, pause

STRAY_STOP_SECONDS = 1.0

_POLL_SECONDS = 1.0
_PROGRESS_SECONDS = 0.5


class LoopTimeoutError(Exception):
    """The loop did not close within the timeout."""


class Supervisor:
    """Runs a stack in the current event loop."""

    def __init__(self, stack: Stack, display: Display) -> None:
        self._stack = stack
        self._display = display
        self._servers = [Child(spec, self._died) for spec in stack.servers]
        self._services = [Child(spec, self._died) for spec in stack.services]
        self._stop = asyncio.Event()
        self._hurry = asyncio.Event()
        self._asked_at = 0.0
        self._waits: dict[str, float] = {}
        self._run_id: str | None = None
        self._seen_steps = 0

    def ask_to_stop(self) -> None:
        """Stop `run` gracefully, or at once on the second call; safe in a signal handler."""
        if not self._stop.is_set():
            self._stop.set()
            self._asked_at = time.monotonic()
            self._display.note(
                "stopping; the trainer saves its run first. Ctrl-C again ends everything at once "
                "and loses the training since the last checkpoint"
            )
        elif time.monotonic() - self._asked_at > SAME_REQUEST_SECONDS and not self._hurry.is_set():
            self._hurry.set()
            self._display.note(
                "ending everything at once; the training since the last checkpoint is lost"
            )

    async def run(self, *, loops: int | None, seconds: float | None) -> int:
        """Start, watch and stop; returns the number of closed loops.

        Ends after `loops` closed loops, or with None when asked to stop.

        Raises:
            ChildFailedError: A process did not start.
            LoopTimeoutError: `seconds` passed first.
        """
        adopt_orphans()
        try:
            async with contextlib.AsyncExitStack() as meanwhile:
                async with self._showing_progress("starting"):
                    await self._start(meanwhile)
                return await self._watch(loops, seconds)
        finally:
            await self._take_down()
            self._display.quiet()

    async def _start(self, meanwhile: contextlib.AsyncExitStack) -> None:
        """Start the servers and the page, create the streams, then start the other services."""
        page = [child for child in self._services if child.spec.name == PAGE]
        rest = [child for child in self._services if child.spec.name != PAGE]
        opening = asyncio.create_task(self._start_together(page))
        try:
            await self._start_together(self._servers)
            if not self._stop.is_set():
                await meanwhile.enter_async_context(self._stack.upkeep)
                await self._start_together(rest)
            await opening
        finally:
            opening.cancel()
            await asyncio.gather(opening, return_exceptions=True)

    async def _start_together(self, children: list[Child]) -> None:
        stopped = asyncio.create_task(self._stop.wait())
        starts = {asyncio.create_task(self._start_one(child)) for child in children}
        try:
            while starts and not self._stop.is_set():
                done, _ = await asyncio.wait(
                    {*starts, stopped}, return_when=asyncio.FIRST_COMPLETED
                )
                for task in done & starts:
                    starts.discard(task)
                    task.result()
        finally:
            for task in (*starts, stopped):
                task.cancel()
            await asyncio.gather(*starts, stopped, return_exceptions=True)

    async def _start_one(self, child: Child) -> None:
        with self._waiting_for(child):
            seconds = await child.start()
        self._display.done(child.spec.name, child.spec.where, seconds)
        if child.spec.name == PAGE:
            self._display.headline(f"   page  {child.spec.where}")

    async def _watch(self, loops: int | None, seconds: float | None) -> int:
        watch = LoopWatch(self._stack.urls)
        reporter = _Reporter(self._display, self._pids)
        began = time.monotonic()
        closed = 0
        try:
            before = await watch.remember_known()
            if before:
                self._display.note(f"resumed with reward model v{max(before)}")
            while not self._stop.is_set():
                snapshot, closing = await watch.poll()
                self._run_id = snapshot.run_id or self._run_id
                if snapshot.env_steps is not None:
                    self._seen_steps = snapshot.env_steps
                for child in (*self._servers, *self._services):
                    rotate(child.spec.log)
                issues = await watch.issues() | disk_report(self._stack.trainer_dir.parent)
                if self._stop.is_set():
                    break
                reporter.show(time.monotonic(), snapshot, issues)
                if closing is not None:
                    closed += 1
                    self._display.headline(closing.sentence())
                if loops is not None and closed >= loops:
                    break
                if seconds is not None and time.monotonic() - began > seconds:
                    raise LoopTimeoutError(
                        f"the loop closed {closed} times in {seconds:.0f} s, not {loops}; "
                        f"last seen: {snapshot.sentence()}"
                    )
                await pause(_POLL_SECONDS, unless=self._stop)
        finally:
            await watch.close()
        return closed

    async def _take_down(self) -> None:
        """Stop the services before the servers they need, then end remaining processes."""
        async with self._showing_progress("stopping"):
            for group in (self._services, self._servers):
                await asyncio.gather(*(self._stop_one(child) for child in group))
            left = await end_strays(seconds=STRAY_STOP_SECONDS)
        if left:
            names = ", ".join(sorted({process.name for process in left}))
            self._display.note(f"ended remaining processes: {names}")
        self._report_saved_run()

    def _report_saved_run(self) -> None:
        """Report how much of the current run is saved, and how many steps are lost."""
        if self._run_id is None:
            return
        # Imported late, to keep the trainer's imports out of the start-up.
        from rlaif.trainer.run_folder.checkpoints import saved_run

        run = saved_run(self._stack.trainer_dir, self._run_id)
        lost = self._seen_steps - run.env_steps
        if lost > 0:
            self._display.warn(f"{run.words}; {lost:,} steps after it are lost")
        else:
            self._display.note(run.words)

    async def _stop_one(self, child: Child) -> None:
        with self._waiting_for(child):
            await child.stop(seconds=child.spec.stop_seconds, hurry=self._hurry)

    def _pids(self) -> set[int]:
        """Process ids of the running children."""
        pids = (child.pid for child in (*self._servers, *self._services))
        return {pid for pid in pids if pid is not None}

    @contextlib.contextmanager
    def _waiting_for(self, child: Child) -> Iterator[None]:
        self._waits[child.spec.name] = time.monotonic()
        try:
            yield
        finally:
            del self._waits[child.spec.name]

    @contextlib.asynccontextmanager
    async def _showing_progress(self, what: str) -> AsyncIterator[None]:
        """Inside the context, show the children that are not ready yet and the waiting times."""
        telling = asyncio.create_task(self._show_progress(what))
        try:
            yield
        finally:
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)

    async def _show_progress(self, what: str) -> None:
        while True:
            now = time.monotonic()
            waits = sorted(self._waits.items(), key=lambda wait: wait[1])
            waited = (f"{name} {now - since:.0f} s" for name, since in waits)
            self._display.progress(" · ".join([what, *waited]))
            await asyncio.sleep(_PROGRESS_SECONDS)

    def _died(self, child: Child, reason: str) -> None:
        self._display.warn(
            f"{child.spec.name} ended ({reason}); restarting it · log {child.spec.log}"
        )


class _Reporter:
    """Prints progress, issues and rejected candidates, once per second."""

    def __init__(self, display: Display, pids: Callable[[], set[int]]) -> None:
        self._display = display
        self._pids = pids
        self._issues = LastingIssues()
        self._strays = Strays()
        self._starting: float | None = None
        self._refused: str | None = None

    def show(self, now: float, snapshot: LoopReading, issues: Mapping[str, str]) -> None:
        """Print the changes; `now` in seconds of a monotonic clock."""
        self._strays.update(now, self._pids())
        new, resolved = self._issues.update(now, issues)
        for text in new:
            self._display.warn(text)
        for text in resolved:
            self._display.resolved(f"resolved: {text}")
        if snapshot.refusal is not None and snapshot.refusal[0] != self._refused:
            self._refused, message = snapshot.refusal
            self._display.note(message)
        if snapshot.status not in (None, "starting"):
            self._starting = None
        elif self._starting is None:
            self._starting = now
        waited = None if self._starting is None else now - self._starting
        self._display.progress(snapshot.sentence(starting=waited))
