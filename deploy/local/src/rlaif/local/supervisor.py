"""Brings the stack up, watches the loop, takes everything down."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping

from rlaif.local.child import Child
from rlaif.local.display import Display
from rlaif.local.lines import Part
from rlaif.local.loop_watch import LoopReading, LoopWatch
from rlaif.local.stack import PAGE, Stack
from rlaif.local.strays import Strays, adopt_orphans, end_strays
from rlaif.local.troubles import ReadinessWatch, Report
from rlaif.pacing.pause import pause

STRAY_STOP_SECONDS = 1.0

_LOOK_SECONDS = 1.0
_TELL_SECONDS = 0.5


class LoopTimeoutError(Exception):
    """The loop did not close in the time that was given."""


class Supervisor:
    """Runs a stack in the current event loop."""

    def __init__(self, stack: Stack, display: Display) -> None:
        self._stack = stack
        self._display = display
        self._servers = [Child(spec, self._died) for spec in stack.servers]
        self._services = [Child(spec, self._died) for spec in stack.services]
        self._stop = asyncio.Event()
        self._hurry = asyncio.Event()
        self._waits: dict[str, float] = {}
        self._seen_steps = 0

    def ask_to_stop(self) -> None:
        """End `run` soon, and at once when asked again; for a signal handler of the loop."""
        if not self._stop.is_set():
            self._stop.set()
            self._display.note(
                "stopping; the trainer saves its run first. Ctrl-C again ends everything at once "
                "and gives up what was trained since the last checkpoint"
            )
        elif not self._hurry.is_set():
            self._hurry.set()
            self._display.note(
                "ending everything at once; what was trained since the last checkpoint is lost"
            )

    async def run(self, *, loops: int | None, seconds: float | None) -> int:
        """Start, watch and stop; gives how often the loop closed.

        Ends when that was `loops` times; with None it runs until told.

        Raises:
            ChildFailedError: Something did not start.
            LoopTimeoutError: `seconds` were over first.
        """
        adopt_orphans()
        try:
            async with self._telling("starting"):
                await self._start()
            return await self._watch(loops, seconds)
        finally:
            await self._take_down()
            self._display.quiet()

    async def _start(self) -> None:
        """Servers first, and with them the page: people look at it while the rest starts."""
        page = [child for child in self._services if child.spec.name == PAGE]
        rest = [child for child in self._services if child.spec.name != PAGE]
        opening = asyncio.create_task(self._start_together(page))
        try:
            await self._start_together(self._servers)
            if not self._stop.is_set():
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
        eyes = _Eyes(self._display, self._pids)
        began = time.monotonic()
        closed = 0
        try:
            before = await watch.remember_known()
            if before:
                self._display.note(f"resumed with reward model v{max(before)}")
            while not self._stop.is_set():
                snapshot, closing = await watch.look()
                if snapshot.env_steps is not None:
                    self._seen_steps = snapshot.env_steps
                reports = await watch.reports(child.spec.name for child in self._services)
                if self._stop.is_set():
                    break
                eyes.see(time.monotonic(), snapshot, reports)
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
                await pause(_LOOK_SECONDS, unless=self._stop)
        finally:
            await watch.close()
        return closed

    async def _take_down(self) -> None:
        """Services first, so that what they finish still finds its servers; then what is left."""
        async with self._telling("stopping"):
            for group in (self._services, self._servers):
                await asyncio.gather(*(self._stop_one(child) for child in group))
            left = await end_strays(seconds=STRAY_STOP_SECONDS)
        if left:
            names = ", ".join(sorted({process.name for process in left}))
            self._display.note(f"ended what was left running: {names}")
        self._tell_what_is_saved()

    def _tell_what_is_saved(self) -> None:
        """Say what of the newest run is on disk, and what was seen of it that is not."""
        # Only here: nobody waits at the start for what the trainer's records import.
        from rlaif.trainer.run_folder.checkpoints import newest_run

        run = newest_run(self._stack.trainer_dir)
        if run is None:
            return
        lost = self._seen_steps - run.env_steps
        if lost > 0:
            self._display.warn(f"{run.words}; {lost:,} steps after it are lost")
        else:
            self._display.note(run.words)

    async def _stop_one(self, child: Child) -> None:
        with self._waiting_for(child):
            await child.stop(seconds=child.spec.stop_seconds, hurry=self._hurry)

    def _pids(self) -> set[int]:
        """Process ids of the parts that run now."""
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
    async def _telling(self, what: str) -> AsyncIterator[None]:
        """Say meanwhile what is waited for, and for how long."""
        telling = asyncio.create_task(self._tell(what))
        try:
            yield
        finally:
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)

    async def _tell(self, what: str) -> None:
        while True:
            now = time.monotonic()
            waits = sorted(self._waits.items(), key=lambda wait: wait[1])
            parts = [Part(f"{name} {now - since:.0f} s", 1) for name, since in waits]
            self._display.progress([Part(what), *parts])
            await asyncio.sleep(_TELL_SECONDS)

    def _died(self, child: Child, reason: str) -> None:
        self._display.warn(
            f"{child.spec.name} ended ({reason}); starting it again · log {child.spec.log}"
        )


class _Eyes:
    """Turns what is seen each second into lines: progress, troubles, refused candidates."""

    def __init__(self, display: Display, pids: Callable[[], set[int]]) -> None:
        self._display = display
        self._pids = pids
        self._troubles = ReadinessWatch()
        self._strays = Strays()
        self._starting: float | None = None
        self._refused: str | None = None

    def see(self, now: float, snapshot: LoopReading, reports: Mapping[str, Report | None]) -> None:
        """Show it; `now` in seconds of a clock."""
        self._strays.look(now, self._pids())
        for news in self._troubles.look(now, reports):
            (self._display.mended if news.good else self._display.warn)(news.text)
        if snapshot.refusal is not None and snapshot.refusal[0] != self._refused:
            self._refused, told = snapshot.refusal
            self._display.note(told)
        if snapshot.status not in (None, "starting"):
            self._starting = None
        elif self._starting is None:
            self._starting = now
        waited = None if self._starting is None else now - self._starting
        self._display.progress(snapshot.parts(starting=waited))
