"""A sealed object is read as it was stored, or not at all."""

from dataclasses import replace
from hashlib import md5, sha256

import pytest

from rlaif.storage import sealed
from rlaif.storage.file import FileStore
from rlaif.storage.ports import ObjectCorruptError, ObjectInfo, ObjectNotFoundError

DATA = b"what was stored"
DIGEST = sha256(DATA).hexdigest()


def test_one_changed_byte_is_noticed(file_store: FileStore) -> None:
    file_store.put("a", DATA.upper())
    with pytest.raises(ObjectCorruptError, match=f"a has the SHA-256 digest .*, not {DIGEST[:12]}"):
        sealed.read(file_store, "a", DIGEST)


def test_a_missing_object_is_named(file_store: FileStore) -> None:
    with pytest.raises(ObjectNotFoundError, match="has no object 'a'"):
        sealed.read(file_store, "a", DIGEST)


@pytest.mark.parametrize("found", [b"", b"what was", DATA.upper(), DATA * 2])
def test_a_damaged_object_is_replaced(file_store: FileStore, found: bytes) -> None:
    file_store.put("a", found)
    assert sealed.put(file_store, "a", DATA)
    assert file_store.get("a") == DATA


def test_a_whole_object_is_not_written_again(file_store: FileStore) -> None:
    assert sealed.put(file_store, "a", DATA)
    assert not sealed.put(file_store, "a", DATA)


def test_a_digest_that_the_store_knows_saves_the_download(file_store: FileStore) -> None:
    class Knows(FileStore):
        def head(self, key: str) -> ObjectInfo | None:
            info = super().head(key)
            return info and replace(info, md5=md5(DATA, usedforsecurity=False).hexdigest())

        def get(self, key: str, max_bytes: int | None = None) -> bytes:
            raise AssertionError("fetched")

    file_store.put("a", DATA)
    assert not sealed.put(Knows(file_store._root), "a", DATA)
