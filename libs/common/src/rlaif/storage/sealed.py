"""Reads objects of a known digest: the bytes that were stored, or an error."""

import hashlib

from rlaif.storage.ports import ObjectCorruptError, ObjectNotFoundError, ObjectStore


def read(store: ObjectStore, key: str, sha256: str, *, cap: int) -> bytes:
    """The object's bytes, which have the digest; more than `cap` bytes are not fetched. Blocks."""
    data = read_capped(store, key, cap=cap)
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise ObjectCorruptError(f"{key} has the SHA-256 digest {found[:12]}, not {sha256[:12]}")
    return data


def read_capped(store: ObjectStore, key: str, *, cap: int) -> bytes:
    """The object's bytes, at most `cap`, whose digest the caller checks, or is unknown. Blocks."""
    info = store.head(key)
    if info is None:
        raise ObjectNotFoundError(f"{store.url} has no object {key!r}")
    if info.size_bytes > cap:
        raise ObjectCorruptError(f"{key} has {info.size_bytes} bytes, more than {cap}")
    return store.get(key)
