from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from rlaif.storage.file import FileStore
from rlaif.storage.ports import InvalidKeyError, ObjectInfo, StoreUnavailableError
from rlaif.storage.probe import probe_store, probed


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
    def get(self, key: str) -> bytes:
        return b"first"


class AcceptsDots(FileStore):
    def put_once(self, key: str, data: bytes, *, content_type: str = "") -> bool:
        try:
            return super().put_once(key, data)
        except InvalidKeyError:
            return True


class KeepsDeleted(FileStore):
    def delete_many(self, keys: Sequence[str]) -> None:
        pass


def test_a_good_store_passes_and_is_left_clean(file_store: FileStore) -> None:
    probe_store(file_store)
    assert list(file_store.list()) == []


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (LastWriterWins, "If-None-Match is not honoured"),
        (NeverCreates, "did not create"),
        (SaysLostButWrites, "changed by a put_once that lost"),
        (ListsNothing, "not listed"),
        (ListsByFolder, "key order"),
        (InventsObjects, "does not exist was read"),
        (AcceptsDots, 'key with ".." was accepted'),
        (KeepsDeleted, "still there"),
    ],
)
def test_a_broken_promise_is_named_and_the_store_is_left_clean(
    tmp_path: Path, kind: type[FileStore], reason: str
) -> None:
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


def test_a_probed_store_is_the_store_itself_or_an_error(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    assert probed(store) is store
    with pytest.raises(StoreUnavailableError, match="not listed"):
        probed(ListsNothing(tmp_path))
