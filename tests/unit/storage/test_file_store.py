import errno
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlaif.storage.file import FileStore
from rlaif.storage.keys import check_key
from rlaif.storage.ports import InvalidKeyError, StoreUnavailableError
from rlaif.storage.probe import probe_store


def _valid(key: str) -> bool:
    try:
        check_key(key)
    except InvalidKeyError:
        return False
    return True


_keys = st.lists(
    st.text(st.sampled_from("ab.d-%~é/ "), min_size=1, max_size=8).filter(_valid),
    unique=True,
    max_size=8,
)


def test_keys_become_folders_and_files_that_a_person_can_find(tmp_path: Path) -> None:
    FileStore(tmp_path).put("captures/ep-1/seg-1.capture", b"x")
    assert (tmp_path / "captures.d/ep-1.d/seg-1.capture").read_bytes() == b"x"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(keys=_keys, prefix=st.text("ab./-d", max_size=3), after=st.text("ab./-d", max_size=3))
def test_any_set_of_keys_is_kept_apart_and_listed_in_order(tmp_path_factory, keys, prefix, after):
    store = FileStore(tmp_path_factory.mktemp("store"))
    for key in keys:
        assert store.put_once(key, key.encode())
    assert [info.key for info in store.list()] == sorted(keys)
    assert all(store.get(key) == key.encode() for key in keys)
    expected = sorted(key for key in keys if key.startswith(prefix) and key > after)
    assert [info.key for info in store.list(prefix, after=after)] == expected


def test_a_symbolic_link_to_a_folder_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    store = FileStore(tmp_path / "root")
    (tmp_path / "root/link.d").symlink_to(outside)
    with pytest.raises(StoreUnavailableError, match="symbolic link"):
        store.put("link/a", b"x")
    with pytest.raises(StoreUnavailableError, match="symbolic link"):
        store.get("link/a")
    assert list(outside.iterdir()) == []


def test_a_symbolic_link_to_a_file_is_neither_read_nor_listed_nor_written_through(tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(b"secret")
    store = FileStore(tmp_path / "root")
    (tmp_path / "root/a").symlink_to(secret)
    with pytest.raises(StoreUnavailableError):
        store.get("a")
    assert list(store.list()) == []
    assert store.put_once("a", b"x") is False
    store.put("a", b"mine")
    assert store.get("a") == b"mine"
    assert secret.read_bytes() == b"secret"


def test_a_folder_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(StoreUnavailableError, match="cannot use the folder"):
        FileStore(blocked / "below")


def test_a_write_is_flushed_before_it_is_acknowledged(tmp_path, monkeypatch):
    flushed: list[str] = []
    real = os.fsync

    def spy(descriptor: int) -> None:
        flushed.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", spy)
    store = FileStore(tmp_path)
    store.put_once("a/b", b"x")
    root = str(tmp_path.resolve())
    assert flushed[0] == root  # the new folder's name
    assert "/%tmp/" in flushed[1]
    assert flushed[2] == f"{root}/a.d"


def test_a_disk_that_fills_while_it_writes_keeps_no_part_of_the_object(tmp_path, monkeypatch):
    store = FileStore(tmp_path)

    def fail(path: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("rlaif.storage.file.to_disk", fail)
    with pytest.raises(StoreUnavailableError, match="No space left"):
        store.put("a", b"1")
    assert list((tmp_path / "%tmp").iterdir()) == []
    assert store.head("a") is None


def test_a_file_system_without_hard_links_is_named(tmp_path, monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    store = FileStore(tmp_path)
    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(StoreUnavailableError, match="without hard links"):
        probe_store(store)
    assert list(store.list()) == []


def test_what_a_killed_writer_left_is_dropped_after_an_hour(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    store.put("a", b"1")
    assert store.put_over("a", b"2", store.get_tagged("a")[1])
    old, new = (tmp_path / "%tmp" / (letter * 32) for letter in "ab")
    for path in (old, new):
        path.write_bytes(b"half of")
    os.utime(old, (0, 0))
    FileStore(tmp_path)
    assert {path.name for path in (tmp_path / "%tmp").iterdir()} == {new.name, "lock"}
    assert store.get("a") == b"2"
