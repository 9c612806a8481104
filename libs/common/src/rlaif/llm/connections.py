"""Connections to language models, each lent to one call at a time.

A call that is cancelled while its connection opens or answers can leave a shared pool of httpx
counting a connection that nobody can use any more: calls that come too late fill it one by one, and
then all later ones wait in vain. So a call has a client with one connection, and a client whose
call did not end well is thrown away with whatever it holds.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Self

import httpx


class Connections:
    """Lends HTTP clients; there are as many as calls were under way at once."""

    def __init__(self, make: Callable[[], httpx.AsyncClient], *, key: str | None = None) -> None:
        """`make` gives a new client; `key` is the secret that it sends, if any."""
        self._make = make
        self.key = key
        self._idle: list[httpx.AsyncClient] = []
        self._closing: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def one(self) -> AsyncIterator[httpx.AsyncClient]:
        """A client that nobody else uses until the context ends."""
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
        """Close all that is not lent."""
        idle, self._idle = self._idle, []
        await asyncio.gather(
            *(client.aclose() for client in idle), *self._closing, return_exceptions=True
        )

    async def __aenter__(self) -> Self:
        """Nothing is open yet."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        await self.aclose()
