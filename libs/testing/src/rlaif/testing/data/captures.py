"""Writes captures to a store as the trainer does, and replays them."""

from collections.abc import Iterable

from rlaif.contracts.events import SegmentCaptured
from rlaif.contracts.game.captures import Capture
from rlaif.game.captures.replay import replay
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.storage.ports import ObjectStore
from rlaif.trainer.run_folder.spool import SpooledCapture
from rlaif.trainer.service.uploader import captured_event


def write_capture(store: ObjectStore, capture: Capture, keyframe: bytes) -> SegmentCaptured:
    """Write a capture, valid or not, and its compressed save state; return the trainer's event."""
    data = capture.model_dump_json().encode()
    event = captured_event(capture, data)
    store.put(event.keyframe_key, keyframe)
    store.put(event.capture_key, data)
    return event


def replay_all(captures: Iterable[SpooledCapture]) -> list[int]:
    """Replay captures of the embedded game and return their steps; raises if the RAM differs."""
    cartridge = load_cartridge()
    emulator = Emulator(cartridge.data)
    steps = [
        len(list(replay(emulator, each.capture, each.keyframe, rom_sha256=cartridge.sha256)))
        for each in captures
    ]
    emulator.close()
    return steps
