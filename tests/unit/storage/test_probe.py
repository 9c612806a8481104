from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from rlaif.storage.file import FileStore
from rlaif.storage.ports import ObjectInfo, StoreUnavailableError
from rlaif.storage.probe import probe_replacing, probe_store


class LastWriterWins(FileStore):
    """Ignores the condition, as some servers do with If-None-Match."""

    def put_once(self, key: str, data: bytes, *, content_type: str = "") -> bool:
        self.put(key, data)
        return True


class NeverCreates(FileStore):
    def put_once(self, key: str, data: bytes, *, content_type: str = "") -> bool:
        return False


class SaysLostButWrites(FileStore):
    def put_once(self, key: str, data: bytes, *, content_type: str = "") -> bool:
        created = super().put_once(key, data)
        self.put(key, data)
        return created


class ListsNothing(FileStore):
    def list(self, prefix: str = "", *, after: str = "") -> Iterator[ObjectInfo]:
        return iter(())


class ListsByFolder(FileStore):
    def list(self, prefix: str = "", *, after: str = "") -> Iterator[ObjectInfo]:
        return iter(sorted(super().list(prefix, after=after), key=lambda i: i.key.split("/")))


class InventsObjects(FileStore):
    def get(self, key: str, max_bytes: int | None = None) -> bytes:
        return b"first"


class KeepsDeleted(FileStore):
    def delete_many(self, keys: Sequence[str]) -> None:
        pass


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (LastWriterWins, "If-None-Match is not honoured"),
        (NeverCreates, "did not create"),
        (SaysLostButWrites, "changed by a put_once that lost"),
        (ListsNothing, "not listed"),
        (ListsByFolder, "key order"),
        (InventsObjects, "does not exist was read"),
        (KeepsDeleted, "still there"),
    ],
)
def test_a_broken_promise_is_named_and_the_store_is_left_clean(tmp_path, kind, reason):
    with pytest.raises(StoreUnavailableError, match=reason):
        probe_store(kind(tmp_path))
    if kind is not KeepsDeleted:
        assert list(FileStore(tmp_path).list()) == []


def test_the_reason_of_a_failing_store_is_passed_on(tmp_path: Path) -> None:
    class Down(FileStore):
        def put_once(self, key: str, data: bytes, *, content_type: str = "") -> bool:
            raise StoreUnavailableError("no route")

    with pytest.raises(StoreUnavailableError, match="no route"):
        probe_store(Down(tmp_path))


@pytest.mark.parametrize("probe", [probe_store, probe_replacing])
def test_a_failed_clean_up_never_hides_what_went_wrong_first(tmp_path: Path, probe: Any) -> None:
    class Down(FileStore):
        def put(self, key: str, data: bytes, *, content_type: str = "") -> None:
            raise StoreUnavailableError("a sign-in page")

        def put_once(self, key: str, data: bytes, *, content_type: str = "") -> bool:
            raise StoreUnavailableError("a sign-in page")

        def delete_many(self, keys: Sequence[str]) -> None:
            if next(deletions):
                raise StoreUnavailableError("cannot delete")

    deletions = count()
    with pytest.raises(StoreUnavailableError, match="a sign-in page"):
        probe(Down(tmp_path))


@pytest.mark.parametrize("probe", [probe_store, probe_replacing])
def test_nothing_is_stored_where_it_cannot_be_deleted(tmp_path: Path, probe: Any) -> None:
    class Keeps(FileStore):
        def delete_many(self, keys: Sequence[str]) -> None:
            raise StoreUnavailableError("AccessDenied")

    with pytest.raises(StoreUnavailableError, match="AccessDenied"):
        probe(Keeps(tmp_path))
    assert list(FileStore(tmp_path).list()) == []


def test_no_key_of_the_probe_begins_another_ones_key(tmp_path: Path) -> None:
    written: list[str] = []

    class Noting(FileStore):
        def put(self, key: str, data: bytes, *, content_type: str = "") -> None:
            written.append(key)
            super().put(key, data)

        def put_once(self, key: str, data: bytes, *, content_type: str = "") -> bool:
            written.append(key)
            return super().put_once(key, data)

        def get(self, key: str, max_bytes: int | None = None) -> bytes:
            written.append(key)
            return super().get(key, max_bytes)

    probe_store(Noting(tmp_path))
    assert not [(a, b) for a in written for b in written if b.startswith(f"{a}/")]


def test_a_store_that_keeps_its_promises_is_returned(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    assert probe_store(store) is store
