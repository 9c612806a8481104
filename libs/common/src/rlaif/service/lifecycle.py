"""Runs a service: opens its connections, runs its job, and reports what is missing.

Until bus and store are connected, the service answers REST requests and reports missing ones in
`/readyz`. If a connection closes permanently or the job fails, all are reopened. Checks are also
published on the bus. A service passes functions that open bus and store, and its outage errors.
"""

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from rlaif.pacing.pause import pause
from rlaif.service.announcer import HealthAnnouncer, ReadingSender
from rlaif.service.background import BackgroundTasks
from rlaif.service.cli import server_config
from rlaif.service.health import Readiness

if TYPE_CHECKING:
    from fastapi import FastAPI

logger = logging.getLogger(__name__)

_RETRY_SECONDS = 2.0
"""Pause between two attempts to connect."""


class Connection(Protocol):
    """Interface of an open bus."""

    @property
    def address(self) -> str:
        """Readable address of the server, without credentials."""

    @property
    def connected(self) -> bool:
        """Whether the server is connected now; the client reconnects by itself."""

    def telemetry(self) -> ReadingSender:
        """The sender of live readings."""

    async def close(self) -> None:
        """Close the connection; must not raise."""


class Job(Protocol):
    """The work of a service once bus and store are open."""

    @property
    def healthy(self) -> bool:
        """Whether it is fetching events."""

    async def run(self) -> None:
        """Work until `stop`; after an error, all connections are reopened."""

    async def stop(self) -> None:
        """Make `run` end after its current work."""


class Watched(Protocol):
    """A store that monitors its own state."""

    def check(self) -> str | None:
        """The current problem; None if it works."""

    async def run(self) -> None:
        """Monitor it until cancelled."""


StoreT = TypeVar("StoreT")
BusT = TypeVar("BusT", bound=Connection)
JobT = TypeVar("JobT", bound=Job)


class Lifecycle(Generic[StoreT, BusT, JobT]):
    """Connections and job of one process.

    `open_store` blocks and runs in a thread; `watched` returns the stores in its result. The job
    is stopped before the bus is closed.
    `outage_errors` are logged as one line; any other error is a bug, logged with its traceback.
    """

    def __init__(
        self,
        *,
        name: str,
        open_store: Callable[[], StoreT],
        open_bus: Callable[[], Awaitable[BusT]],
        start: Callable[[StoreT, BusT], JobT],
        outage_errors: tuple[type[Exception], ...],
        watched: Callable[[StoreT], Sequence[Watched]] = lambda _: (),
        retry_seconds: float = _RETRY_SECONDS,
    ) -> None:
        self._name = name
        self._open_store = open_store
        self._open_bus = open_bus
        self._start = start
        self._outage_errors = outage_errors
        self._watched = watched
        self._retry_seconds = retry_seconds
        self.store: StoreT | None = None
        self.bus: BusT | None = None
        self.job: JobT | None = None
        self._store_issue: str | None = "not tried yet"
        self._bus_issue: str | None = "not tried yet"
        self._stopping = asyncio.Event()

    def add_checks(self, readiness: Readiness) -> None:
        readiness.add("bus", self.check_bus)
        readiness.add("store", self.check_store)
        readiness.add("worker", self.check_job)

    def check_bus(self) -> str | None:
        if self.bus is not None and not self.bus.connected:
            return f"lost NATS at {self.bus.address}; reconnecting"
        return self._bus_issue

    def check_store(self) -> str | None:
        """The current problem of the store; None if it is open and works."""
        if self.store is None or self._store_issue is not None:
            return self._store_issue
        return next(filter(None, (each.check() for each in self._watched(self.store))), None)

    def check_job(self) -> str | None:
        if self.job is None:
            return "waits for NATS and the store"
        return None if self.job.healthy else "has not fetched events for a while"

    @contextlib.asynccontextmanager
    async def running(self, readiness: Readiness) -> AsyncIterator[None]:
        """Run in the background inside the context; stop and close at its end."""
        working = asyncio.create_task(self._keep_working(HealthAnnouncer(self._name, readiness)))
        try:
            yield
        finally:
            readiness.set_stopping()
            self._stopping.set()
            if self.job is not None:
                await self.job.stop()
            await working

    async def _keep_working(self, announcer: HealthAnnouncer) -> None:
        while not self._stopping.is_set():
            try:
                await self._work(announcer)
            except Exception as error:
                outage = _only(self._outage_errors, error)
                if outage is not None:
                    logger.warning("waiting for dependency: %s", outage)
                else:
                    # A bug must not leave the service running without its job.
                    logger.exception("the job failed; restarting it")
                await pause(self._retry_seconds, unless=self._stopping)
            finally:
                await self._close()

    async def _work(self, announcer: HealthAnnouncer) -> None:
        opening = asyncio.create_task(self._try_store())
        try:
            bus = await self._connect()
        finally:
            # A thread cannot be cancelled: wait for its result or error.
            await asyncio.wait((opening,))
            opening.exception()  # retrieved, or asyncio warns if the bus fails first
        if bus is None:
            return
        async with announcer.announcing(bus.telemetry()):
            while (store := await opening) is None and not self._stopping.is_set():
                await pause(self._retry_seconds, unless=self._stopping)
                opening = asyncio.create_task(self._try_store())
            if store is None or self._stopping.is_set():
                return
            watches = {f"store {n}": each.run for n, each in enumerate(self._watched(store))}
            async with BackgroundTasks(watches).running():
                # No await between these two, so that `stop` always finds a running job.
                self.job = self._start(store, bus)
                await self.job.run()

    async def _try_store(self) -> StoreT | None:
        try:
            self.store = await asyncio.to_thread(self._open_store)
        except Exception as error:
            self._store_issue = _reason(error)
            outage = _only(self._outage_errors, error)
            if outage is None:
                raise
            logger.warning("waiting for dependency: %s", outage)
            return None
        self._store_issue = None
        return self.store

    async def _connect(self) -> BusT | None:
        opening = asyncio.create_task(self._try_bus())
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait((opening, stopping), return_when=asyncio.FIRST_COMPLETED)
        finally:
            opening.cancel()
            stopping.cancel()
        await asyncio.wait((opening, stopping))
        return None if opening.cancelled() else opening.result()

    async def _try_bus(self) -> BusT:
        try:
            self.bus = await self._open_bus()
        except Exception as error:
            self._bus_issue = _reason(error)
            raise
        self._bus_issue = None
        return self.bus

    async def _close(self) -> None:
        self.job = None
        bus, self.bus = self.bus, None
        if bus is not None:
            self._bus_issue = "closed; reopening it"
            await bus.close()


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


def _only(kinds: tuple[type[Exception], ...], error: Exception) -> Exception | None:
    """The error, or the first one of a job's task group; None unless all are of `kinds`."""
    if isinstance(error, ExceptionGroup):
        found = [_only(kinds, each) for each in error.exceptions]
        return None if None in found else found[0]
    return error if isinstance(error, kinds) else None


@contextlib.asynccontextmanager
async def serving(app: "FastAPI", listener: socket.socket) -> AsyncIterator[None]:
    """Serve the app on a listening socket inside the context; the socket is closed at its end."""
    import uvicorn  # a trainer without REST needs no web server

    class Server(uvicorn.Server):
        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    server = Server(server_config(app))
    running = asyncio.create_task(server.serve([listener]))
    try:
        yield
    finally:
        server.should_exit = True
        await asyncio.wait((running,))
        if not running.cancelled() and (error := running.exception()) is not None:
            logger.error("the web server failed", exc_info=error)
