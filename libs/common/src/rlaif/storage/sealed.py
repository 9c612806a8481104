"""Reads and writes objects with a known digest; damage is detected and repaired."""

import hashlib
import logging

from rlaif.storage.ports import BINARY, ObjectCorruptError, ObjectStore

logger = logging.getLogger(__name__)


def put(store: ObjectStore, key: str, data: bytes, *, content_type: str = BINARY) -> bool:
    """Store an object whose key determines its content; False if it was stored already. Blocks.

    An object with other bytes is damaged, as every writer stores the same: it is replaced.
    """
    info = store.head(key)
    if info is not None:
        same = info.size_bytes == len(data) and (
            store.get(key) == data
            if info.md5 is None
            else info.md5 == hashlib.md5(data, usedforsecurity=False).hexdigest()
        )
        if same:
            return False
        logger.warning("%s is damaged; replacing it", key)
    store.put(key, data, content_type=content_type)
    return True


def read(store: ObjectStore, key: str, sha256: str, max_bytes: int | None = None) -> bytes:
    """The object's bytes, else ObjectCorruptError for another digest. Blocks."""
    data = store.get(key, max_bytes)
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise ObjectCorruptError(f"{key} has the SHA-256 digest {found[:12]}, not {sha256[:12]}")
    return data
