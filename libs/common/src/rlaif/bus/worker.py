"""Runs one handler on one durable consumer with at-least-once delivery and bounded retries.

A worker fetches one event per free slot: a larger pull returns a partial batch only on a timeout.
"""

import asyncio
import contextlib
import logging
from datetime import UTC, datetime, timedelta
from typing import Protocol

import nats.errors
from nats.aio.msg import Msg
from nats.js import JetStreamContext

from rlaif.bus.cancellation import propagating_cancellation
from rlaif.bus.delivery import Delivery, Result
from rlaif.bus.errors import BusUnavailableError, StreamsMissingError
from rlaif.bus.link import Link
from rlaif.bus.ports import Handler, WorkerSettings
from rlaif.contracts.catalog import spec_of
from rlaif.contracts.events import EventData
from rlaif.pacing.pause import pause

logger = logging.getLogger(__name__)

_REPAIR_PAUSE = timedelta(milliseconds=500)
_STALE_TICKS = 5
"""Missed fetches after which the worker is unhealthy."""


class WorkerObserver(Protocol):
    """Observes the outcome of each delivery, for metrics."""

    def handled(self, event_type: str, outcome: Result, seconds: float, age: float) -> None:
        """Record a delivery of `seconds` whose event was published `age` seconds before."""


class DurableWorker:
    """Handles the events of one durable consumer until it is stopped.

    Each event is delivered to one worker of the consumer. The link must outlive the worker. The
    handler returns or raises an `Outcome`; it may receive an event more than once.
    """

    def __init__(
        self,
        link: Link,
        event: type[EventData],
        consumer: str,
        handler: Handler,
        *,
        settings: WorkerSettings | None = None,
        observer: WorkerObserver | None = None,
    ) -> None:
        self._spec = spec_of(event)
        if consumer not in self._spec.consumers:
            raise ValueError(
                f"{consumer!r} is not a consumer of {self._spec.type}; the catalog has "
                f"{', '.join(self._spec.consumers) or 'none'}"
            )
        self._link = link
        self._consumer = consumer
        self._settings = settings or WorkerSettings()
        self._delivery = Delivery(link, self._spec, consumer, handler, self._settings)
        self._observer = observer
        self._subscription: JetStreamContext.PullSubscription | None = None
        self._running: set[asyncio.Task[None]] = set()
        self._stopping = asyncio.Event()
        self._finished = asyncio.Event()
        self._finished.set()
        self._ticked_at: float | None = None

    @property
    def healthy(self) -> bool:
        """Whether the pull loop is running and has reached NATS recently."""
        if self._ticked_at is None or self._finished.is_set():
            return False
        age = asyncio.get_running_loop().time() - self._ticked_at
        return age < _STALE_TICKS * self._settings.fetch_timeout.total_seconds()

    async def run(self) -> None:
        """Handle events until `stop`; outages and deleted streams are handled internally.

        Raises:
            BusUnavailableError: The connection closed permanently without a call of `stop`.
            StreamsMissingError: Its stream or consumer is missing and may not be created.
        """
        self._finished.clear()
        try:
            while not self._stopping.is_set():
                if await self._slot_free():
                    await self._pull_once()
        finally:
            await self._finish_handlers()
            await self._unbind()
            self._finished.set()

    async def stop(self) -> None:
        """Stop fetching and wait for running handlers, which are cancelled after `stop_timeout`."""
        self._stopping.set()
        await self._finished.wait()

    async def _slot_free(self) -> bool:
        """Wait for a free slot for at most one fetch timeout, so that `stop` takes effect."""
        if len(self._running) < self._settings.concurrency:
            return True
        if self._link.connected:
            self._tick()
        await asyncio.wait(
            self._running,
            timeout=self._settings.fetch_timeout.total_seconds(),
            return_when=asyncio.FIRST_COMPLETED,
        )
        return len(self._running) < self._settings.concurrency

    async def _pull_once(self) -> None:
        if self._link.closed:
            raise BusUnavailableError(
                f"worker {self._consumer} lost its connection to NATS at {self._link.address}"
                f"{self._link.last_error_note}; restart the service"
            )
        # During an outage, fetches would pile up and all be sent at the reconnection.
        if not await self._link.wait_connected(self._settings.fetch_timeout.total_seconds()):
            return
        try:
            subscription = await self._bind()
            with propagating_cancellation():
                messages = await subscription.fetch(
                    1, timeout=self._settings.fetch_timeout.total_seconds()
                )
        except nats.errors.TimeoutError:
            self._tick()
        except (nats.errors.Error, OSError, BusUnavailableError) as error:
            await self._repair(error)
        else:
            self._tick()
            for message in messages:
                self._start(message)

    def _start(self, message: Msg) -> None:
        task = asyncio.create_task(self._handle(message))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _handle(self, message: Msg) -> None:
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            result = await self._delivery.handle(message)
        except Exception:
            # Unacknowledged, so it is redelivered after ack_wait.
            logger.exception("%s could not answer for %s", self._consumer, message.subject)
            return
        if result is not None and self._observer is not None:
            # Clocks of two machines differ: the age may be negative.
            age = max(0.0, (datetime.now(UTC) - message.metadata.timestamp).total_seconds())
            self._observer.handled(self._spec.type, result, loop.time() - started, age)

    async def _bind(self) -> JetStreamContext.PullSubscription:
        if self._subscription is None:
            await self._link.match_ack_wait(
                self._spec.stream, self._consumer, self._settings.ack_wait
            )
            self._subscription = await self._link.jetstream.pull_subscribe_bind(
                self._consumer, stream=self._spec.stream
            )
        return self._subscription

    async def _unbind(self) -> None:
        """Unsubscribe; `drain` would stall after a fetch (nats-py 2.16)."""
        subscription, self._subscription = self._subscription, None
        if subscription is not None:
            with contextlib.suppress(nats.errors.Error, OSError):
                await subscription.unsubscribe()

    async def _repair(self, error: Exception) -> None:
        """Recreate missing parts; the next pull binds again."""
        if not self._link.closed:
            logger.warning("worker %s cannot fetch: %s; retrying", self._consumer, error)
        await self._unbind()
        try:
            await self._link.ensure_topology()
        except StreamsMissingError:
            raise
        except BusUnavailableError:
            pass  # the next pull reports it again
        await pause(_REPAIR_PAUSE.total_seconds(), unless=self._stopping)

    async def _finish_handlers(self) -> None:
        running = set(self._running)
        if not running:
            return
        _, late = await asyncio.wait(running, timeout=self._settings.stop_timeout.total_seconds())
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    def _tick(self) -> None:
        self._ticked_at = asyncio.get_running_loop().time()
