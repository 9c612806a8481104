"""A small buffer between NATS and one reader that drops the oldest message when it is full."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator

from nats.aio.msg import Msg


class Mailbox:
    """Holds the newest `size` messages until they are read."""

    def __init__(self, size: int) -> None:
        self._messages: deque[tuple[str, bytes]] = deque(maxlen=size)
        self._changed = asyncio.Event()
        self._closed = False

    async def deliver(self, message: Msg) -> None:
        """Put one message in; the oldest falls out when the box is full."""
        self._messages.append((message.subject, message.data))
        self._changed.set()

    def close(self) -> None:
        """End the reader after what it has not read yet."""
        self._closed = True
        self._changed.set()

    async def __aiter__(self) -> AsyncIterator[tuple[str, bytes]]:
        while True:
            while self._messages:
                yield self._messages.popleft()
            if self._closed:
                return
            self._changed.clear()
            await self._changed.wait()
