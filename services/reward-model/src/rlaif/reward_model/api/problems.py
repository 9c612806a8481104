"""Errors of the store and the registry as HTTP problems."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from rlaif.reward_model.champions.registry import ChampionConflictError, UnknownVersionError
from rlaif.reward_net.errors import RewardNetError
from rlaif.service.problems import Problem, store_unavailable
from rlaif.storage.ports import StorageError

P = ParamSpec("P")
T = TypeVar("T")


def ready(part: T | None) -> T:
    """The part, or the problem that NATS or S3 has not been reached yet."""
    if part is None:
        raise Problem(503, "not-ready", "Not ready", "NATS or S3 is unreachable; see /readyz.")
    return part


async def stored(read: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a blocking read of the store in a thread."""
    with store_problems():
        return await asyncio.to_thread(read, *args, **kwargs)


@contextmanager
def store_problems() -> Iterator[None]:
    """Convert errors of the store and of its objects."""
    try:
        yield
    except UnknownVersionError as error:
        raise Problem(404, "reward-model-not-found", "No such reward model", f"{error}.") from None
    except RewardNetError as error:
        raise Problem(409, "broken-model", "The model cannot be used", str(error)) from error
    except ChampionConflictError as error:
        raise Problem(409, "champion-changed", "Changed by another process", str(error)) from error
    except StorageError as error:
        raise store_unavailable(str(error)) from error
