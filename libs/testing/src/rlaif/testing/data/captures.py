"""Captures in a store, as the trainer leaves them."""

import hashlib

from rlaif.contracts.events import SegmentCaptured
from rlaif.contracts.game.captures import Capture
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore


def write_capture(store: ObjectStore, capture: Capture, keyframe: bytes) -> SegmentCaptured:
    """Write a capture and its keyframe as the trainer does.

    Args:
        store: The episodes' bucket.
        capture: What to write, right or wrong.
        keyframe: The compressed save state at its start.

    Returns:
        The event that announces it.
    """
    data = capture.model_dump_json().encode()
    event = SegmentCaptured(
        segment_id=capture.segment_id,
        episode_id=capture.episode_id,
        run_id=capture.run_id,
        capture_key=keys.capture(capture.episode_id, capture.segment_id),
        capture_sha256=hashlib.sha256(data).hexdigest(),
        keyframe_key=keys.keyframe(capture.keyframe_sha256),
        keyframe_sha256=capture.keyframe_sha256,
        decision_steps=len(capture.actions),
        env_step=capture.env_step,
    )
    store.put(event.keyframe_key, keyframe)
    store.put(event.capture_key, data)
    return event
