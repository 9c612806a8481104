"""Publishes events with idempotent retries.

A publish that timed out may have been stored (measured: it usually was), so every attempt has the
same `Nats-Msg-Id` and the stream keeps one copy.
"""

import asyncio
import logging
import random
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import nats.errors
from nats.js.api import Header
from nats.js.errors import APIError, NoStreamResponseError

from rlaif.bus.errors import BusUnavailableError, EventRefusedError
from rlaif.bus.link import Link
from rlaif.contracts.catalog import envelop, spec_of
from rlaif.contracts.events import EventData
from rlaif.pacing.backoff import backoff
from rlaif.tracing.spans import current_traceparent, span

TRY_TIMEOUT = timedelta(seconds=2)
"""Timeout of one attempt; NATS usually acknowledges within about a millisecond."""

_MESSAGE_TOO_LARGE = 10054
_STREAM_FULL = 10077

logger = logging.getLogger(__name__)


class EventPublisher:
    """The `Publisher` port over JetStream; `publish` retries until its `deadline`."""

    def __init__(
        self, link: Link, source: str, *, deadline: timedelta, again: int | None = None
    ) -> None:
        self._link = link
        self._again = again
        self._source = f"rlaif/{source}"
        self._deadline = deadline

    async def publish(self, data: EventData) -> bool:
        """See `rlaif.bus.ports.Publisher.publish`.

        Raises:
            EventRefusedError: Larger than its stream allows.
        """
        spec = spec_of(type(data))
        with span(f"publish {spec.type}", kind="producer") as made:
            event = envelop(
                data,
                source=self._source,
                time=datetime.now(UTC),
                traceparent=current_traceparent(),
            )
            if self._again is not None:
                event = event.model_copy(update={"id": again_id(event.id, self._again)})
            made.set_attribute("messaging.message.id", event.id)
            return await store(
                self._link,
                stream=spec.stream,
                subject=spec.subject_for(data),
                message_id=event.id,
                payload=event.model_dump_json().encode(),
                deadline=self._deadline,
            )


def again_id(event_id: str, number: int) -> str:
    """Id of an event that is published again, which the duplicate window accepts.

    It replaces that of an earlier time; release 0.1.0 wrote `#redrive-` and `#repair-`.
    """
    return f"{re.sub('#(again|redrive|repair)-[0-9]+$', '', event_id)}#again-{number}"


async def store(
    link: Link,
    *,
    stream: str,
    subject: str,
    message_id: str,
    payload: bytes,
    deadline: timedelta,
    headers: Mapping[str, str] | None = None,
) -> bool:
    """Store one message in `stream`, retrying with the same id until `deadline`.

    A missing or full stream is repaired. Returns False for a duplicate id.

    Raises:
        BusUnavailableError: Not stored in time.
        EventRefusedError: Larger than the stream or the server allows.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + deadline.total_seconds()
    attempt, why = 0, "not connected"
    while (left := end - loop.time()) > 0 and not link.closed:
        attempt += 1
        if not await link.wait_connected(left):
            continue
        try:
            ack = await link.jetstream.publish(
                subject,
                payload,
                timeout=min(TRY_TIMEOUT.total_seconds(), max(left, 0.05)),
                headers={**(headers or {}), Header.MSG_ID.value: message_id},
            )
        except nats.errors.MaxPayloadError as error:
            raise EventRefusedError(_too_large(message_id, payload)) from error
        except APIError as error:
            if error.err_code == _MESSAGE_TOO_LARGE:
                raise EventRefusedError(_too_large(message_id, payload)) from error
            why = str(error)
            await _repair(link, stream, error)
        except NoStreamResponseError as error:
            why = "the stream does not exist"
            await _repair(link, stream, error)
        except nats.errors.Error as error:
            why = str(error)
        else:
            return not ack.duplicate
        pause = backoff(attempt, base=0.1, cap=2.0, jitter=random.random())
        await asyncio.sleep(min(pause, max(0.0, end - loop.time())))
    raise BusUnavailableError(
        f"event {message_id} was not stored within {deadline.total_seconds():g} s: {why}"
        f"{link.last_error_note}; check that NATS at {link.address} runs and has room"
    )


async def _repair(link: Link, stream: str, error: Exception) -> None:
    try:
        if isinstance(error, NoStreamResponseError):
            await link.ensure_topology()
        elif isinstance(error, APIError) and error.err_code == _STREAM_FULL:
            await link.make_room_in(stream)
    except (nats.errors.Error, BusUnavailableError) as failure:
        logger.warning("could not repair stream %s: %s", stream, failure)


def _too_large(message_id: str, payload: bytes) -> str:
    return (
        f"event {message_id} has {len(payload)} bytes, more than its stream allows; "
        "store large data as an object and publish its key and digest"
    )
