"""Captures to spool and upload."""

from collections.abc import Callable

import pytest

from rlaif.contracts.captures import Capture, EmulatorIdentity, GameIdentity
from rlaif.trainer.runs.spool import SpooledCapture

SHA = "ab" * 32


@pytest.fixture
def spooled() -> Callable[[str], SpooledCapture]:
    """Makes a spooled capture with the given segment id."""
    return _spooled


def _spooled(segment_id: str) -> SpooledCapture:
    capture = Capture(
        segment_id=segment_id,
        episode_id="e-1",
        run_id="r-1",
        env_id="r-1-0",
        game=GameIdentity(title="SEEDLING", rom_sha256=SHA),
        emulator=EmulatorIdentity(version="2.8.1", sound_emulated=False),
        frame_skip=4,
        keyframe_sha256=SHA,
        actions="0123",
        start_step=0,
        start_ram_sha256=SHA,
        end_ram_sha256=SHA,
        env_step=10,
    )
    return SpooledCapture(capture, b"\x28\xb5\x2f\xfd\nbinary\n")
