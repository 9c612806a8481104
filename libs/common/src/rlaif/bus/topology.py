"""Streams and durable consumers of the catalog.

Services create missing ones and only log differences, as several releases may run at the same time;
an administrator updates existing ones with `align_topology`.
"""

import asyncio
import contextlib
import logging
import random
from collections.abc import Coroutine
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from nats.js import JetStreamContext
from nats.js.api import (
    AckPolicy,
    ConsumerConfig,
    DeliverPolicy,
    DiscardPolicy,
    RetentionPolicy,
    StorageType,
    StreamConfig,
)
from nats.js.errors import APIError, NotFoundError

from rlaif.contracts.catalog import CATALOG, STREAMS, EventSpec, retry_subject

MAX_DELIVER = 20
"""Maximum deliveries of an event to a consumer: limits an event that crashes its worker."""

_MIB = 1024 * 1024

_ANOTHER_SERVICE_IS_CREATING = {
    10058,  # stream name already in use with another configuration
    10047,  # insufficient storage: each concurrent creation reserves space
}
_CREATE_TRIES = 8
_CREATE_PAUSE = timedelta(milliseconds=50)

logger = logging.getLogger(__name__)

_OF_A_STREAM = ("num_replicas", "max_bytes", "discard", "subjects")
_OF_A_CONSUMER = ("ack_wait", "max_ack_pending", "filter_subjects")


@dataclass(frozen=True)
class TopologySettings:
    """Parameters that differ between a laptop, a cluster and a test.

    Attributes:
        max_ack_pending: Unacknowledged deliveries of one consumer, across all its workers. Events
            that wait for a retry count too, so an outage does not cycle through the whole stream.
        max_bytes: Size of a busy stream. All streams together reserve 4.75 times this; the
            default fits a JetStream of 1 GB.
    """

    ack_wait: timedelta = timedelta(seconds=30)
    max_ack_pending: int = 64
    replicas: int = 1
    max_bytes: int = 160 * _MIB


def stream_config(name: str, settings: TopologySettings) -> StreamConfig:
    """The configuration of one stream of the catalog.

    A full stream refuses new events, unless it `drops_oldest`. One hour of duplicate detection
    covers a publisher's retries.
    """
    stream = STREAMS[name]
    return StreamConfig(
        name=name,
        subjects=list(stream.subjects),
        retention=RetentionPolicy.LIMITS,
        storage=StorageType.FILE,
        discard=DiscardPolicy.OLD if stream.drops_oldest else DiscardPolicy.NEW,
        duplicate_window=timedelta(hours=1).total_seconds(),
        max_age=stream.max_age.total_seconds(),
        max_msg_size=stream.max_message_bytes,
        max_bytes=int(settings.max_bytes * stream.share),
        num_replicas=settings.replicas,
    )


def consumer_config(spec: EventSpec, consumer: str, settings: TopologySettings) -> ConsumerConfig:
    """The configuration of one durable pull consumer.

    `backoff` is not set: the server would use its first value instead of `ack_wait`.
    """
    return ConsumerConfig(
        name=consumer,
        durable_name=consumer,
        deliver_policy=DeliverPolicy.ALL,
        ack_policy=AckPolicy.EXPLICIT,
        ack_wait=settings.ack_wait.total_seconds(),
        max_deliver=MAX_DELIVER,
        max_ack_pending=settings.max_ack_pending,
        filter_subjects=[spec.pattern, retry_subject(consumer)],
    )


@dataclass(frozen=True)
class Part:
    """A stream, or a consumer of `stream`: expected and actual configuration."""

    stream: str
    wanted: StreamConfig | ConsumerConfig
    found: StreamConfig | ConsumerConfig
    made: bool

    @property
    def title(self) -> str:
        if isinstance(self.wanted, StreamConfig):
            return f"stream {self.stream}"
        return f"consumer {self.stream}/{self.wanted.name}"

    def differences(self) -> dict[str, tuple[object, object]]:
        """Fields whose expected value differs from the server's: name → (wanted, found)."""
        want, have = self.wanted.as_dict(), self.found.as_dict()
        return {
            field: (value, have.get(field))
            for field, value in want.items()
            if value and have.get(field) != value
        }


async def ensure_topology(js: JetStreamContext, settings: TopologySettings) -> None:
    """Create missing streams and consumers; concurrent calls by several services are safe."""
    for part in await ensure_parts(js, settings):
        if part.made:
            logger.info("created %s", part.title)
        for name, (want, have) in part.differences().items():
            logger.warning(
                "%s has %s=%s, this release expects %s; kept as it is; change it manually",
                part.title, name, have, want,
            )  # fmt: skip


async def ensure_parts(js: JetStreamContext, settings: TopologySettings) -> list[Part]:
    """Like `ensure_topology` without logging; returns each part, streams first."""
    streams = await asyncio.gather(
        *(_ensure_stream(js, stream_config(name, settings)) for name in STREAMS)
    )
    consumers = await asyncio.gather(
        *(
            _ensure_consumer(js, spec.stream, consumer_config(spec, consumer, settings))
            for spec in CATALOG
            for consumer in spec.consumers
        )
    )
    return [*streams, *consumers]


async def missing_parts(js: JetStreamContext) -> list[str]:
    """Descriptions of the missing streams and consumers of the catalog; creates nothing."""

    async def lacks(asked: Coroutine[Any, Any, object]) -> bool:
        try:
            await asked
        except NotFoundError:
            return True
        return False

    missing = [name for name in STREAMS if await lacks(js.stream_info(name))]
    return [f"stream {name}" for name in missing] + [
        f"consumer {spec.stream}/{consumer}"
        for spec in CATALOG
        for consumer in spec.consumers
        if spec.stream not in missing and await lacks(js.consumer_info(spec.stream, consumer))
    ]


async def delete_topology(js: JetStreamContext) -> None:
    """Delete every stream of the catalog with all its events. For tests and for a fresh start."""
    for name in STREAMS:
        with contextlib.suppress(NotFoundError):
            await js.delete_stream(name)


async def set_ack_wait(
    js: JetStreamContext, stream: str, consumer: str, ack_wait: timedelta
) -> None:
    """Set a consumer's ack wait to that of its worker."""
    found = (await js.consumer_info(stream, consumer)).config
    if found.ack_wait == ack_wait.total_seconds():
        return
    logger.warning(
        "changing ack_wait of consumer %s from %s s to %s s, the setting of its worker",
        consumer, found.ack_wait, ack_wait.total_seconds(),
    )  # fmt: skip
    await js.add_consumer(stream, found.evolve(ack_wait=ack_wait.total_seconds()))


async def full_streams(js: JetStreamContext, *, above: float) -> list[str]:
    """Names of the streams that are filled above this share and reject events when full."""
    refusing = [name for name, stream in STREAMS.items() if not stream.drops_oldest]
    found = [await js.stream_info(name) for name in refusing]
    return [
        str(each.config.name)
        for each in found
        if each.state.bytes > above * (each.config.max_bytes or float("inf"))
    ]


async def make_room(js: JetStreamContext, stream: str) -> bool:
    """Drop events that every consumer has acknowledged; True if there were any.

    Streams without consumers (dead letters) are not changed.
    """
    consumers = {name for spec in CATALOG if spec.stream == stream for name in spec.consumers}
    if not consumers:
        return False
    infos = [await js.consumer_info(stream, name) for name in sorted(consumers)]
    floor = min(info.ack_floor.stream_seq if info.ack_floor else 0 for info in infos)
    first = (await js.stream_info(stream)).state.first_seq
    if floor < first:
        return False
    logger.warning("stream %s is full; dropping its handled events up to %d", stream, floor)
    return await js.purge_stream(stream, seq=floor + 1)


async def _ensure_stream(js: JetStreamContext, wanted: StreamConfig) -> Part:
    name = str(wanted.name)
    for tries_left in reversed(range(_CREATE_TRIES)):
        try:
            return Part(name, wanted, (await js.stream_info(name)).config, made=False)
        except NotFoundError:
            try:
                return Part(name, wanted, (await js.add_stream(wanted)).config, made=True)
            except APIError as error:
                if error.err_code not in _ANOTHER_SERVICE_IS_CREATING or not tries_left:
                    raise
                await asyncio.sleep(_CREATE_PAUSE.total_seconds() * (1 + random.random()))
    raise AssertionError("unreachable")


async def _ensure_consumer(js: JetStreamContext, stream: str, wanted: ConsumerConfig) -> Part:
    try:
        found = (await js.consumer_info(stream, str(wanted.name))).config
    except NotFoundError:
        return Part(stream, wanted, (await js.add_consumer(stream, wanted)).config, made=True)
    return Part(stream, wanted, found, made=False)


async def align_topology(js: JetStreamContext, settings: TopologySettings) -> list[str]:
    """Create missing parts and update changeable fields; returns a line about each part."""
    return [await _align(js, part) for part in await ensure_parts(js, settings)]


async def _align(js: JetStreamContext, part: Part) -> str:
    if part.made:
        return f"{part.title}: made"
    changed = await _change(js, part)
    changes = [
        f"changed {name} from {getattr(part.found, name)} to {getattr(part.wanted, name)}"
        if name in changed
        else f"has {name}={have}, this release expects {want}: kept; change it manually"
        for name, (want, have) in part.differences().items()
    ]
    return f"{part.title}: {'; '.join(changes) or 'found'}"


async def _change(js: JetStreamContext, part: Part) -> set[str]:
    """Update the changeable fields that differ; returns their names."""
    wanted, found = part.wanted, part.found
    if isinstance(wanted, StreamConfig) and isinstance(found, StreamConfig):
        fields = set(_OF_A_STREAM) & part.differences().keys()
        # A limit below the current size would make the server drop events.
        if "max_bytes" in fields and 0 < (wanted.max_bytes or 0) < await _held(js, part.stream):
            fields.remove("max_bytes")
        if fields:
            await js.update_stream(found.evolve(**{each: getattr(wanted, each) for each in fields}))
        return fields
    assert isinstance(found, ConsumerConfig)
    fields = set(_OF_A_CONSUMER) & part.differences().keys()
    if fields:
        values = {each: getattr(wanted, each) for each in fields}
        # Earlier releases set `filter_subject` instead of `filter_subjects`.
        await js.add_consumer(part.stream, found.evolve(filter_subject=None, **values))
    return fields


async def _held(js: JetStreamContext, stream: str) -> int:
    return (await js.stream_info(stream)).state.bytes
