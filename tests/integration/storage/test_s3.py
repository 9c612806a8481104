"""What only a server can show: credentials, content types, pages, errors, crashes."""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import httpx
import pytest

from rlaif.servers.seaweedfs import HOST, find_weed
from rlaif.storage.open import S3Credentials
from rlaif.storage.ports import ObjectNotFoundError, ObjectStore, StoreUnavailableError
from rlaif.storage.s3 import S3Store
from rlaif.testing.servers.s3_server import S3Server, running_s3_server


def _store(given: S3Credentials, bucket: str = "zelda-episodes", attempts: int = 2) -> S3Store:
    return S3Store(
        bucket,
        endpoint_url=given.endpoint_url,
        access_key=given.access_key,
        secret_key=given.secret_key,
        attempts=attempts,
    )


def test_an_object_keeps_its_content_type(s3: S3Credentials) -> None:
    store = _store(s3)
    store.put("a b/é.json", b"{}", content_type="application/json")
    stored = store._client.head_object(Bucket="zelda-episodes", Key="a b/é.json")
    assert stored["ContentType"] == "application/json"


def test_a_wrong_secret_is_refused_with_the_setting_to_correct(s3: S3Credentials) -> None:
    store = _store(replace(s3, secret_key="wrong"))
    with pytest.raises(StoreUnavailableError, match="S3_SECRET_KEY"):
        store.put("a", b"x")
    with pytest.raises(StoreUnavailableError, match="403"):
        store.head("a")


def test_a_missing_bucket_is_not_taken_for_a_missing_object(s3: S3Credentials) -> None:
    store = _store(s3, "no-such-bucket")
    for use in (
        lambda: store.put("a", b"x"),
        lambda: store.put_once("a", b"x"),
        lambda: store.get("a"),
        lambda: list(store.list()),
        lambda: store.delete_many(["a"]),
    ):
        with pytest.raises(StoreUnavailableError, match="create the bucket"):
            use()


@pytest.mark.parametrize("part", ["s3", "master", "volume", "filer"])
@pytest.mark.parametrize("origin", [{}, {"Origin": "http://evil.example", "Host": "evil.example"}])
def test_no_port_takes_or_gives_objects_without_a_signature(
    s3_server: S3Server, part: str, origin: dict[str, str]
) -> None:
    """A process of this machine, or a page that a browser on it shows."""
    store = _store(s3_server.credentials)
    store.put("known", b"x" * 300_000)
    address = f"http://{HOST}:{getattr(s3_server.recipe.ports, part)}"
    needles = [f"/{volume},99999901637037d6" for volume in range(1, 9)]
    objects = ["/zelda-episodes/known", "/buckets/zelda-episodes/known"]
    with httpx.Client(base_url=address, headers=origin, trust_env=False) as client:
        for path in (*objects, *needles):
            for method in ("GET", "PUT", "POST", "DELETE"):
                files = {"file": b"forged"} if method == "POST" else None
                answer = client.request(method, path, files=files)
                assert 400 <= answer.status_code < 500, (method, path, answer.text[:200])
    assert store.get("known") == b"x" * 300_000


def test_a_bucket_is_made_once_and_kept(s3: S3Credentials) -> None:
    store = _store(s3, "made-here")
    store.ensure_bucket()
    store.put("a", b"x")
    store.ensure_bucket()
    assert store.get("a") == b"x"


def test_there_is_room_for_many_buckets_whatever_the_disk_has_free(s3_server: S3Server) -> None:
    ports = s3_server.recipe.ports
    listed = subprocess.run(
        [find_weed(), "shell", f"-master={HOST}:{ports.master}", f"-filer={HOST}:{ports.filer}"],
        input="volume.list\n",
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    ).stdout
    most = re.search(r"Topology .*?\(volume:\d+/(\d+)", listed)
    assert most is not None, listed
    assert int(most[1]) >= 1_000  # each bucket takes one volume at least


def test_a_server_that_is_away_is_reported_within_seconds() -> None:
    store = _store(S3Credentials("http://127.0.0.1:1", "key", "secret"))
    for use in (lambda: store.get("a"), lambda: store.head("a"), lambda: store.put_once("a", b"")):
        with pytest.raises(StoreUnavailableError, match="Could not connect"):
            use()


def test_a_list_of_several_pages_is_complete_and_in_order(episodes_store, monkeypatch):
    keys = sorted(f"e{n % 3}{'-x' if n % 2 else ''}/{n:02d}" for n in range(24))
    for key in keys:
        episodes_store.put(key, b"")
    whole = episodes_store._list_page

    def small_page(prefix: str, more: dict[str, object]) -> object:
        return whole(prefix, {"MaxKeys": 5} | more)

    monkeypatch.setattr(episodes_store, "_list_page", small_page)
    assert [info.key for info in episodes_store.list()] == keys
    assert [info.key for info in episodes_store.list(after=keys[7])] == keys[8:]


def test_a_scan_takes_no_more_pages_than_are_looked_at_and_leaves_nothing_out(
    episodes_store, monkeypatch
):
    keys = [f"scores/config/e{n % 3}-{n:02d}.json" for n in range(24)]
    for key in keys:
        episodes_store.put(key, b"")
    whole, pages = episodes_store._list_page, []

    def small_page(prefix: str, more: dict[str, object]) -> object:
        pages.append(prefix)
        return whole(prefix, {"MaxKeys": 5} | more)

    monkeypatch.setattr(episodes_store, "_list_page", small_page)
    scan = episodes_store.scan("scores/")
    assert [next(scan).key for _ in range(5)]
    assert len(pages) == 1
    episodes_store.put("scores/config/e9-late.json", b"")
    assert len(list(scan)) == 24 + 1 - 5, "what comes later in the order is found, too"
    assert sorted(info.key for info in episodes_store.scan("scores/config/e1")) == keys[1::3]


def test_a_server_that_lists_out_of_order_is_not_believed(episodes_store, s3):
    for key in ("a/x", "a-b"):
        episodes_store.put(key, b"")
    store = _store(s3)
    store._by_folder = False  # as if it had not said that it is SeaweedFS
    with pytest.raises(StoreUnavailableError, match="key order"):
        list(store.list())


def test_a_key_that_begins_another_is_never_reported_as_existing(episodes_store):
    episodes_store.put("folder/a", b"x")
    with pytest.raises(StoreUnavailableError, match="is the key a prefix of another"):
        episodes_store.put_once("folder", b"x")
    assert episodes_store.head("folder") is None


def test_deletes_go_in_batches_and_name_what_failed(episodes_store, monkeypatch):
    batches: list[int] = []

    def answer(keys: list[str]) -> object:
        batches.append(len(keys))
        return (
            {"Errors": [{"Key": keys[0], "Code": "Busy", "Message": "later"}]} if keys[1:] else {}
        )

    monkeypatch.setattr(episodes_store, "_delete", answer)
    episodes_store.delete_many(["only"])
    monkeypatch.setattr("rlaif.storage.s3.DELETE_BATCH", 1)
    episodes_store.delete_many(["a", "b", "c"])
    monkeypatch.setattr("rlaif.storage.s3.DELETE_BATCH", 2)
    with pytest.raises(StoreUnavailableError, match=r"1 of 2 keys.*'a'.*Busy later"):
        episodes_store.delete_many(["a", "b", "c"])
    assert batches == [1, 1, 1, 1, 2]


@pytest.fixture
def own_server() -> Iterator[S3Server]:
    with running_s3_server() as server:
        yield server


def test_acknowledged_writes_survive_a_crash_of_the_server(own_server: S3Server) -> None:
    own_server.recipe.turn_on_fsync(find_weed())
    store = _store(own_server.credentials)
    for number in range(20):
        assert store.put_once(f"k/{number:02d}", b"%d" % number)
    own_server.kill()
    with pytest.raises(StoreUnavailableError):
        store.get("k/00")
    own_server.start()
    assert [store.get(info.key) for info in store.list("k/")] == [b"%d" % n for n in range(20)]
    assert store.put_once("k/00", b"again") is False
    with pytest.raises(ObjectNotFoundError):
        store.get("k/20")


def test_a_page_of_a_large_bucket_reads_only_the_folders_on_its_way(
    episodes_store: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for episode in range(10):
        for segment in range(3):
            for name in ("manifest.json", "frames/0.png", "frames/1.png"):
                episodes_store.put(f"ep-{episode}/seg-{segment}/{name}", b"x")
    assert isinstance(episodes_store, S3Store)
    list_page = episodes_store._list_page
    read: list[str] = []

    def counted(*arguments: Any) -> Any:
        page = list_page(*arguments)
        read.extend(row["Key"] for row in page.get("Contents", ()))
        return page

    monkeypatch.setattr(episodes_store, "_list_page", counted)
    found = list(islice(episodes_store.list(after="ep-4/seg-1/frames/0.png"), 2))
    assert [info.key for info in found] == ["ep-4/seg-1/frames/1.png", "ep-4/seg-1/manifest.json"]
    assert len(set(read) - {info.key for info in found}) <= 2
