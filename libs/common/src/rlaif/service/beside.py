"""Serves an app beside other work, in the event loop of a process that is no service.

Its signals stay with who does the work, and that work goes on when the serving breaks.
"""

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncIterator, Iterator

import uvicorn
from fastapi import FastAPI

from rlaif.service.cli import server_config

logger = logging.getLogger(__name__)


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def serving(app: FastAPI, listener: socket.socket) -> AsyncIterator[None]:
    """Answer on a socket that listens while the context is open; it is closed at the end."""
    server = _Server(server_config(app))
    running = asyncio.create_task(server.serve([listener]))
    try:
        yield
    finally:
        server.should_exit = True
        await asyncio.wait((running,))
        if not running.cancelled() and (error := running.exception()) is not None:
            logger.error("the serving broke", exc_info=error)
