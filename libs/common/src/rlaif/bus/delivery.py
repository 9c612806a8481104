"""Delivery of one event: send heartbeats, run the handler, answer NATS exactly once.

handler returns         ack, confirmed by the server
handler raises Retry    nak with a delay; after `RENEW_AFTER` deliveries a fresh copy replaces it
handler raises Suspect  a fresh copy with the attempt count replaces it; after the last, dead letter
handler raises Reject   dead letter, then term
any other exception     like Suspect, reason `handler_failed`
deadline passed         handler cancelled, then like any other exception
not an event            dead letter `invalid_event`
delivered too often     dead letter `never_answered`: its workers crashed; handler not run

Attempts are counted in headers of the copy: the server's delivery count includes kills and retries,
and a count in this process would be lost at a restart and not be shared by the workers. The server
cannot delay a new message, so a copy with a delay is returned (nak) at its first delivery.
"""

import asyncio
import contextlib
import logging
import random
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import nats.errors
from nats.aio.msg import Msg

from rlaif.bus.cancellation import propagating_cancellation
from rlaif.bus.dead_letters import dead_letter, without_original
from rlaif.bus.errors import BusError, EventRefusedError
from rlaif.bus.link import Link
from rlaif.bus.outcome import Reject, Retry, Suspect
from rlaif.bus.ports import Handler, WorkerSettings
from rlaif.bus.publisher import EventPublisher, store
from rlaif.bus.topology import MAX_DELIVER
from rlaif.contracts.catalog import EventSpec, UnknownEventError, parse_event, retry_subject
from rlaif.contracts.events import CloudEvent
from rlaif.pacing.backoff import backoff
from rlaif.tracing.spans import span

Result = Literal["done", "retried", "rejected"]

RENEW_AFTER = MAX_DELIVER // 2
"""Deliveries after which a `Retry` stores a fresh copy of the event and terminates this one.

The server stops delivering after `MAX_DELIVER`, so an outage of 15 minutes would drop an event
that is not at fault. The other half of the deliveries is reserved for worker crashes.
"""

_ACK_TRIES = 3
_ACK_TIMEOUT = timedelta(seconds=1)
_ACK_PAUSE = timedelta(milliseconds=100)
_STORE_DEADLINE = timedelta(seconds=20)

_TRIES_HEADER = "Rlaif-Tries"
"""Attempts that were counted before this copy of the event."""

_WAIT_HEADER = "Rlaif-Wait"
"""Delay in seconds before this copy is handled."""

_NUMBER = re.compile(r"[0-9]{1,6}(\.[0-9]{1,3})?")

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Again:
    """Answer: redeliver after a delay; `tries` includes this attempt, None if it is not counted."""

    delay: timedelta
    tries: int | None = None


@dataclass(frozen=True)
class _Done:
    """Answer: handled."""


@dataclass(frozen=True)
class _Renewed:
    """Answer: a fresh copy is stored; this delivery is finished."""


@dataclass(frozen=True)
class _Dead:
    """Answer: give up."""

    reason: str
    detail: str


_Answer = _Again | _Done | _Renewed | _Dead


class Delivery:
    """Handles the deliveries of one consumer. Stateless: attempts are counted in the events."""

    def __init__(
        self,
        link: Link,
        spec: EventSpec,
        consumer: str,
        handler: Handler,
        settings: WorkerSettings,
    ) -> None:
        self._link = link
        self._spec = spec
        self._consumer = consumer
        self._handler = handler
        self._settings = settings

    async def handle(self, message: Msg) -> Result | None:
        """Handle one message; returns None if it was not due yet and was returned to the server."""
        if (wait := _wait(message)) and message.metadata.num_delivered == 1:
            # A waiting copy occupies a slot of the consumer, and any client may set the header.
            await message.nak(delay=min(wait, self._settings.retry_cap.total_seconds()))
            return None
        try:
            async with self._heartbeats(message):
                answer = await self._decide(message)
                if isinstance(answer, _Dead):
                    answer = await self._bury(message, answer)
                if isinstance(answer, _Again) and (
                    answer.tries is not None or _deliveries(message) >= RENEW_AFTER
                ):
                    answer = await self._renew(message, answer)
        except asyncio.CancelledError:
            with contextlib.suppress(nats.errors.Error, OSError):
                await message.nak()
            raise
        return await self._send(message, answer)

    async def _decide(self, message: Msg) -> _Answer:
        try:
            event = self._parse(message)
        except UnknownEventError as error:
            return _Dead("invalid_event", str(error))
        if _deliveries(message) >= MAX_DELIVER:
            return _Dead(
                "never_answered",
                f"delivered {MAX_DELIVER} times without an answer; it probably crashes its worker",
            )
        deadline = asyncio.timeout(self._settings.deadline.total_seconds())
        try:
            async with deadline:
                with span(
                    f"process {event.type}",
                    kind="consumer",
                    cause=event.traceparent or "",
                    attributes={
                        "messaging.consumer.group.name": self._consumer,
                        "messaging.message.id": event.id,
                    },
                ):
                    await self._handler(event)
        except Retry as retry:
            return self._later(message, retry, event)
        except Suspect as suspect:
            return self._counted(message, event, suspect)
        except Reject as reject:
            return _Dead(reject.reason, reject.detail)
        except Exception as error:
            late = isinstance(error, TimeoutError) and deadline.expired()
            return self._failed(message, event, None if late else error)
        return _Done()

    def _parse(self, message: Msg) -> CloudEvent[Any]:
        event = parse_event(message.data)
        if event.type != self._spec.type:
            raise UnknownEventError(f"{event.type} is not valid on subject {message.subject}")
        return event

    def _later(self, message: Msg, retry: Retry, event: CloudEvent[Any]) -> _Again:
        delay = self._backoff(_deliveries(message))
        if retry.after is not None:
            delay = retry.after * (1 + 0.25 * random.random())
        logger.info(
            "%s: %s again in %.1f s: %s",
            self._consumer, event.id, delay.total_seconds(), retry.reason,
        )  # fmt: skip
        return _Again(delay)

    def _failed(
        self, message: Msg, event: CloudEvent[Any], error: Exception | None
    ) -> _Again | _Dead:
        text = f"{type(error).__name__}: {error}"
        if error is None:
            text = f"not finished within {self._settings.deadline.total_seconds():g} s"
        return self._counted(message, event, Suspect("handler_failed", text), error)

    def _counted(
        self,
        message: Msg,
        event: CloudEvent[Any],
        suspect: Suspect,
        error: Exception | None = None,
    ) -> _Again | _Dead:
        tries = _tries(message) + 1
        most = suspect.tries or self._settings.max_attempts
        logger.error(
            "%s: %s failed (%d of %d): %s",
            self._consumer, event.id, tries, most, suspect, exc_info=error,
        )  # fmt: skip
        if tries >= most:
            return _Dead(suspect.reason, suspect.detail)
        return _Again(self._backoff(tries), tries)

    def _backoff(self, attempt: int) -> timedelta:
        seconds = backoff(
            attempt,
            base=self._settings.retry_base.total_seconds(),
            cap=self._settings.retry_cap.total_seconds(),
            jitter=random.random(),
        )
        return timedelta(seconds=seconds)

    async def _bury(self, message: Msg, dead: _Dead) -> _Dead | _Again:
        """Store the dead letter; if NATS is unavailable, retry the event instead."""
        place = message.metadata
        letter = dead_letter(
            message.data,
            stream=place.stream,
            sequence=place.sequence.stream,
            subject=self._spec.pattern,
            consumer=self._consumer,
            attempts=_attempts(message),
            reason=dead.reason,
            detail=dead.detail,
            dead_at=datetime.now(UTC),
        )
        publisher = EventPublisher(self._link, self._consumer, deadline=_STORE_DEADLINE)
        try:
            try:
                await publisher.publish(letter)
            except EventRefusedError:
                letter = without_original(letter, place.sequence.stream)
                await publisher.publish(letter)
        except BusError as error:
            logger.error("%s: no dead letter for %s: %s", self._consumer, letter.event_id, error)
            return _Again(self._settings.retry_cap)
        logger.error(
            "%s: dead letter %s: %s: %s",
            self._consumer, letter.event_id, dead.reason, letter.detail,
        )  # fmt: skip
        return dead

    async def _renew(self, message: Msg, again: _Again) -> _Renewed | _Again:
        """Store a fresh copy of the event with its count of attempts and its delay.

        The copy's id is deterministic: after a crash before the answer, it is not stored twice.
        """
        sequence = message.metadata.sequence.stream
        tries = _tries(message) if again.tries is None else again.tries
        try:
            await store(
                self._link,
                stream=self._spec.stream,
                subject=retry_subject(self._consumer),
                message_id=f"renewed:{self._spec.stream}:{sequence}",
                payload=message.data,
                deadline=_STORE_DEADLINE,
                headers={
                    _TRIES_HEADER: str(tries),
                    _WAIT_HEADER: f"{again.delay.total_seconds():.3f}",
                },
            )
        except BusError as error:
            logger.warning("%s: event %d not renewed: %s", self._consumer, sequence, error)
            return again
        return _Renewed()

    async def _send(self, message: Msg, answer: _Answer) -> Result:
        if isinstance(answer, _Again):
            await message.nak(delay=answer.delay.total_seconds())
            return "retried"
        if isinstance(answer, _Dead):
            await message.term()
            return "rejected"
        confirmed = await self._acknowledge(message)
        return "done" if confirmed and isinstance(answer, _Done) else "retried"

    async def _acknowledge(self, message: Msg) -> bool:
        """Acknowledge and wait for the confirmation, across a server restart if necessary."""
        for _ in range(_ACK_TRIES):
            await self._link.wait_connected(self._settings.ack_wait.total_seconds())
            try:
                await message.ack_sync(timeout=_ACK_TIMEOUT.total_seconds())
            except nats.errors.Error as error:
                logger.debug("%s: ack not confirmed: %s", self._consumer, error)
                await asyncio.sleep(_ACK_PAUSE.total_seconds())
            else:
                return True
        logger.warning(
            "%s: ack of %s not confirmed; it may be redelivered", self._consumer, message.subject
        )
        return False

    @contextlib.asynccontextmanager
    async def _heartbeats(self, message: Msg) -> AsyncIterator[None]:
        """Send heartbeats inside the block only: a later one would replace the delay of a nak."""
        task = asyncio.create_task(self._beat(message))
        try:
            yield
        finally:
            task.cancel()
            # The first re-raises a cancellation of the handler, otherwise suppressed.
            with propagating_cancellation(), contextlib.suppress(asyncio.CancelledError):
                await task

    async def _beat(self, message: Msg) -> None:
        pause = min(self._settings.heartbeat, self._settings.ack_wait / 3)
        while True:
            await asyncio.sleep(pause.total_seconds())
            with contextlib.suppress(nats.errors.Error, OSError):
                await message.in_progress()


def _deliveries(message: Msg) -> int:
    return message.metadata.num_delivered


def _attempts(message: Msg) -> int:
    """Deliveries of the event to a worker: counted attempts plus deliveries of this copy."""
    waited = _wait(message) > 0 and _deliveries(message) > 1
    return _tries(message) + _deliveries(message) - waited


def _tries(message: Msg) -> int:
    return int(_header(message, _TRIES_HEADER))


def _wait(message: Msg) -> float:
    return _header(message, _WAIT_HEADER)


def _header(message: Msg, name: str) -> float:
    text = (message.headers or {}).get(name, "")
    return float(text) if _NUMBER.fullmatch(text) else 0.0
