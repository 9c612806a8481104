"""What every object store promises: on files, a real S3 server, and a stub of each offered one."""

import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlaif.storage import sealed
from rlaif.storage.bounds import size_limit
from rlaif.storage.open import open_store
from rlaif.storage.ports import (
    InvalidKeyError,
    ObjectCorruptError,
    ObjectNotFoundError,
    ObjectStore,
)
from rlaif.storage.probe import probe_replacing, probe_store

REAL = {"file": "file_store", "s3": "episodes_store"}


@pytest.fixture(params=[*REAL, "aws", "minio", "ceph", "noobaa"])
def store(request: pytest.FixtureRequest, offered: Any, run_stub: Any) -> Iterator[ObjectStore]:
    if request.param in REAL:
        yield request.getfixturevalue(REAL[request.param])
        return
    with run_stub(offered[request.param]) as stub:
        yield open_store("s3://zelda-episodes", stub.credentials)


@pytest.fixture(params=REAL)
def nesting_store(request: pytest.FixtureRequest) -> ObjectStore:
    """A store where a key may begin another object's key, which the product does not need."""
    found: ObjectStore = request.getfixturevalue(REAL[request.param])
    return found


def _keys(store: ObjectStore, prefix: str = "", *, after: str = "") -> list[str]:
    return [info.key for info in store.list(prefix, after=after)]


def test_an_object_is_read_as_it_was_written(store: ObjectStore) -> None:
    store.put("a/b.json", b"{}", content_type="application/json")
    assert store.get("a/b.json") == b"{}"
    store.put("empty", b"")
    assert store.get("empty") == b""


def test_put_replaces(store: ObjectStore) -> None:
    store.put("a", b"old")
    store.put("a", b"new")
    assert store.get("a") == b"new"


def test_put_once_creates_and_then_changes_nothing(store: ObjectStore) -> None:
    assert store.put_once("a", b"first") is True
    assert store.put_once("a", b"second") is False
    assert store.get("a") == b"first"


def test_an_object_of_determined_content_is_repaired_and_otherwise_written_once(
    store: ObjectStore,
) -> None:
    assert sealed.put(store, "a", b"content")
    assert not sealed.put(store, "a", b"content")
    store.put("a", b"CONTENT")
    assert sealed.put(store, "a", b"content")
    assert store.get("a") == b"content"


def test_put_once_can_create_again_after_a_delete(store: ObjectStore) -> None:
    store.put_once("a", b"first")
    store.delete_many(["a"])
    assert store.put_once("a", b"second") is True


def test_exactly_one_of_eight_writers_wins(store: ObjectStore) -> None:
    starts = [Barrier(8) for _ in range(10)]

    def write(number: int) -> bool:
        race, me = divmod(number, 8)
        starts[race].wait(timeout=60)
        return store.put_once(f"race/{race}", b"%d" % me)

    # Half of the races at a time: SeaweedFS lets a writer that finds the key locked wait a second.
    with ThreadPoolExecutor(40) as pool:
        created = list(pool.map(write, range(80)))
    for race in range(10):
        won = created[race * 8 : race * 8 + 8]
        assert won.count(True) == 1
        assert store.get(f"race/{race}") == b"%d" % won.index(True)


def test_put_over_replaces_the_object_that_was_read_and_no_other(store: ObjectStore) -> None:
    store.put("a", b"first")
    data, tag = store.get_tagged("a")
    assert data == b"first"
    assert store.put_over("a", b"second", tag) is True
    assert store.put_over("a", b"third", tag) is False
    assert store.get("a") == b"second"
    probe_replacing(store)


def test_put_over_makes_no_object_and_brings_none_back(store: ObjectStore) -> None:
    store.put("a", b"first")
    tag = store.get_tagged("a")[1]
    store.delete_many(["a"])
    assert store.put_over("a", b"second", tag) is False
    assert store.head("a") is None
    with pytest.raises(ObjectNotFoundError):
        store.get_tagged("a")


def test_of_eight_who_replace_what_they_read_exactly_one_does(store: ObjectStore) -> None:
    starts = [Barrier(8) for _ in range(10)]
    tags = []
    for race in range(10):
        store.put(f"race/{race}", b"before")
        tags.append(store.get_tagged(f"race/{race}")[1])

    def write(number: int) -> bool:
        race, me = divmod(number, 8)
        starts[race].wait(timeout=60)
        return store.put_over(f"race/{race}", b"%d" % me, tags[race])

    with ThreadPoolExecutor(40) as pool:
        replaced = list(pool.map(write, range(80)))
    for race in range(10):
        won = replaced[race * 8 : race * 8 + 8]
        assert won.count(True) == 1
        assert store.get(f"race/{race}") == b"%d" % won.index(True)


def test_a_missing_object_is_not_found(store: ObjectStore) -> None:
    store.put("a/b", b"x")
    for key in ("missing", "a", "a/b/c"):
        with pytest.raises(ObjectNotFoundError, match=key):
            store.get(key)
        assert store.head(key) is None


def test_head_reports_size_and_time(store: ObjectStore) -> None:
    before = datetime.now(UTC) - timedelta(seconds=2)  # servers round to seconds
    store.put("a", b"12345")
    found = store.head("a")
    assert found is not None
    assert (found.key, found.size_bytes) == ("a", 5)
    assert before <= found.modified_at <= datetime.now(UTC) + timedelta(seconds=2)


TREE = [
    "A/b", "a", "ep 1", "ep!", "ep+1", "ep-1-2/a", "ep-1.json", "ep-1/a", "ep-1/b/c", "ep/x",
    "epz", "q%2Fr", "z/1.d/y", "z/1/y", "é/x", "😀",
]  # fmt: skip


def test_the_list_is_in_key_order_whatever_the_folders_are(store: ObjectStore) -> None:
    assert sorted(TREE) == TREE
    for key in reversed(TREE):
        store.put(key, key.encode())
    assert _keys(store) == TREE
    for prefix in ("ep", "ep-1", "ep-1/", "ep-1/a", "é", "z/1", "z/1.d", "none", ""):
        assert _keys(store, prefix) == [key for key in TREE if key.startswith(prefix)]
        assert sorted(info.key for info in store.scan(prefix)) == _keys(store, prefix)
    for after in ("ep", "ep-", "ep-1", "ep-1.", "ep-1/", "ep-1/a", "z/1.d", "zz", "😀"):
        assert _keys(store, after=after) == [key for key in TREE if key > after]
    assert _keys(store, "ep-1", after="ep-1.json") == ["ep-1/a", "ep-1/b/c"]
    assert {info.key: info.size_bytes for info in store.list()} == {
        key: len(key.encode()) for key in TREE
    }


def test_a_key_may_be_the_beginning_of_another(nesting_store: ObjectStore) -> None:
    store = nesting_store
    tree = ["a", "a/b", "a/b/c", "ep-1", "ep-1-2/a", "ep-1/a", "ep-1/a/z", "z/1.d", "z/1.d/y"]
    for key in reversed(tree):
        store.put(key, key.encode())
    assert _keys(store) == tree
    assert _keys(store, "ep-1/a") == ["ep-1/a", "ep-1/a/z"]
    assert [store.get(key) for key in tree] == [key.encode() for key in tree]
    store.delete_many(["a/b"])
    assert _keys(store, "a") == ["a", "a/b/c"]


def test_delete_ignores_what_does_not_exist(store: ObjectStore) -> None:
    store.put("a", b"x")
    store.put("b", b"x")
    store.delete_many([])
    store.delete_many(["a", "missing", "miss/ing"])
    assert _keys(store) == ["b"]


def test_a_key_that_cannot_name_an_object_is_refused_everywhere(store):
    key = "../a"
    for use in (
        lambda: store.put(key, b""),
        lambda: store.put_once(key, b""),
        lambda: store.get(key),
        lambda: store.head(key),
        lambda: store.delete_many([key]),
    ):
        with pytest.raises(InvalidKeyError):
            use()
    assert _keys(store) == []


def test_an_object_that_is_too_large_for_its_kind_is_not_read(store: ObjectStore) -> None:
    key = "rooms/r-1/0-1.png"
    store.put(key, bytes(size_limit(key)))
    assert len(store.get(key)) == size_limit(key)
    store.put(key, bytes(size_limit(key) + 1))
    for read in (store.get, store.get_tagged):
        with pytest.raises(ObjectCorruptError, match=f"{size_limit(key) + 1} bytes, more than"):
            read(key)
    store.put("other", b"still read")
    assert store.get("other") == b"still read"


def test_a_big_object_arrives_whole(store: ObjectStore) -> None:
    data = hashlib.sha256(b"seed").digest() * (5 * 1024 * 1024 // 32)
    assert store.put_once("big", data)
    assert hashlib.sha256(store.get("big", len(data))).digest() == hashlib.sha256(data).digest()


def test_many_threads_share_one_store(store: ObjectStore) -> None:
    def use(number: int) -> bool:
        store.put(f"t/{number}", b"%d" % number)
        return store.get(f"t/{number}") == b"%d" % number

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(use, range(48)))
    assert len(_keys(store, "t/")) == 48


def test_it_passes_the_start_up_probes(store: ObjectStore) -> None:
    probe_store(store)
    probe_replacing(store)
    assert _keys(store) == []


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(after=st.text(max_size=1_000).filter(str.isprintable))
def test_a_list_begins_after_any_text_that_can_be_shown(store: ObjectStore, after: str) -> None:
    """It comes from a cursor, which a client may have made up."""
    for key in ("a/1", "a/2"):
        store.put(key, b"")
    assert _keys(store, "a/", after=after) == [key for key in ("a/1", "a/2") if key > after]
