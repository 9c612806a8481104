"""Fixes task cancellation in nats-py: requests are not lost, and spurious ones are not raised.

nats-py 2.16 waits with `asyncio.wait_for`, which on Python 3.11 loses a cancellation that arrives
together with a response; a fetch on a closed connection turns it into `ConnectionClosedError`. The
service would not stop. Also, closing a client that reconnects cancels the calling task.
"""

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Any

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import ConnectionClosedError


@contextlib.contextmanager
def propagating_cancellation() -> Iterator[None]:
    """Raise `CancelledError` at the end if the task was cancelled inside the block, not before.

    Raises:
        nats.errors.ConnectionClosedError: Instead of a cancellation that was not requested.
    """
    task = asyncio.current_task()
    before = task.cancelling() if task is not None else 0

    def lost() -> bool:
        return task is not None and task.cancelling() > before

    try:
        yield
    except asyncio.CancelledError as error:
        if task is None or task.cancelling():
            raise
        raise ConnectionClosedError from error
    except Exception:
        if lost():
            raise asyncio.CancelledError from None
        raise
    if lost():
        raise asyncio.CancelledError


class CancellableClient(Client):
    """A nats-py client whose requests, including those of JetStream, can be cancelled."""

    async def request(self, *args: Any, **options: Any) -> Msg:
        with propagating_cancellation():
            return await super().request(*args, **options)

    async def publish(self, *args: Any, **options: Any) -> None:
        with propagating_cancellation():
            await super().publish(*args, **options)

    async def close(self) -> None:
        with propagating_cancellation():
            await super().close()
