"""A HUD as a real server, with the test's NATS and S3, and pages that speak its protocol."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect

from rlaif.contracts.telemetry.frames import ScreenFrame
from rlaif.hud.app import create_app
from rlaif.hud.settings import HudSettings
from rlaif.storage.ports import ObjectStore
from rlaif.testing.servers.http_server import serve


class Page:
    """One live connection; stores messages, and acknowledges frames if `acknowledge`."""

    def __init__(self, connection: ClientConnection, *, acknowledge: bool) -> None:
        self.connection = connection
        self.frames: list[ScreenFrame] = []
        self.messages: list[dict[str, Any]] = []
        self.state: dict[str, Any] = {}
        self.acknowledge = acknowledge
        self.reader = asyncio.create_task(self._read())

    @property
    def types(self) -> list[str]:
        """Types of the messages so far."""
        return [message["type"] for message in self.messages]

    @property
    def event_kinds(self) -> list[str]:
        """Kinds of the log lines, from the snapshot and after."""
        snapshot = [line["kind"] for line in self.state.get("events", [])]
        return snapshot + [m["data"]["kind"] for m in self.messages if m["type"] == "event"]

    async def say(self, **message: Any) -> None:
        """Send one message."""
        await self.connection.send(json.dumps(message))

    async def _read(self) -> None:
        async for item in self.connection:
            if isinstance(item, bytes):
                frame = ScreenFrame.unpack(item)
                self.frames.append(frame)
                if self.acknowledge:
                    await self.say(type="ack", seq=frame.sequence)
                continue
            message = json.loads(item)
            self.messages.append(message)
            if message["type"] in ("snapshot", "metrics"):
                self.state |= message["data"]


OpenPage = Callable[..., AbstractAsyncContextManager[Page]]
StartHud = Callable[..., AbstractAsyncContextManager[str]]


@pytest.fixture
def open_page() -> OpenPage:
    @asynccontextmanager
    async def opened(url: str, *, acknowledge: bool = True, **options: Any) -> AsyncIterator[Page]:
        address = url.replace("http://", "ws://") + "/ws/v1"
        async with connect(address, proxy=None, **options) as connection:
            page = Page(connection, acknowledge=acknowledge)
            try:
                yield page
            finally:
                page.reader.cancel()
                await asyncio.gather(page.reader, return_exceptions=True)

    return opened


@pytest.fixture
def start_hud(nats_url: str, file_store: ObjectStore) -> StartHud:
    def started(**settings: Any) -> AbstractAsyncContextManager[str]:
        return serve(create_app(HudSettings(nats_url=nats_url, **settings), store=file_store))

    return started


@pytest.fixture
async def hud(bus: object, start_hud: StartHud) -> AsyncIterator[str]:
    async with start_hud() as url:
        yield url
