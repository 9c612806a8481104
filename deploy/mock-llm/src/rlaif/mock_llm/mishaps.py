"""What a fault looks like on the wire."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from fastapi import Request, Response
from fastapi.responses import JSONResponse, StreamingResponse

from rlaif.mock_llm import wire
from rlaif.mock_llm.faults import Fault

GARBAGE = 'Sure! I would say progress is about 11/10. {"progress": NaN, "score": "great",,'
"""An answer as a model without constrained decoding might give it."""

_HUGE_BYTES = 10_000_000
_DRIP_SECONDS = 0.1


async def instead_of_an_answer(
    fault: Fault | None,
    request: Request,
    *,
    model: str,
    pictures: bool,
    retry_after_seconds: int,
) -> Response | None:
    """The response of a fault that replaces the answer; None when the answer is still due."""
    match fault:
        case Fault.BLIND:
            return (
                _failed("image input is not supported", "server_error", 500) if pictures else None
            )
        case Fault.UNKNOWN_MODEL:
            return _failed(
                f"/chat/completions: Invalid model name passed in model={model}. "
                "Call `/v1/models` to view available models for your key.",
                "invalid_request_error",
                400,
            )
        case Fault.WRONG_KEY:
            return _failed("Authentication Error, Invalid proxy server token", "auth_error", 401)
        case Fault.NOT_FOUND:
            return _failed(f"The model `{model}` does not exist.", "NotFoundError", 404)
        case Fault.REDIRECT:
            return Response(status_code=307, headers={"Location": "/login"})
        case Fault.TEAPOT:
            return Response(b"I'm a teapot", status_code=418)
        case Fault.HTML:
            return Response(b"<html><body>Welcome to nginx!</body></html>", media_type="text/html")
        case Fault.EMPTY:
            return JSONResponse({"object": "chat.completion", "choices": []})
        case Fault.CUT:
            return Response(b'{"object": "chat.completion", "choices": [{"mess')
        case Fault.THROTTLED:
            return JSONResponse(
                wire.error("too many requests", "rate_limit_error"),
                status_code=429,
                headers={"Retry-After": str(retry_after_seconds)},
            )
        case Fault.ERROR:
            return _failed("the engine died", "server_error", 500)
        case Fault.TIMEOUT:
            # The body is read already, so the next thing to receive is the client's leaving.
            while (await request.receive())["type"] != "http.disconnect":
                pass
            return Response(status_code=499)
        case Fault.HUGE:
            return Response(b"x" * _HUGE_BYTES, media_type="application/json")
        case Fault.DRIP:
            return StreamingResponse(_drip(), media_type="application/json")
        case Fault.ENDLESS:
            return StreamingResponse(_endless(), media_type="application/json")
        case _:
            return None


def _failed(message: str, kind: str, status: int) -> Response:
    return JSONResponse(wire.error(message, kind), status_code=status)


def spoil(fault: Fault | None, text: str) -> tuple[str, str | None]:
    """(text, finish reason) after a fault that spoils the answer; None keeps the reason."""
    match fault:
        case Fault.GARBAGE:
            return GARBAGE, None
        case Fault.TRUNCATED:
            return text[: len(text) // 2], "length"
        case Fault.CONSTANT:
            levels = dict.fromkeys(json.loads(text), 1)
            return json.dumps(levels | {"rationale": "fine"}), None
        case _:
            return text, None


async def _drip() -> AsyncIterator[bytes]:
    while True:
        yield b" "
        await asyncio.sleep(_DRIP_SECONDS)


async def _endless() -> AsyncIterator[bytes]:
    while True:
        yield b" " * 16_384
        await asyncio.sleep(0)


def describe(plan: Any) -> list[dict[str, Any]]:
    """A plan for people, as `GET /faults` shows it."""
    return [
        {"fault": entry.fault.value, "chance": entry.chance, "route": entry.route} for entry in plan
    ]
