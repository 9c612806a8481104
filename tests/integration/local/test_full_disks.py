"""The disk of NATS fills up under the launcher: a real file system, full to the last byte.

A process of the test holds its mount (`rlaif.testing.small_disk`).
"""

import contextlib
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from rlaif.bus.connection import connect_ready
from rlaif.bus.errors import BusError
from rlaif.contracts.events import SegmentCaptured
from rlaif.local import child as module
from rlaif.local.child import Child
from rlaif.local.places import DataDirectory, Ports
from rlaif.local.stack import Options, Stack, plan
from rlaif.testing.data.events import segment_captured
from rlaif.testing.small_disk import NO_SMALL_DISK, has_small_disk, on_small_disk
from rlaif.testing.waiting import eventually

HOLD = ("sh", "-c", "echo mounted && exec sleep 900")
RETRY = timedelta(seconds=2)

pytestmark = pytest.mark.skipif(not has_small_disk(), reason=NO_SMALL_DISK)


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    with Ports() as ports:
        yield plan(Options(tmp_path), ports)


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[int]:
    """Process id of the one that holds the mount."""
    (tmp_path / "nats/js").mkdir(parents=True)
    command = [*on_small_disk(tmp_path / "nats/js", 16), *HOLD]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"mounted\n"
        yield process.pid
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture
async def nats(stack: Stack, holder: int, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Child]:
    """The stack's NATS on that file system, under the launcher's supervision."""
    monkeypatch.setattr(module, "_CHECK_SECONDS", 1.0)
    [spec] = [each for each in stack.servers if each.name == "nats"]
    inside = (str(shutil.which("nsenter")), "-t", str(holder), "-U", "-m", "--preserve-credentials")
    child = Child(replace(spec, command=(*inside, *spec.command)), lambda *_: None)
    await child.start()
    yield child
    await child.stop(seconds=0)


async def test_nats_on_a_full_disk_is_restarted_and_has_every_acknowledged_event(
    nats: Child, holder: int, tmp_path: Path
) -> None:
    bus = await connect_ready(DataDirectory(tmp_path).addresses()["NATS_URL"], name="test")
    publisher = bus.publisher("trainer", deadline=RETRY)
    store = Path(f"/proc/{holder}/root{tmp_path}/nats/js")
    acknowledged, number = [], 0
    await publisher.publish(segment_captured("segment-before"))
    acknowledged.append("segment-before")
    ballast = store / "ballast"
    with contextlib.suppress(OSError):
        ballast.write_bytes(bytes(20 << 20))
    refused = False
    while not refused:
        number += 1
        name = f"segment-{number}"
        try:
            await publisher.publish(segment_captured(name))
        except BusError:
            refused = True
        else:
            acknowledged.append(name)
    await eventually(lambda: nats.restarts >= 1, "its restart")
    ballast.unlink()
    await eventually(nats.spec.ready, "its health")

    async def takes_events() -> bool:
        try:
            return await publisher.publish(segment_captured("segment-after")) is not None
        except BusError:
            return False

    await eventually(takes_events, "an event after the disk has room")
    stored = [event.segment_id for event in (await bus.stored(SegmentCaptured)).data]
    assert set(stored) >= {*acknowledged, "segment-after"}
    await bus.close()
