"""Injected faults, by setting or by `PUT /faults`.

A plan is text such as `429:0.05,vision/garbage:1`: fault and probability, for all requests or for
those of one route or one model name.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from fastapi import Request, Response
from fastapi.responses import JSONResponse, StreamingResponse

from rlaif.mock_llm import chat

_GARBAGE = 'Sure! I would say progress is about 11/10. {"progress": NaN, "score": "great",,'
"""A malformed answer, as from a model without constrained decoding."""


class Fault(StrEnum):
    """Kinds of faults.

    `timeout` never answers, `garbage` is text that is not JSON, `truncated` truncates the answer,
    `huge` sends a reply of 10 MB, `drip` sends single bytes. `blind` answers text and fails with
    500 on pictures, like llama.cpp with a text model; `400` and `401` are a gateway's errors for a
    wrong model name or key; `307` redirects, `418` is an unexpected status; `html` is a page, `cut`
    ends within the body.
    """

    THROTTLED = "429"
    ERROR = "500"
    TIMEOUT = "timeout"
    GARBAGE = "garbage"
    TRUNCATED = "truncated"
    HUGE = "huge"
    DRIP = "drip"
    BLIND = "blind"
    UNKNOWN_MODEL = "400"
    WRONG_KEY = "401"
    REDIRECT = "307"
    TEAPOT = "418"
    HTML = "html"
    CUT = "cut"


class FaultPlanError(ValueError):
    """The text is not a fault plan."""


@dataclass(frozen=True)
class PlannedFault:
    """One entry of a plan; `route` is a route or a model name, None for all of them."""

    fault: Fault
    chance: float
    route: str | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def parse_plan(text: str) -> tuple[PlannedFault, ...]:
    """Parse a plan; raises FaultPlanError. Empty text is a plan without faults."""
    return tuple(_parse_entry(part.strip()) for part in text.split(",") if part.strip())


def choose(
    plan: tuple[PlannedFault, ...], route: str, draw: Callable[[], float], *, model: str = ""
) -> Fault | None:
    """The fault of a request, or None; one draw in [0, 1) for each entry that applies to it."""
    for entry in plan:
        if entry.route in (None, route, model) and draw() < entry.chance:
            return entry.fault
    return None


def _parse_entry(text: str) -> PlannedFault:
    name, _, chance = text.partition(":")
    target, slash, fault = name.rpartition("/")
    return _planned(fault, chance or "1", target if slash else None)


def _planned(name: str, chance: str, target: str | None) -> PlannedFault:
    try:
        share = float(chance)
        fault = Fault(name)
    except ValueError:
        known = ", ".join(fault.value for fault in Fault)
        raise FaultPlanError(
            f"{name}:{chance} is not a fault with a probability; known faults: {known}"
        ) from None
    if not 0 <= share <= 1:
        raise FaultPlanError(f"probability {share:g} of {name} is not in [0, 1]")
    return PlannedFault(fault, share, target)


async def faulty_reply(
    fault: Fault | None, asked: chat.ChatRequest, request: Request, *, retry_after_seconds: int
) -> Response | None:
    """The reply that replaces the answer; None if the fault does not replace it."""
    match fault:
        case Fault.TIMEOUT:
            # The body has been read, so the next message is the client's disconnection.
            while (await request.receive())["type"] != "http.disconnect":
                pass
            return Response(status_code=499)
        case Fault.THROTTLED:
            reply = _error("too many requests", "rate_limit_error", 429)
            reply.headers["Retry-After"] = str(retry_after_seconds)
            return reply
        case Fault.BLIND if not asked.has_pictures():
            return None
    if fault in _REJECTIONS:
        message, kind, status = _REJECTIONS[fault]
        return _error(message.format(model=asked.model), kind, status)
    return _STRANGE_REPLIES[fault]() if fault in _STRANGE_REPLIES else None


def spoil(fault: Fault | None, text: str) -> tuple[str, str | None]:
    """(text, finish reason) of an answer with a fault; None keeps the reason."""
    match fault:
        case Fault.GARBAGE:
            return _GARBAGE, None
        case Fault.TRUNCATED:
            return text[: len(text) // 2], "length"
        case _:
            return text, None


def _error(message: str, kind: str, status: int) -> Response:
    return JSONResponse(chat.error(message, kind), status_code=status)


async def _drip() -> AsyncIterator[bytes]:
    while True:
        yield b" "
        await asyncio.sleep(0.1)


_REJECTIONS: dict[Fault | None, tuple[str, str, int]] = {
    Fault.BLIND: ("image input is not supported", "server_error", 500),
    Fault.UNKNOWN_MODEL: (
        "/chat/completions: Invalid model name passed in model={model}. "
        "Call `/v1/models` to view available models for your key.",
        "invalid_request_error",
        400,
    ),
    Fault.WRONG_KEY: ("Authentication Error, Invalid proxy server token", "auth_error", 401),
    Fault.ERROR: ("the engine died", "server_error", 500),
}
"""Fault → message, type and HTTP status of an error, as sent by real servers."""

_STRANGE_REPLIES: dict[Fault | None, Callable[[], Response]] = {
    Fault.REDIRECT: lambda: Response(status_code=307, headers={"Location": "/login"}),
    Fault.TEAPOT: lambda: Response(b"I'm a teapot", status_code=418),
    Fault.HTML: lambda: Response(
        b"<html><body>Welcome to nginx!</body></html>", media_type="text/html"
    ),
    Fault.CUT: lambda: Response(b'{"object": "chat.completion", "choices": [{"mess'),
    Fault.HUGE: lambda: Response(b"x" * 10_000_000, media_type="application/json"),
    Fault.DRIP: lambda: StreamingResponse(_drip(), media_type="application/json"),
}
"""Fault → a reply that is not a chat completion."""
