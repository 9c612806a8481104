"""Fetches a capture and its keyframe and verifies them against the event."""

from dataclasses import dataclass

from pydantic import ValidationError

from rlaif.contracts.events import SegmentCaptured
from rlaif.contracts.game.captures import Capture
from rlaif.exporter.faults import CorruptCaptureError, CorruptKeyframeError
from rlaif.game.captures.capture import LARGEST_STATE_BYTES
from rlaif.storage import keys, sealed
from rlaif.storage.ports import ObjectCorruptError, ObjectStore

CAPTURE_CAP_BYTES = 1024 * 1024
"""One digit per decision step: a million steps are hours of play."""


@dataclass(frozen=True)
class LoadedCapture:
    """A capture verified by the event's digest; the keyframe is verified later."""

    capture: Capture
    packed_keyframe: bytes


def load_capture(store: ObjectStore, event: SegmentCaptured) -> LoadedCapture:
    """Fetch the objects of an event. Blocks.

    Raises:
        ObjectNotFoundError: An object is missing.
        CorruptCaptureError: The capture differs from the event.
        CorruptKeyframeError: The keyframe is invalid.
        StoreUnavailableError: The store did not respond.
    """
    capture = _read_capture(store, event)
    key = keys.keyframe(capture.keyframe_sha256)
    try:
        return LoadedCapture(capture, sealed.read_capped(store, key, cap=LARGEST_STATE_BYTES))
    except ObjectCorruptError as error:
        raise CorruptKeyframeError(str(error)) from error


def _read_capture(store: ObjectStore, event: SegmentCaptured) -> Capture:
    key = event.capture_key
    if key != keys.capture(event.episode_id, event.segment_id):
        raise CorruptCaptureError(f"the event of segment {event.segment_id} names {key}")
    try:
        data = sealed.read(store, key, event.capture_sha256, cap=CAPTURE_CAP_BYTES)
        capture = Capture.model_validate_json(data)
    except ObjectCorruptError as error:
        raise CorruptCaptureError(str(error)) from error
    except ValidationError as error:
        raise CorruptCaptureError(f"{key} is not a capture: {error}"[:500]) from error
    named = (event.segment_id, event.episode_id, event.run_id, event.keyframe_sha256)
    held = (capture.segment_id, capture.episode_id, capture.run_id, capture.keyframe_sha256)
    if named != held:
        raise CorruptCaptureError(f"{key} describes {held}, the event says {named}")
    return capture
