"""Asks a store, before work begins, whether it keeps the promises of the port.

Some servers ignore `If-None-Match` and let every writer win. With such a server two exports of one
segment could both believe they were first, so the service must not start on it.
"""

from uuid import uuid4

from rlaif.storage.ports import (
    InvalidKeyError,
    ObjectNotFoundError,
    ObjectStore,
    StorageError,
    StoreUnavailableError,
)

SCRATCH = "probe/"
"""Prefix of the scratch keys; they are deleted again."""


def probe_store(store: ObjectStore) -> None:
    """Write, read, list and delete a scratch object.

    Needs the rights of a writer. Two probes at once do not disturb each other.

    Raises:
        StoreUnavailableError: The store did not answer, or broke a promise; the text says which.
    """
    key = f"{SCRATCH}{uuid4().hex}"
    try:
        try:
            problem = _broken_promise(store, key)
        finally:
            store.delete_many([key, *_siblings(key)])
        if problem is None and store.head(key) is not None:
            problem = "a deleted object is still there"
    except StoreUnavailableError:
        raise
    except StorageError as error:
        raise StoreUnavailableError(f"{store.url} failed the probe: {error}") from error
    if problem is not None:
        raise StoreUnavailableError(f"{store.url} failed the probe: {problem}; use another server")


def probe_replacing(store: ObjectStore) -> None:
    """See that an object is replaced only if it is the one that was read; on a scratch object.

    Raises:
        StoreUnavailableError: The store did not answer, or does not honour `If-Match`.
    """
    key = f"{SCRATCH}{uuid4().hex}"
    try:
        store.put(key, b"first")
        tag = store.get_tagged(key)[1]
        if not store.put_over(key, b"second", tag):
            problem = "put_over refused to replace the object that was read"
        elif store.put_over(key, b"third", tag):
            problem = "put_over replaced another object than was read (If-Match is not honoured)"
        else:
            return
    finally:
        store.delete_many([key])
    raise StoreUnavailableError(f"{store.url} failed the probe: {problem}; use another server")


def probed(store: ObjectStore) -> ObjectStore:
    """The store itself, after `probe_store`; raises what that raises."""
    probe_store(store)
    return store


def _siblings(key: str) -> list[str]:
    # Servers that keep objects in folders tend to mix these two up: "-" is before "/".
    return [f"{key}-a", f"{key}/a"]


def _broken_promise(store: ObjectStore, key: str) -> str | None:
    if not store.put_once(key, b"first"):
        return "put_once did not create a new object"
    if store.put_once(key, b"second"):
        return "put_once replaced an object (If-None-Match is not honoured)"
    if store.get(key) != b"first":
        return "an object was changed by a put_once that lost"
    if [info.key for info in store.list(key)] != [key]:
        return "a written object is not listed"
    siblings = _siblings(key)
    for sibling in siblings:
        store.put(sibling, b"")
    if [info.key for info in store.list(key, after=key)] != siblings:
        return "objects are not listed in key order, or the listing leaves some out"
    try:
        store.get(f"{key}/missing")
    except ObjectNotFoundError:
        pass
    else:
        return "an object that does not exist was read"
    try:
        store.put_once(f"{SCRATCH}../{key}", b"")
    except InvalidKeyError:
        return None
    return 'a key with ".." was accepted'
