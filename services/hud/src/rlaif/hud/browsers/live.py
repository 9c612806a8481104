"""The live connection of a page: `/ws/v1`.

To the page: binary frames (`rlaif.contracts.telemetry.frames.ScreenFrame`) and JSON texts
`{"v": 1, "type": …, "data": …}`, which are compressed:

    snapshot    the whole state; `build` identifies the page's files: another one is a new version
    metrics     sections of the state that changed, each complete
    event       a line of the event log
    pong        {"now": HUD's clock}

From the page, JSON texts of at most 4 KiB:

    {"type": "ack", "seq": 17}     frame 17 and all before it were drawn; at most twelve frames
                                   are sent ahead
    {"type": "rate", "fps": 0}     no frames, while the page is hidden or paused; all of them for
                                   another number. With "texts": false no texts either
    {"type": "ping"}               answered by a pong
    {"type": "resync"}             answered by a snapshot

Close codes: 1008 an invalid message, or a page that is refused, with the reason; 1009 a message
that is too long; 1012 the HUD restarts.
"""

import asyncio
import json
import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, WebSocket, WebSocketDisconnect
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from rlaif.hud.browsers.hub import Hub, message, pump
from rlaif.hud.browsers.outbox import Outbox
from rlaif.service.auth import is_same_origin
from rlaif.service.problems import Problem

MAX_MESSAGE = 4096
"""Characters."""

POLICY_VIOLATION, TOO_LONG, RESTART = 1008, 1009, 1012

MAX_REASON = 123
"""Bytes of the reason of a close, by RFC 6455."""

MAX_LOGGED = 100

logger = logging.getLogger(__name__)


class Ack(BaseModel):
    """A frame was drawn."""

    type: Literal["ack"]
    seq: int = Field(ge=0)


class Rate(BaseModel):
    """Whether the page wants frames and texts."""

    type: Literal["rate"]
    fps: float = Field(ge=0, le=60)
    texts: bool = True


class Plain(BaseModel):
    """A message without fields."""

    type: Literal["ping", "resync"]


_PAGE_MESSAGE: TypeAdapter[Ack | Rate | Plain] = TypeAdapter(
    Annotated[Ack | Rate | Plain, Field(discriminator="type")]
)


def live_router(
    hub: Hub,
    refused: Callable[[str], None],
    allowed_origins: tuple[str, ...],
    clock: Callable[[], datetime],
) -> APIRouter:
    """The route of the live connection; `refused` gets the reason code of each refusal."""
    router = APIRouter()
    logged: set[str | None] = set()

    @router.websocket("/ws/v1")
    async def live(socket: WebSocket) -> None:
        try:
            check_origin(socket, allowed_origins)
            outbox = hub.join()
        except Problem as problem:
            refused(problem.type)
            reason = problem.detail or problem.title
            if reason not in logged and len(logged) < MAX_LOGGED:
                logged.add(reason)  # once: a refused page reconnects repeatedly
                logger.warning("refused a page: %s", reason)
            await _refuse(socket, problem)
            return
        try:
            await socket.accept()
            await _serve(socket, hub, outbox, clock)
        finally:
            hub.leave(outbox)

    return router


def check_origin(socket: WebSocket, allowed: tuple[str, ...]) -> None:
    """Refuse (403) pages of other sites; clients other than browsers send no `Origin`."""
    origin = socket.headers.get("origin")
    if origin is None or origin in allowed:
        return
    if not is_same_origin(origin, socket.headers.get("host")):
        raise Problem(
            403,
            "foreign-origin",
            "Pages of other sites may not connect",
            f"Set HUD_ALLOWED_ORIGINS={json.dumps([origin])}, or make the proxy keep Host.",
        )


async def _refuse(socket: WebSocket, problem: Problem) -> None:
    """Refuse by a close with the reason: browsers do not show the body of a denied upgrade."""
    if "origin" not in socket.headers:
        await socket.send_denial_response(problem.response(socket.url.path))
        return
    reason = (problem.detail or problem.title).encode()[:MAX_REASON].decode(errors="ignore")
    await socket.accept()
    await socket.close(POLICY_VIOLATION, reason)


async def _serve(
    socket: WebSocket, hub: Hub, outbox: Outbox, clock: Callable[[], datetime]
) -> None:
    """Send and receive concurrently until either ends.

    A connection that only sends would not notice that the page or the server has closed it, and
    would delay the shutdown.
    """

    async def send(item: str | bytes) -> None:
        await (socket.send_text(item) if isinstance(item, str) else socket.send_bytes(item))

    tasks = {
        asyncio.create_task(pump(outbox, send, hub.opening)),
        asyncio.create_task(_receive(socket, outbox, clock)),
        asyncio.create_task(hub.closed.wait()),
    }
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
    code = next((result for result in results if type(result) is int), RESTART)
    for result in results:
        if isinstance(result, Exception) and not isinstance(result, WebSocketDisconnect):
            logger.debug("a live connection ended: %r", result)
    with suppress(RuntimeError, WebSocketDisconnect):  # already closed by the other side
        await socket.close(code)


async def _receive(socket: WebSocket, outbox: Outbox, clock: Callable[[], datetime]) -> int:
    """Handle the page's messages; returns the close code after an invalid one."""
    while True:
        received = await socket.receive()
        if received["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(received.get("code", 1005))
        text = received.get("text") or ""
        if len(text) > MAX_MESSAGE:
            return TOO_LONG
        try:
            request = _PAGE_MESSAGE.validate_json(text)
        except ValidationError:
            return POLICY_VIOLATION
        match request:
            case Ack():
                outbox.acknowledge(request.seq)
            case Rate():
                outbox.want(frames=request.fps > 0, texts=request.texts)
            case Plain(type="ping"):
                outbox.put_reply(message("pong", {"now": clock()}))
            case Plain():
                outbox.put_resync()
