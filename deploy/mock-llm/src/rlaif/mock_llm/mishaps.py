"""What a fault looks like on the wire."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from fastapi import Request, Response
from fastapi.responses import JSONResponse, StreamingResponse

from rlaif.mock_llm import wire
from rlaif.mock_llm.faults import Fault, PlannedFault

GARBAGE = 'Sure! I would say progress is about 11/10. {"progress": NaN, "score": "great",,'
"""An answer as a model without constrained decoding might give it."""

_HUGE_BYTES = 10_000_000
_DRIP_SECONDS = 0.1


async def instead_of_an_answer(
    fault: Fault | None, chat: wire.ChatRequest, request: Request, *, retry_after_seconds: int
) -> Response | None:
    """The response of a fault that replaces the answer; None when the answer is still due."""
    match fault:
        case Fault.TIMEOUT:
            # The body is read already, so the next thing to receive is the client's leaving.
            while (await request.receive())["type"] != "http.disconnect":
                pass
            return Response(status_code=499)
        case Fault.THROTTLED:
            reply = _failed("too many requests", "rate_limit_error", 429)
            reply.headers["Retry-After"] = str(retry_after_seconds)
            return reply
        case Fault.BLIND if not chat.has_pictures():
            return None
    if fault in _REFUSALS:
        message, kind, status = _REFUSALS[fault]
        return _failed(message.format(model=chat.model), kind, status)
    return _STRANGE_REPLIES[fault]() if fault in _STRANGE_REPLIES else None


def _failed(message: str, kind: str, status: int) -> Response:
    return JSONResponse(wire.error(message, kind), status_code=status)


_REFUSALS: dict[Fault | None, tuple[str, str, int]] = {
    Fault.BLIND: ("image input is not supported", "server_error", 500),
    Fault.UNKNOWN_MODEL: (
        "/chat/completions: Invalid model name passed in model={model}. "
        "Call `/v1/models` to view available models for your key.",
        "invalid_request_error",
        400,
    ),
    Fault.WRONG_KEY: ("Authentication Error, Invalid proxy server token", "auth_error", 401),
    Fault.NOT_FOUND: ("The model `{model}` does not exist.", "NotFoundError", 404),
    Fault.ERROR: ("the engine died", "server_error", 500),
}
"""Fault → message, kind and HTTP status of an error as servers word it."""

_STRANGE_REPLIES: dict[Fault | None, Callable[[], Response]] = {
    Fault.REDIRECT: lambda: Response(status_code=307, headers={"Location": "/login"}),
    Fault.TEAPOT: lambda: Response(b"I'm a teapot", status_code=418),
    Fault.HTML: lambda: Response(
        b"<html><body>Welcome to nginx!</body></html>", media_type="text/html"
    ),
    Fault.EMPTY: lambda: JSONResponse({"object": "chat.completion", "choices": []}),
    Fault.CUT: lambda: Response(b'{"object": "chat.completion", "choices": [{"mess'),
    Fault.HUGE: lambda: Response(b"x" * _HUGE_BYTES, media_type="application/json"),
    Fault.DRIP: lambda: StreamingResponse(_drip(), media_type="application/json"),
    Fault.ENDLESS: lambda: StreamingResponse(_endless(), media_type="application/json"),
}
"""Fault → a reply that is no chat completion."""


def spoil(fault: Fault | None, text: str) -> tuple[str, str | None]:
    """(text, finish reason) after a fault that spoils the answer; None keeps the reason."""
    match fault:
        case Fault.GARBAGE:
            return GARBAGE, None
        case Fault.TRUNCATED:
            return text[: len(text) // 2], "length"
        case Fault.CONSTANT:
            return _constant(text), None
        case _:
            return text, None


def _constant(text: str) -> str:
    """All levels 1; what is no JSON object, as a malicious planner says it, stays as it is."""
    try:
        levels = dict.fromkeys(json.loads(text), 1)
    except (ValueError, TypeError, RecursionError):
        return text
    return json.dumps(levels | {"rationale": "fine"})


async def _drip() -> AsyncIterator[bytes]:
    while True:
        yield b" "
        await asyncio.sleep(_DRIP_SECONDS)


async def _endless() -> AsyncIterator[bytes]:
    while True:
        yield b" " * 16_384
        await asyncio.sleep(0)


def describe(plan: Sequence[PlannedFault]) -> list[dict[str, Any]]:
    """A plan for people, as `GET /faults` shows it."""
    return [
        {"fault": entry.fault.value, "chance": entry.chance, "route": entry.route} for entry in plan
    ]
