"""Captures leave the spool only once they are stored and announced."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from rlaif.bus.errors import BusUnavailableError
from rlaif.contracts.events import SegmentCaptured
from rlaif.contracts.game.captures import Capture
from rlaif.storage import keys
from rlaif.storage.file import FileStore
from rlaif.testing.publisher import RecordingPublisher
from rlaif.testing.waiting import eventually
from rlaif.trainer.run_folder.spool import Spool, SpooledCapture
from rlaif.trainer.service.uploader import CaptureUploader

SpooledFactory = Callable[[str], SpooledCapture]


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    spool = Spool(tmp_path / "spool")
    spool.prepare()
    return spool


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "store")


@pytest.fixture
def bus() -> RecordingPublisher:
    return RecordingPublisher()


async def test_what_is_announced_can_be_read(
    spool: Spool, store: FileStore, bus: RecordingPublisher, spooled: SpooledFactory
):
    spool.write(spooled("s-1"))
    assert await CaptureUploader(lambda: [spool], store, bus).upload_waiting() == 1
    (event,) = bus.published
    assert isinstance(event, SegmentCaptured)
    assert Capture.model_validate_json(store.get(event.capture_key)) == spooled("s-1").capture
    assert store.get(event.keyframe_key) == spooled("s-1").keyframe
    assert spool.count() == 0


@pytest.mark.parametrize("damage", [b"\x28", b"\x28\xb5\x2f\xfd\nBINARY\n"], ids=["cut", "changed"])
async def test_a_damaged_keyframe_is_repaired_by_the_next_capture_that_starts_there(
    spool: Spool, store: FileStore, bus: RecordingPublisher, spooled: SpooledFactory, damage: bytes
):
    uploader = CaptureUploader(lambda: [spool], store, bus)
    spool.write(spooled("s-1"))
    await uploader.upload_waiting()
    key = keys.keyframe(spooled("s-1").capture.keyframe_sha256)
    store.put(key, damage)
    spool.write(spooled("s-2"))
    await uploader.upload_waiting()
    assert store.get(key) == spooled("s-2").keyframe


async def test_nothing_leaves_the_spool_while_the_bus_is_away(
    spool: Spool, store: FileStore, bus: RecordingPublisher, spooled: SpooledFactory
):
    spool.write(spooled("s-1"))
    uploader = CaptureUploader(lambda: [spool], store, bus)
    bus.error = BusUnavailableError("no server")
    with pytest.raises(BusUnavailableError):
        await uploader.upload_waiting()
    assert spool.count() == 1
    bus.error = None
    assert await uploader.upload_waiting() == 1, "the objects of the first try do no harm"
    assert len(bus.published) == 1


async def test_a_file_that_is_no_capture_does_not_hold_up_the_others(
    spool: Spool, store: FileStore, bus: RecordingPublisher, spooled: SpooledFactory
):
    (spool.directory / "s-0.capture").write_bytes(b"{}")
    spool.write(spooled("s-1"))
    await CaptureUploader(lambda: [spool], store, bus).upload_waiting()
    assert len(bus.published) == 1
    assert spool.count() == 0
    assert (spool.directory / "s-0.unreadable").exists(), "kept for whoever looks into it"


async def test_a_file_that_the_disk_does_not_give_does_not_hold_up_the_others(
    spool: Spool, store: FileStore, bus: RecordingPublisher, spooled: SpooledFactory
):
    """A folder in the place of a capture: what reading it gives is an OSError, as a bad block's."""
    (spool.directory / "s-0.capture").mkdir()
    spool.write(spooled("s-1"))
    uploader = CaptureUploader(lambda: [spool], store, bus)
    bus.error = BusUnavailableError("no server")
    task = asyncio.create_task(uploader.run())
    await eventually(lambda: uploader.outage == "no server", "the outage of NATS is reported")
    bus.error = None
    await eventually(lambda: len(bus.published) == 1, "the other goes out")
    await eventually(lambda: "s-0.capture" in (uploader.outage or ""), "it is said")
    (spool.directory / "s-0.capture").rmdir()
    await eventually(lambda: uploader.outage is None, "and that it is over")
    assert not task.done()
    task.cancel()
