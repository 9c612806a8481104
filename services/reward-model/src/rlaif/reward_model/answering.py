"""What all routes share: parts that are not there yet, and blocking reads of the store."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from rlaif.reward_model.champions.registry import UnknownVersionError
from rlaif.service.problems import Problem, store_unavailable
from rlaif.storage.ports import StorageError

P = ParamSpec("P")
T = TypeVar("T")


def ready(part: T | None) -> T:
    """The part, or the problem that NATS or S3 was not reached yet."""
    if part is None:
        raise Problem(503, "not-ready", "Not at work yet", "NATS or S3 is missing; see /readyz.")
    return part


async def stored(read: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a blocking read of the store; its errors become problems."""
    try:
        return await asyncio.to_thread(read, *args, **kwargs)
    except UnknownVersionError as error:
        raise Problem(404, "reward-model-not-found", "No such reward model", f"{error}.") from None
    except StorageError as error:
        raise store_unavailable(str(error)) from error
