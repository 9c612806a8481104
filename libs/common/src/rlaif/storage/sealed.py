"""Reads objects whose digest is known: the bytes that were stored, or an error, never others.

nobody has the key             ObjectNotFoundError
too large, or other bytes      ObjectCorruptError
the store does not answer      StoreUnavailableError
"""

import hashlib

from rlaif.storage.ports import ObjectCorruptError, ObjectNotFoundError, ObjectStore


def read(store: ObjectStore, key: str, sha256: str, *, cap: int) -> bytes:
    """The object's bytes, which have the digest. Blocks.

    Args:
        store: Where it is.
        key: Its key.
        sha256: Digest of its bytes, 64 hexadecimal digits.
        cap: Most bytes that an object of this kind has; a larger one is not fetched.

    Raises:
        ObjectNotFoundError: No such object.
        ObjectCorruptError: It is too large, or has another digest.
        StoreUnavailableError: The store did not answer.
    """
    data = read_capped(store, key, cap=cap)
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise ObjectCorruptError(f"{key} has the SHA-256 digest {found[:12]}, not {sha256[:12]}")
    return data


def read_capped(store: ObjectStore, key: str, *, cap: int) -> bytes:
    """The object's bytes, for a digest that the caller checks, or that nobody knows. Blocks.

    Raises:
        ObjectNotFoundError: No such object.
        ObjectCorruptError: It has more than `cap` bytes; it was not fetched.
        StoreUnavailableError: The store did not answer.
    """
    info = store.head(key)
    if info is None:
        raise ObjectNotFoundError(f"{store.url} has no object {key!r}")
    if info.size_bytes > cap:
        raise ObjectCorruptError(f"{key} has {info.size_bytes} bytes, more than {cap}")
    return store.get(key)
