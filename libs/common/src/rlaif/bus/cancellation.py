"""Fixes cancellation in nats-py: none is lost, and none is raised that was not requested.

nats-py 2.16 waits by `asyncio.wait_for`, which on Python 3.11 loses a cancellation that comes
together with an answer; a fetch on a closed connection turns it into `ConnectionClosedError`. The
service would not stop. And closing a client that reconnects cancels the task that closes it.
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
    """Raise `CancelledError` at the end if the task was cancelled inside, but not for earlier ones.

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
        with heeding_cancellation():
            return await super().request(*args, **options)

    async def publish(self, *args: Any, **options: Any) -> None:
        with heeding_cancellation():
            await super().publish(*args, **options)

    async def close(self) -> None:
        with heeding_cancellation():
            await super().close()
