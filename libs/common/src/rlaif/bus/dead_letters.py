"""Creates, lists and redrives dead letters."""

import base64
import contextlib
import hashlib
import json
import re
from datetime import datetime, timedelta
from typing import Any

import nats.errors
from nats.js import JetStreamContext
from nats.js.api import Header

from rlaif.bus.errors import EventRefusedError, UnknownDeadLetterError
from rlaif.bus.history import stored_messages
from rlaif.bus.link import Link
from rlaif.bus.publisher import again_id, store
from rlaif.contracts.catalog import (
    CATALOG,
    UnknownEventError,
    parse_event,
    retry_subject,
    spec_of,
)
from rlaif.contracts.events import CloudEvent, DeadLetter
from rlaif.contracts.untrusted import NotJsonError, read_json

MAX_DETAIL = 2000
"""Maximum characters of `detail`; an error message may have megabytes."""

_BYTES = "data:application/octet-stream;base64,"
"""Prefix of an original that is stored as bytes (RFC 2397)."""

_MAX_EVENT_ID = 150
_STREAM = spec_of(DeadLetter).stream

_MESSAGE_ID = re.compile(r"dead:[^:]+:(?P<event_id>.+)")
"""Format of the catalog."""


def dead_letter(
    payload: bytes,
    *,
    stream: str,
    sequence: int,
    subject: str,
    consumer: str,
    attempts: int,
    reason: str,
    detail: str,
    dead_at: datetime,
) -> DeadLetter:
    """Build the dead letter of a message that `consumer` could not handle, including the message.

    A message that is not a JSON object is stored as text, or as base64 if it is not text or if
    base64 is shorter. A message without a readable id is named by stream and sequence.
    """
    original = _original(payload)
    return DeadLetter(
        stream=stream,
        subject=subject,
        consumer=consumer,
        event_id=_event_id(original, f"{stream.lower()}-{sequence}"),
        reason=reason,
        # Lone surrogates, which UTF-8 cannot encode, are escaped.
        detail=detail[:MAX_DETAIL].encode(errors="backslashreplace").decode()[:MAX_DETAIL],
        attempts=attempts,
        dead_at=dead_at,
        original=original,
    )


def without_original(letter: DeadLetter, sequence: int) -> DeadLetter:
    """The letter without its original, which exceeds the size limit, but with its location."""
    note = f"too large to be kept here; it is message {sequence} of stream {letter.stream}"
    return letter.model_copy(update={"original": note})


async def stored_letters(js: JetStreamContext) -> list[CloudEvent[DeadLetter]]:
    """All dead letters with their originals, newest first; other messages are skipped."""
    found: list[CloudEvent[DeadLetter]] = []
    # The wait for a letter that was redriven meanwhile times out.
    with contextlib.suppress(nats.errors.TimeoutError):
        async for message in stored_messages(js, _STREAM):
            with contextlib.suppress(UnknownEventError):
                found.append(parse_event(message.data))
    return found[::-1]


async def _sequences(js: JetStreamContext, event_id: str) -> list[int]:
    """Sequence numbers of an event's letters, by headers alone: originals may be large."""
    found = []
    with contextlib.suppress(nats.errors.TimeoutError):  # as in `stored_letters`
        async for message in stored_messages(js, _STREAM, headers_only=True):
            message_id = (message.headers or {}).get(Header.MSG_ID.value, "")
            match = _MESSAGE_ID.fullmatch(message_id)
            if match and match["event_id"] == event_id:
                found.append(message.metadata.sequence.stream)
    return found


async def redrive(link: Link, event_id: str, *, deadline: timedelta) -> str:
    """Publish a dead event again and remove its dead letters; returns its new id.

    The new id avoids the duplicate window. It derives from the letter's sequence number, so that a
    repeated call stores one copy.

    Raises:
        UnknownDeadLetterError: No dead letter has this `event_id`.
        EventRefusedError: The letter names a stream, subject or consumer that do not belong
            together.
    """
    js = link.jetstream
    letters = await _sequences(js, event_id)
    if not letters:
        raise UnknownDeadLetterError(
            f"no dead letter of event {event_id!r}; it has been redriven already or never had one"
        )
    dead: DeadLetter = parse_event((await js.get_msg(_STREAM, letters[-1])).data or b"").data
    # Any client of the bus may have written the letter.
    place = (dead.stream, dead.subject, dead.consumer)
    if place not in {(s.stream, s.subject, name) for s in CATALOG for name in s.consumers}:
        raise EventRefusedError(
            f"the dead letter of {event_id!r} names subject {dead.subject!r} of stream "
            f"{dead.stream!r}, which {dead.consumer!r} does not read; it is not published"
        )
    new_id = again_id(event_id, letters[-1])
    await store(
        link,
        stream=dead.stream,
        subject=retry_subject(dead.consumer),
        message_id=new_id,
        payload=with_id(dead, new_id),
        deadline=deadline,
    )
    for sequence in letters:
        await js.delete_msg(_STREAM, sequence)
    return new_id


def with_id(dead: DeadLetter, event_id: str) -> bytes:
    """The message to publish: the original with this id, or unchanged if it is no JSON object."""
    if isinstance(dead.original, dict):
        return json.dumps({**dead.original, "id": event_id}).encode()
    if dead.original.startswith(_BYTES):
        return base64.b64decode(dead.original.removeprefix(_BYTES))
    return dead.original.encode()


def _original(payload: bytes) -> dict[str, Any] | str:
    try:
        parsed = read_json(payload)
    except NotJsonError:
        parsed = None
    if isinstance(parsed, dict):
        return parsed
    coded = _BYTES + base64.b64encode(payload).decode()
    try:
        text = payload.decode()
    except UnicodeDecodeError:
        return coded
    # Text that looks like encoded bytes is encoded too, to avoid ambiguity, and so is text that
    # JSON escapes would expand, up to six-fold.
    grows = len(json.dumps(text, ensure_ascii=False).encode()) > len(coded) + 2
    return coded if grows or text.startswith(_BYTES) else text


def _event_id(original: dict[str, Any] | str, fallback: str) -> str:
    """The event's id, made valid as a part of the dead letter's message id."""
    found = original.get("id") if isinstance(original, dict) else None
    if not isinstance(found, str) or not found:
        return f"unreadable-{fallback}"
    if len(found) <= _MAX_EVENT_ID and found.isprintable() and found == found.strip():
        return found
    # A NATS header is one stripped line; the digest distinguishes ids with the same prefix.
    shown = "".join(each if each.isprintable() else "?" for each in found[:80]).strip()
    return f"{shown}-{hashlib.sha256(found.encode()).hexdigest()[:32]}"
