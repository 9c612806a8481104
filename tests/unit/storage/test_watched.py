"""A watched store knows whether it works: from its calls, and from a probe while there are none."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rlaif.storage.file import FileStore
from rlaif.storage.ports import ObjectInfo, ObjectNotFoundError, StoreUnavailableError
from rlaif.storage.watched import WatchedStore
from rlaif.testing.waiting import PATIENCE_SECONDS, eventually


class Faulty(FileStore):
    """A store that can be away, full or hung."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.away = self.full = False
        self.answering = threading.Event()
        self.answering.set()
        self.probes = 0

    def head(self, key: str) -> ObjectInfo | None:
        self.probes += 1
        self.answering.wait(PATIENCE_SECONDS)
        if self.away:
            raise StoreUnavailableError("connection refused")
        return super().head(key)

    def put(self, key: str, data: bytes, *, content_type: str = "") -> None:
        if self.full:
            raise StoreUnavailableError("no space left")
        super().put(key, data)


@pytest.fixture
def faulty(tmp_path: Path) -> Faulty:
    return Faulty(tmp_path)


@contextlib.asynccontextmanager
async def watching(store: Faulty, *, every: float = 0.01) -> AsyncIterator[WatchedStore]:
    watched = WatchedStore(store, every=every, limit=0.05)
    task = asyncio.create_task(watched.run())
    try:
        yield watched
    finally:
        store.answering.set()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_an_outage_without_any_call_is_seen_and_its_end_too(faulty: Faulty) -> None:
    async with watching(faulty) as watched:
        await eventually(lambda: watched.check() is None, "the first answer")
        faulty.away = True
        await eventually(lambda: watched.check() == "connection refused", "the reason")
        faulty.away = False
        await eventually(lambda: watched.check() is None, "the store answers")


async def test_a_hung_store_is_named_and_only_one_probe_waits_for_it(faulty: Faulty) -> None:
    async with watching(faulty) as watched:
        await eventually(lambda: watched.check() is None, "the first answer")
        faulty.answering.clear()
        await eventually(lambda: faulty.url in (watched.check() or ""), "its name")
        asked = faulty.probes
        await asyncio.sleep(0.1)
        assert faulty.probes == asked
        faulty.answering.set()
        await eventually(lambda: watched.check() is None, "it answers again")


async def test_a_full_disk_is_reported_until_a_write_succeeds_though_reads_do(
    faulty: Faulty,
) -> None:
    watched = WatchedStore(faulty)
    watched.put("a", b"1")
    faulty.full = True
    with pytest.raises(StoreUnavailableError):
        watched.put("a", b"2")
    assert watched.get("a") == b"1"
    assert watched.check() == "no space left"
    faulty.full = False
    watched.put("a", b"2")
    assert watched.check() is None


async def test_space_on_a_full_disk_is_found_without_work_and_leaves_no_object(
    faulty: Faulty,
) -> None:
    async with watching(faulty) as watched:
        faulty.full = True
        with pytest.raises(StoreUnavailableError):
            watched.put("a", b"1")
        faulty.full = False
        await eventually(lambda: watched.check() is None, "it was probed by a write")
        await eventually(lambda: list(faulty.list()) == [], "the probe is gone")


async def test_a_store_in_use_is_not_probed(faulty: Faulty) -> None:
    async with watching(faulty, every=3600) as watched:
        await eventually(lambda: faulty.probes == 1, "the first look")
        with pytest.raises(ObjectNotFoundError):
            watched.get("missing")
        assert watched.check() is None
        assert faulty.probes == 1
