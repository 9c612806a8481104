"""Steps of the bootstrap, each retried until it succeeds or times out."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from rlaif.bootstrap.settings import BootstrapSettings
from rlaif.bus.connection import Bus, connect
from rlaif.bus.errors import BusError
from rlaif.bus.topology import TopologySettings
from rlaif.pacing.backoff import backoff
from rlaif.storage.open import S3Credentials, make_store, open_store
from rlaif.storage.ports import StoreUnavailableError
from rlaif.storage.probe import probe_store

FULL = 0.8
"""Fill level (0 to 1) of a stream above which its handled events are dropped.

The rest is for events that arrive before the next check.
"""

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 10.0

T = TypeVar("T")

logger = logging.getLogger(__name__)


class NotReachedError(Exception):
    """A server was not ready in time; the message names it and the last error."""


async def prepare(settings: BootstrapSettings) -> list[str]:
    """Create streams, consumers and buckets; returns one line about each.

    Raises:
        NotReachedError: NATS or S3 was not ready within `timeout_seconds`.
        StorageError: The URL of a store is invalid.
    """
    credentials = S3Credentials.of(settings)
    urls = dict.fromkeys((settings.episodes_store, settings.models_store))
    for url in urls:
        open_store(url, credentials)  # an invalid URL is reported without waiting
    steps = await asyncio.gather(
        _until_done("NATS", settings, lambda: _with_bus(settings, Bus.align_topology)),
        *(
            _until_done(url, settings, partial(asyncio.to_thread, _bucket, url, credentials))
            for url in urls
        ),
        return_exceptions=True,
    )
    failures = [each for each in steps if isinstance(each, BaseException)]
    for failure in failures:
        if not isinstance(failure, NotReachedError):
            raise failure
    if failures:
        raise NotReachedError("; ".join(map(str, failures)))
    return [line for each in steps if not isinstance(each, BaseException) for line in each]


async def make_room(settings: BootstrapSettings) -> list[str]:
    """Drop handled events of full streams; returns a line about each, or raises NotReachedError."""
    emptied = await _until_done(
        "NATS", settings, lambda: _with_bus(settings, lambda bus: bus.make_room(above=FULL))
    )
    return [f"stream {name}: dropped its handled events" for name in emptied] or [
        f"no stream is more than {FULL:.0%} full of handled events"
    ]


async def _until_done(
    what: str, settings: BootstrapSettings, step: Callable[[], Awaitable[T]]
) -> T:
    loop = asyncio.get_running_loop()
    end = loop.time() + settings.timeout_seconds
    attempt = 0
    while True:
        attempt += 1
        try:
            return await step()
        except (BusError, StoreUnavailableError) as error:
            pause = backoff(attempt, base=FIRST_PAUSE, cap=LONGEST_PAUSE, jitter=random.random())
            if loop.time() + pause > end:
                raise NotReachedError(
                    f"{what} was not ready within {settings.timeout_seconds:g} s: {error}"
                ) from error
            logger.warning("waiting for %s, next attempt in %.1f s: %s", what, pause, error)
        await asyncio.sleep(pause)


async def _with_bus(settings: BootstrapSettings, ask: Callable[[Bus], Awaitable[T]]) -> T:
    bus = await connect(
        settings.nats_url,
        name="bootstrap",
        ca_file=settings.nats_ca_file or None,
        settings=TopologySettings(
            replicas=settings.nats_stream_replicas,
            max_bytes=settings.nats_stream_mib * 1024 * 1024,
        ),
    )
    try:
        return await ask(bus)
    finally:
        await bus.close()


def _bucket(url: str, credentials: S3Credentials) -> list[str]:
    store, made = make_store(url, credentials)
    # A server that is not writable yet, or violates S3's guarantees, would stop the services too.
    probe_store(store)
    return [f"{store.url}: {'made' if made else 'found'}"]
