"""Fetches a capture and its keyframe and checks that they are what the event says.

MissingObjectError     not there yet, or deleted; trying again may help
CorruptCaptureError    the capture is not the one that the event names
CorruptKeyframeError   the keyframe is not the one that the capture names
"""

import hashlib
from dataclasses import dataclass

from pydantic import ValidationError

from rlaif.contracts.captures import Capture
from rlaif.contracts.events import SegmentCaptured
from rlaif.game.captures.capture import LARGEST_STATE_BYTES
from rlaif.storage import keys
from rlaif.storage.ports import ObjectNotFoundError, ObjectStore

CAPTURE_CAP_BYTES = 1024 * 1024
"""One digit a decision step: a million steps are hours of play."""


class MissingObjectError(Exception):
    """An object of the capture is not in the store."""


class CorruptCaptureError(Exception):
    """The capture is damaged, or another one than the event names."""


class CorruptKeyframeError(Exception):
    """The keyframe is damaged, or another one than the capture names."""


@dataclass(frozen=True)
class LoadedCapture:
    """A capture whose bytes have the digest of the event.

    Attributes:
        capture: What was played.
        packed_keyframe: From where; its digest is checked when it is unpacked.
    """

    capture: Capture
    packed_keyframe: bytes


def load_capture(store: ObjectStore, event: SegmentCaptured) -> LoadedCapture:
    """Fetch what the event names. Blocks.

    Raises:
        MissingObjectError: An object is not there.
        CorruptCaptureError: The capture is not what the event says.
        CorruptKeyframeError: The keyframe cannot be one.
        StoreUnavailableError: The store did not answer.
    """
    capture = _read_capture(store, event)
    key = keys.keyframe(capture.keyframe_sha256)
    if _size(store, key) > LARGEST_STATE_BYTES:
        raise CorruptKeyframeError(f"{key} is larger than {LARGEST_STATE_BYTES} bytes")
    return LoadedCapture(capture, _get(store, key))


def _read_capture(store: ObjectStore, event: SegmentCaptured) -> Capture:
    key = event.capture_key
    if key != keys.capture(event.episode_id, event.segment_id):
        raise CorruptCaptureError(f"the event of segment {event.segment_id} names {key}")
    if _size(store, key) > CAPTURE_CAP_BYTES:
        raise CorruptCaptureError(f"{key} is larger than {CAPTURE_CAP_BYTES} bytes")
    data = _get(store, key)
    found = hashlib.sha256(data).hexdigest()
    if found != event.capture_sha256:
        raise CorruptCaptureError(
            f"{key} has digest {found}, the event says {event.capture_sha256}"
        )
    try:
        capture = Capture.model_validate_json(data)
    except ValidationError as error:
        raise CorruptCaptureError(f"{key} is not a capture: {error}"[:500]) from error
    named = (event.segment_id, event.episode_id, event.run_id, event.keyframe_sha256)
    held = (capture.segment_id, capture.episode_id, capture.run_id, capture.keyframe_sha256)
    if named != held:
        raise CorruptCaptureError(f"{key} describes {held}, the event says {named}")
    return capture


def _size(store: ObjectStore, key: str) -> int:
    info = store.head(key)
    if info is None:
        raise MissingObjectError(f"{key} is not in {store.url}")
    return info.size_bytes


def _get(store: ObjectStore, key: str) -> bytes:
    try:
        return store.get(key)
    except ObjectNotFoundError as error:
        raise MissingObjectError(f"{key} is not in {store.url}") from error
