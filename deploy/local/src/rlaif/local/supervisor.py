"""Brings the stack up, watches the loop, takes everything down."""

import asyncio
import time

from rlaif.local.child import Child
from rlaif.local.display import Display
from rlaif.local.loop_watch import LoopWatch
from rlaif.local.stack import Stack

SERVICE_STOP_SECONDS = 7.0
SERVER_STOP_SECONDS = 2.0
"""Together less than the ten seconds within which Ctrl-C must end everything."""

_LOOK_SECONDS = 1.0


class LoopTimeoutError(Exception):
    """The loop did not close in the time that was given."""


class Supervisor:
    """Runs a stack in the current event loop."""

    def __init__(self, stack: Stack, display: Display) -> None:
        """Prepare; `run` starts everything."""
        self._stack = stack
        self._display = display
        self._servers = [Child(spec, self._died) for spec in stack.servers]
        self._services = [Child(spec, self._died) for spec in stack.services]
        self._stop = asyncio.Event()

    def ask_to_stop(self) -> None:
        """End `run` soon; safe to call from a signal handler of the loop."""
        self._stop.set()

    async def run(self, *, loops: int | None, seconds: float | None) -> int:
        """Start, watch, stop.

        Args:
            loops: End after the loop closed this many times; None to go on until told.
            seconds: Give up after this long; None for never.

        Returns:
            How often the loop closed.

        Raises:
            ChildFailedError: Something did not start.
            LoopTimeoutError: `seconds` were over first.
        """
        try:
            await self._start()
            return await self._watch(loops, seconds)
        finally:
            self._display.quiet()
            await self._take_down()

    async def _start(self) -> None:
        await self._start_together(self._servers)
        await self._start_together(self._services)

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
        seconds = await child.start()
        self._display.done(child.spec.name, child.spec.where, seconds)

    async def _watch(self, loops: int | None, seconds: float | None) -> int:
        watch = LoopWatch(self._stack.urls)
        began = time.monotonic()
        closed = 0
        try:
            before = await watch.remember_known()
            if before:
                self._display.note(f"going on from reward model v{max(before)}")
            while not self._stop.is_set():
                snapshot, closing = await watch.look()
                self._display.progress(snapshot.sentence())
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
                await self._pause(_LOOK_SECONDS)
        finally:
            await watch.close()
        return closed

    async def _pause(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._stop.wait(), seconds)
        except TimeoutError:
            return

    async def _take_down(self) -> None:
        """Services first, so that what they finish still finds its servers."""
        for group, seconds in (
            (self._services, SERVICE_STOP_SECONDS),
            (self._servers, SERVER_STOP_SECONDS),
        ):
            await asyncio.gather(*(child.stop(seconds=seconds) for child in group))

    def _died(self, child: Child, code: int) -> None:
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        self._display.warn(
            f"{child.spec.name} ended ({how}); starting it again · log {child.spec.log}"
        )
