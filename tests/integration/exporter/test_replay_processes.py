"""Replays in processes of their own, and save states that no process survives."""

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from rlaif.exporter.faults import ExportFault, HungReplayError, LostReplayError
from rlaif.exporter.messages import encode
from rlaif.exporter.replayers import (
    NoReplayerError,
    ReplayerPool,
    start_request,
)
from rlaif.exporter.settings import ReplaySettings
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.service.child_process import LENGTH
from rlaif.testing.data.hanging import hanging_keyframe
from rlaif.testing.pipeline import children_of_module
from rlaif.testing.waiting import eventually


@pytest.fixture(scope="module")
def cartridge():
    return load_cartridge()


@asynccontextmanager
async def replaying(cartridge, *, grace=20.0):
    pool = ReplayerPool(cartridge, ReplaySettings(grace_seconds=grace))
    try:
        yield pool
    finally:
        await pool.close()


@pytest.fixture
async def pool(cartridge):
    async with replaying(cartridge) as made:
        yield made


@pytest.fixture
def endless(cartridge, recorded):
    """A capture whose keyframe makes the emulator hang, and that keyframe."""
    keyframe = hanging_keyframe(recorded[0].keyframe, cartridge.data)
    return recorded[0].capture.model_copy(update={"keyframe_sha256": keyframe.sha256}), keyframe


def children(parent: int | None = None) -> set[int]:
    """Processes of this one's, or of another's, that replay."""
    return children_of_module("rlaif.exporter.replay_process", parent)


def environment_of(pid: int) -> list[bytes]:
    return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")


async def test_one_process_replays_one_capture_after_the_other(pool, recorded):
    await pool.warm()
    before = children()
    for segment in recorded:
        files = await pool.replay(segment.capture, segment.keyframe.data)
        assert files.observations.endswith(segment.observations.tobytes())
    assert children() == before
    assert len(before) == 1


async def test_a_replay_process_starts_no_thread_for_each_core(pool, monkeypatch):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    await pool.warm()
    (process,) = children()
    assert b"OPENBLAS_NUM_THREADS=1" in environment_of(process)


async def test_a_replay_process_has_no_setting_and_no_secret(pool, monkeypatch):
    """It runs save states of any origin in an emulator that is written in C."""
    for name in ("NATS_URL", "RLAIF_API_TOKEN", "S3_SECRET_KEY", "GITHUB_TOKEN", "NVIDIA_API_KEY"):
        monkeypatch.setenv(name, "canary-of-the-test")
    await pool.warm()
    (process,) = children()
    found = environment_of(process)
    assert any(each.startswith(b"PATH=") for each in found)
    assert [each for each in found if b"canary-of-the-test" in each] == []


async def test_replays_at_once_have_a_process_each(pool, recorded):
    await asyncio.gather(
        *(pool.replay(each.capture, each.keyframe.data) for each in (recorded[0], recorded[1]))
    )
    assert len(children()) == 2


async def test_a_refused_capture_costs_no_process(pool, recorded):
    await pool.warm()
    before = children()
    wrong = recorded[0].capture.model_copy(update={"end_ram_sha256": "0" * 64})
    with pytest.raises(ExportFault) as refused:
        await pool.replay(wrong, recorded[0].keyframe.data)
    assert refused.value.reason == "ram_hash_mismatch"
    await pool.replay(recorded[0].capture, recorded[0].keyframe.data)
    assert children() == before


async def test_a_state_that_makes_the_emulator_hang_is_ended_and_the_next_is_replayed(
    cartridge, recorded, endless
):
    capture, hanging = endless
    async with replaying(cartridge, grace=1.0) as pool:
        await pool.warm()
        (burning,) = children()
        with pytest.raises(HungReplayError, match="did not end within"):
            await pool.replay(capture, hanging.data)
        assert burning not in children()
        files = await pool.replay(recorded[0].capture, recorded[0].keyframe.data)
        assert files.replayed_frames > 0


async def test_a_process_that_dies_under_a_replay_is_replaced(pool, recorded, endless):
    capture, hanging = endless
    await pool.warm()
    (process,) = children()
    replaying_it = asyncio.create_task(pool.replay(capture, hanging.data))
    await eventually(lambda: not pool._free and busy(process), "the replay runs")
    os.kill(process, signal.SIGSEGV)
    with pytest.raises(LostReplayError, match="SIGSEGV"):
        await replaying_it
    await pool.replay(recorded[0].capture, recorded[0].keyframe.data)


def busy(process: int) -> bool:
    """Whether it computes now."""
    return (Path("/proc") / str(process) / "stat").read_text().rsplit(")", 1)[1].split()[0] == "R"


async def test_a_process_that_died_while_it_was_free_is_replaced(pool, recorded):
    await pool.warm()
    (process,) = children()
    os.kill(process, signal.SIGKILL)
    await eventually(lambda: not pool._free[0].alive, "the pool has heard of it")
    await pool.replay(recorded[0].capture, recorded[0].keyframe.data)


async def test_a_cancelled_replay_leaves_no_process(pool, endless):
    capture, hanging = endless
    await pool.warm()
    (process,) = children()
    replaying_it = asyncio.create_task(pool.replay(capture, hanging.data))
    await eventually(lambda: not pool._free and busy(process), "the replay runs")
    replaying_it.cancel()
    await asyncio.gather(replaying_it, return_exceptions=True)
    assert children() == set()


async def test_where_no_process_starts_the_check_says_why(pool, recorded, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/none/python")
    with pytest.raises(NoReplayerError):
        await pool.replay(recorded[0].capture, recorded[0].keyframe.data)
    assert "no replay process could be started" in pool.check()
    monkeypatch.undo()
    await pool.replay(recorded[0].capture, recorded[0].keyframe.data)
    assert pool.check() is None


PARENT = """
import asyncio, sys
from pathlib import Path
from rlaif.contracts.game.captures import Capture
from rlaif.exporter.replayers import ReplayerPool
from rlaif.exporter.settings import ReplaySettings
from rlaif.game.machine.cartridges import load_cartridge

async def main():
    pool = ReplayerPool(load_cartridge(), ReplaySettings(grace_seconds=600))
    await pool.warm()
    print("warm", flush=True)
    capture = Capture.model_validate_json(Path(sys.argv[1]).read_bytes())
    await pool.replay(capture, Path(sys.argv[2]).read_bytes())

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="no signal when a parent dies: run on Linux")
async def test_a_hanging_replay_does_not_outlive_an_exporter_that_is_killed(tmp_path, endless):
    capture, hanging = endless
    (tmp_path / "capture").write_text(capture.model_dump_json())
    (tmp_path / "keyframe").write_bytes(hanging.data)
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PARENT, tmp_path / "capture", tmp_path / "keyframe",
        stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert parent.stdout is not None
        assert await parent.stdout.readline() == b"warm\n"
        (process,) = children(parent.pid)
        await eventually(lambda: busy(process), "the replay runs")
    finally:
        parent.kill()
        await parent.wait()
    await eventually(lambda: not children(parent.pid), "the replay process is gone")


def test_a_replay_past_its_time_is_ended_by_its_own_alarm(cartridge, endless):
    """What PR_SET_PDEATHSIG does on Linux, an alarm does anywhere: a hung thread holds the GIL."""
    capture, hanging = endless
    header, parts = start_request(cartridge, ReplaySettings())
    request = encode({"seconds": -4.5}, (capture.model_dump_json().encode(), hanging.data))
    sent = [LENGTH.pack(len(each)) + each for each in (encode(header, parts), request)]
    process = subprocess.run(
        [sys.executable, "-m", "rlaif.exporter.replay_process", str(os.getpid())],
        input=b"".join(sent), capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert process.returncode == -signal.SIGALRM
