"""HTTP clients for language models, each used by one call at a time.

A cancelled call can leave an unusable connection in a shared httpx pool, which still counts towards
its limit. So each client has one connection and is discarded after a failed call.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Self

import httpx


class Connections:
    """A pool of HTTP clients, as large as the number of concurrent calls so far."""

    def __init__(self, make: Callable[[], httpx.AsyncClient], *, key: str | None = None) -> None:
        self._make = make
        self.key = key
        self._idle: list[httpx.AsyncClient] = []
        self._closing: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def one(self) -> AsyncIterator[httpx.AsyncClient]:
        """A client for exclusive use inside the context."""
        client = self._idle.pop() if self._idle else self._make()
        try:
            yield client
        except BaseException:
            # In the background: the call may be cancelled a second time meanwhile.
            task = asyncio.ensure_future(client.aclose())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)
            raise
        self._idle.append(client)

    async def aclose(self) -> None:
        idle, self._idle = self._idle, []
        await asyncio.gather(
            *(client.aclose() for client in idle), *self._closing, return_exceptions=True
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()
