"""Fixes cancellation in nats-py: none is lost, and none is raised that was not requested.

nats-py 2.16 waits for every answer by `asyncio.wait_for`. On Python 3.11 that returns an answer
which came in the same turn of the loop as a cancellation, and the cancellation is gone. A fetch on
a closed connection turns it into `ConnectionClosedError`. A loop around either would continue for
ever, and its service would not stop.

The other way round, closing a client that reconnects cancels the future on which the closing waits
itself. That would look as if the caller had been cancelled, and end it without a word.
"""

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Any

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import ConnectionClosedError


@contextlib.contextmanager
def heeding_cancellation() -> Iterator[None]:
    """Raise `CancelledError` at the end if the task was cancelled inside, whatever became of it.

    An earlier cancellation does not count: it was heeded, and the clean-up after it continues.

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
    """A nats-py client whose requests, and so all of its JetStream, can be cancelled."""

    async def request(self, *args: Any, **options: Any) -> Msg:
        """See `Client.request`."""
        with heeding_cancellation():
            return await super().request(*args, **options)

    async def publish(self, *args: Any, **options: Any) -> None:
        """See `Client.publish`."""
        with heeding_cancellation():
            await super().publish(*args, **options)

    async def close(self) -> None:
        """See `Client.close`."""
        with heeding_cancellation():
            await super().close()
