"""Checks the guarantees of the store port before a service starts.

Some servers ignore `If-None-Match`: two exports of one segment could then both succeed.
"""

import contextlib
from collections.abc import Iterator, Sequence
from typing import TypeVar
from uuid import uuid4

from rlaif.storage.ports import (
    ObjectNotFoundError,
    ObjectStore,
    StorageError,
    StoreUnavailableError,
)

StoreT = TypeVar("StoreT", bound=ObjectStore)

SCRATCH = "probe/"
"""Prefix of the scratch keys, which are deleted afterwards."""


def probe_store(store: StoreT) -> StoreT:
    """Write, read, list and delete scratch objects; needs write permission.

    Returns:
        The store itself.

    Raises:
        StoreUnavailableError: The store did not answer, or violated the named guarantee.
    """
    folder = f"{SCRATCH}{uuid4().hex}"
    # Servers that store objects in folders may swap the last two: "-" sorts before "/".
    keys = [f"{folder}-a", f"{folder}-b/a", f"{folder}/a"]
    try:
        with _deleted_afterwards(store, keys):
            problem = _broken_promise(store, keys)
        if problem is None and store.head(keys[0]) is not None:
            problem = "a deleted object is still there"
    except StoreUnavailableError:
        raise
    except StorageError as error:
        raise StoreUnavailableError(f"{store.url} failed the probe: {error}") from error
    if problem is not None:
        raise StoreUnavailableError(f"{store.url} failed the probe: {problem}; use another server")
    return store


def probe_replacing(store: ObjectStore) -> None:
    """Check that `put_over` replaces only the object that was read; raises like `probe_store`."""
    key = f"{SCRATCH}{uuid4().hex}"
    with _deleted_afterwards(store, [key]):
        store.put(key, b"first")
        tag = store.get_tagged(key)[1]
        if not store.put_over(key, b"second", tag):
            problem = "put_over refused to replace the object that was read"
        elif store.put_over(key, b"third", tag):
            problem = "put_over replaced another object than was read (If-Match is not honoured)"
        else:
            return
    raise StoreUnavailableError(f"{store.url} failed the probe: {problem}; use another server")


@contextlib.contextmanager
def _deleted_afterwards(store: ObjectStore, keys: Sequence[str]) -> Iterator[None]:
    """Delete the scratch objects at the end; a deletion error never hides an earlier error.

    If they cannot be deleted, none are created: a service that is not ready probes every 2 s.
    """
    store.delete_many(keys)
    try:
        yield
    except BaseException:
        with contextlib.suppress(StorageError):
            store.delete_many(keys)
        raise
    store.delete_many(keys)


def _broken_promise(store: ObjectStore, keys: Sequence[str]) -> str | None:
    key, *others = keys
    if not store.put_once(key, b"first"):
        return "put_once did not create a new object"
    if store.put_once(key, b"second"):
        return "put_once replaced an object (If-None-Match is not honoured)"
    if store.get(key) != b"first":
        return "an object was changed by a put_once that lost"
    if [info.key for info in store.list(key)] != [key]:
        return "a written object is not listed"
    for other in others:
        store.put(other, b"")
    if [info.key for info in store.list(key.removesuffix("-a"), after=key)] != others:
        return "objects are not listed in key order, or the listing leaves some out"
    try:
        store.get(f"{key}-missing")
    except ObjectNotFoundError:
        return None
    return "an object that does not exist was read"
