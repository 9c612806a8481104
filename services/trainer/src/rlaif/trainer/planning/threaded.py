"""The planner of a runner: one daemon thread with an event loop, which does all that waits.

The thread that plays hands questions over and takes replies; neither ever waits. The planner is
made in the process in which it is used: it cannot be pickled, and in a forked child it is closed.
"""

import asyncio
import itertools
import logging
import os
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import NoReturn

from rlaif.contracts.plans import Mode
from rlaif.llm.openai import OpenAiModel, connections_to
from rlaif.llm.ports import LanguageModel
from rlaif.trainer.planning.calling import Caller
from rlaif.trainer.planning.desk import MODES, CallEnd, Desk
from rlaif.trainer.play.planner_counts import PlannerCounts
from rlaif.trainer.play.planner_port import Kind, PlannerQuestion, PlannerReply
from rlaif.trainer.settings.planner import PlannerSettings

log = logging.getLogger(__name__)

CLOSE_SECONDS = 2.0
"""How long `close` waits for the thread; it ends with the process at the latest."""

Routes = AbstractAsyncContextManager[Mapping[Mode, LanguageModel]]


class ThreadedPlanner:
    """A `Planner` over HTTP; its thread starts with the first call."""

    def __init__(
        self,
        settings: PlannerSettings,
        routes: Callable[[PlannerSettings], Routes] | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Opens nothing yet; `routes` opens the models in the thread, by HTTP unless given."""
        self._settings = settings
        self._open_routes = routes or http_routes
        self._clock = clock
        self._desk = Desk(settings)
        self._process = os.getpid()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._asked: asyncio.Queue[PlannerQuestion | None]
        self._closed = False

    def ask(self, question: PlannerQuestion) -> bool:
        """Take a question; False when it is not asked."""
        if not self._is_mine:
            return False
        taken = self._desk.take(question, self._clock())
        if taken == "call":
            self._hand_over(question)
        return taken != "refused"

    def refuses(self, mode: Mode, kind: Kind, about: str) -> bool:
        """Whether it surely would not take such a question; then it counts as refused."""
        return not self._is_mine or self._desk.refuses(mode, kind, about, self._clock())

    def replies(self) -> list[PlannerReply]:
        """Those that came since the last call."""
        return self._desk.replies() if self._desk.has_replies and self._is_mine else []

    def counts(self) -> PlannerCounts:
        """What happened since the last call, and what is under way now."""
        return self._desk.counts() if self._is_mine else PlannerCounts()

    def close(self) -> None:
        """Cancel what is under way and end the thread, within `CLOSE_SECONDS`."""
        if not self._is_mine or self._closed:
            return
        self._closed = True
        self._desk.close()
        if self._thread is not None:
            self._hand_over(None)
            self._thread.join(CLOSE_SECONDS)

    def __reduce__(self) -> NoReturn:
        """It has a thread."""
        raise TypeError("a planner cannot be pickled: make it in the process that plays")

    @property
    def _is_mine(self) -> bool:
        """Whether this is the process that made it: threads do not survive a fork."""
        return os.getpid() == self._process

    def _hand_over(self, question: PlannerQuestion | None) -> None:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._asked = asyncio.Queue()
            self._thread = threading.Thread(
                target=self._run, args=(self._loop,), name="planner", daemon=True
            )
            self._thread.start()
        try:
            self._loop.call_soon_threadsafe(self._asked.put_nowait, question)
        except RuntimeError:  # its thread came to an end, and closed the loop
            self._desk.give_up("the planner's thread has ended", self._clock())

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        why = "the planner's thread has ended"
        try:
            with asyncio.Runner(loop_factory=lambda: loop) as runner:
                runner.run(self._serve())
        except Exception as error:
            log.exception("the planner ended; the run goes on without")
            why = f"{why}: {type(error).__name__}"
        self._desk.give_up(why, self._clock())

    async def _serve(self) -> None:
        """Answer what is asked until None is."""
        seeds = itertools.count()
        async with (
            self._open_routes(self._settings) as routes,
            asyncio.TaskGroup() as calls,
        ):
            caller = Caller(routes, self._settings, next_seed=lambda: next(seeds))
            tasks: set[asyncio.Task[None]] = set()
            while (question := await self._asked.get()) is not None:
                task = calls.create_task(self._answer(caller, question))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
            for task in tasks:
                task.cancel()

    async def _answer(self, caller: Caller, question: PlannerQuestion) -> None:
        try:
            end = await caller.ask(question)
        except Exception as error:
            log.exception("a call of the planner broke")
            end = CallEnd("error", detail=type(error).__name__)
        self._desk.settle(question, end, self._clock())


@asynccontextmanager
async def http_routes(settings: PlannerSettings) -> AsyncIterator[Mapping[Mode, LanguageModel]]:
    """The routes of the settings, over connections that are closed at the end."""
    key = settings.api_key.get_secret_value() if settings.api_key else None
    addresses = {mode: settings.address(mode) for mode in MODES}
    urls = [url for url, _ in addresses.values()]
    async with connections_to(
        settings.calls, api_key=key, ca_file=settings.ca_file, urls=urls
    ) as connections:
        yield {
            mode: OpenAiModel(connections, url, settings.calls, settings, base=base)
            for mode, (url, base) in addresses.items()
        }
