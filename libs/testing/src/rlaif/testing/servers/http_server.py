"""Serve a web app on a free port, in the event loop of the test."""

import asyncio
import socket
from collections.abc import AsyncIterator, Generator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from fastapi import FastAPI

from rlaif.testing.waiting import eventually


class _Server(uvicorn.Server):
    """Leaves the signals to pytest."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


@asynccontextmanager
async def serve(app: FastAPI, *, port: int = 0) -> AsyncIterator[str]:
    """Run `app` like a service; yields its address, such as `http://127.0.0.1:41234`.

    `port` 0 takes a free one.
    """
    config = uvicorn.Config(
        app,
        log_config=None,
        lifespan="on",
        ws=getattr(app.state, "websocket_protocol", "auto"),
        timeout_graceful_shutdown=5,
        # On a busy machine, an idle connection must not be closed while a test reuses it.
        timeout_keep_alive=600,
    )
    server = _Server(config)
    with socket.create_server(("127.0.0.1", port)) as listener:
        running = asyncio.create_task(server.serve([listener]))
        try:
            await eventually(lambda: server.started or running.done(), "the app listens")
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            await running
