"""Reads stored events without a durable consumer and without acknowledgement, in stream order.

An ephemeral pull consumer starts after the last event; after an outage a new one continues there.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import nats.errors
from nats.aio.msg import Msg
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

from rlaif.bus.cancellation import propagating_cancellation
from rlaif.bus.errors import BusUnavailableError
from rlaif.bus.link import Link
from rlaif.contracts.catalog import UnknownEventError, parse_event, spec_of
from rlaif.contracts.events import CloudEvent, EventData
from rlaif.contracts.telemetry.readings import Telemetry

FETCH_TIMEOUT = timedelta(seconds=1)
"""Timeout of one request, and so the longest delay after a reconnection."""

RETRY_PAUSE = timedelta(milliseconds=300)
BATCH = 100
"""Maximum events per request while history is read."""

BUFFER = 256
"""Events read ahead for a slow reader; a full buffer blocks, and drops nothing."""

logger = logging.getLogger(__name__)

_End = None

MAX_UNSENT_BYTES = 1024 * 1024
"""Unsent bytes above which readings are dropped; nats-py would block at 2 MiB."""


@dataclass
class _Cursor:
    """Read position in one stream."""

    stream: str
    filters: list[str]
    history: bool
    next_sequence: int | None = None
    created: datetime | None = None
    batch: int = 1


class StreamFeed:
    """The `EventFeed` port over JetStream."""

    def __init__(self, link: Link) -> None:
        self._link = link

    async def follow(
        self, *events: type[EventData], history: bool
    ) -> AsyncIterator[CloudEvent[Any]]:
        """See `rlaif.bus.ports.EventFeed.follow`. Ends when the bus closes.

        Events of one stream are in order; one may be repeated if its stream was recreated.
        """
        queue: asyncio.Queue[CloudEvent[Any] | None] = asyncio.Queue(BUFFER)
        pumps = [
            asyncio.create_task(self._pump(cursor, queue)) for cursor in _cursors(events, history)
        ]
        try:
            while (event := await queue.get()) is not _End:
                yield event
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)

    async def _pump(self, cursor: _Cursor, queue: asyncio.Queue[CloudEvent[Any] | None]) -> None:
        while not self._link.closed:
            try:
                await self._place(cursor)
                await self._read(cursor, queue)
            except (nats.errors.Error, OSError, BusUnavailableError) as error:
                logger.debug("feed of %s restarts: %s", cursor.stream, error)
                await asyncio.sleep(RETRY_PAUSE.total_seconds())
                await self._link.wait_connected(FETCH_TIMEOUT.total_seconds())
        await queue.put(_End)

    async def _place(self, cursor: _Cursor) -> None:
        """Find the sequence to read next; a recreated stream is read from its start."""
        info = await self._link.jetstream.stream_info(cursor.stream)
        if cursor.next_sequence is None:
            cursor.next_sequence = 1 if cursor.history else info.state.last_seq + 1
        elif info.created != cursor.created:
            cursor.next_sequence = 1
        cursor.created = info.created
        cursor.batch = 1

    async def _read(self, cursor: _Cursor, queue: asyncio.Queue[CloudEvent[Any] | None]) -> None:
        js = self._link.jetstream
        consumer = await js.add_consumer(
            cursor.stream,
            ConsumerConfig(
                deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
                opt_start_seq=cursor.next_sequence,
                ack_policy=AckPolicy.NONE,
                filter_subjects=cursor.filters,
                inactive_threshold=30,  # seconds without a fetch, then the server removes it
                mem_storage=True,
            ),
        )
        subscription = await js.pull_subscribe_bind(consumer.name, stream=cursor.stream)
        try:
            while not self._link.closed:
                # An empty fetch is a TimeoutError: normal. A deleted consumer answers 503.
                with contextlib.suppress(nats.errors.TimeoutError):
                    with propagating_cancellation():
                        messages = await subscription.fetch(
                            cursor.batch, timeout=FETCH_TIMEOUT.total_seconds()
                        )
                    for message in messages:
                        await self._yield(message, cursor, queue)
        finally:
            with contextlib.suppress(nats.errors.Error, OSError):
                await subscription.unsubscribe()

    async def _yield(
        self, message: Msg, cursor: _Cursor, queue: asyncio.Queue[CloudEvent[Any] | None]
    ) -> None:
        sequence = message.metadata.sequence.stream
        try:
            event = parse_event(message.data)
            # Publishers' clocks differ; the stream's timestamps are consistent with its order.
            await queue.put(event.model_copy(update={"time": message.metadata.timestamp}))
        except UnknownEventError as error:
            logger.warning("feed skipped message %d of %s: %s", sequence, cursor.stream, error)
        cursor.next_sequence = sequence + 1
        # A pull returns a partial batch only when it times out, so request at most the stored
        # events: history arrives in batches, new events singly without delay.
        cursor.batch = max(1, min(BATCH, message.metadata.num_pending or 0))


def _cursors(events: tuple[type[EventData], ...], history: bool) -> list[_Cursor]:
    filters: dict[str, list[str]] = {}
    for spec in map(spec_of, events):
        filters.setdefault(spec.stream, []).append(spec.pattern)
    return [_Cursor(stream, subjects, history) for stream, subjects in filters.items()]


class LossyTelemetry:
    """The `TelemetryPublisher` port; `dropped` is the number of readings that were not sent."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self.dropped = 0

    async def send(self, reading: Telemetry) -> None:
        await self.send_bytes(reading.SUBJECT, reading.model_dump_json().encode())

    async def send_bytes(self, subject: str, payload: bytes) -> None:
        client = self._link.client
        if not client.is_connected or client.pending_data_size > MAX_UNSENT_BYTES:
            self.dropped += 1
            return
        try:
            await client.publish(subject, payload)
        except (nats.errors.Error, OSError):
            self.dropped += 1
