"""Captures in a store, as the trainer leaves them."""

from rlaif.contracts.events import SegmentCaptured
from rlaif.contracts.game.captures import Capture
from rlaif.storage.ports import ObjectStore
from rlaif.trainer.service.uploader import captured_event


def write_capture(store: ObjectStore, capture: Capture, keyframe: bytes) -> SegmentCaptured:
    """Write a capture, right or wrong, and its compressed save state; the event of the trainer."""
    data = capture.model_dump_json().encode()
    event = captured_event(capture, data)
    store.put(event.keyframe_key, keyframe)
    store.put(event.capture_key, data)
    return event
