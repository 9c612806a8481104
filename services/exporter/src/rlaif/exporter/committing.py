"""Stores a segment: files first, then the manifest, which is the commit point."""

import hashlib
import logging
from datetime import datetime

from pydantic import ValidationError

from rlaif.contracts.events import SegmentCaptured, SegmentExported
from rlaif.contracts.game.captures import Capture
from rlaif.contracts.game.films import MEDIA_TYPE
from rlaif.contracts.game.observation import LAYOUT_VERSION
from rlaif.contracts.game.segments import SegmentManifest, StoredFile
from rlaif.exporter.faults import ExportFault
from rlaif.exporter.replaying import SegmentFiles
from rlaif.game.captures.replay import segment_frames
from rlaif.storage import keys, sealed
from rlaif.storage.ports import (
    InvalidKeyError,
    ObjectCorruptError,
    ObjectNotFoundError,
    ObjectStore,
)

logger = logging.getLogger(__name__)


def commit(
    store: ObjectStore,
    event: SegmentCaptured,
    capture: Capture,
    files: SegmentFiles,
    *,
    exporter_version: str,
    created_at: datetime,
) -> tuple[bytes, bool]:
    """Store the files, then the manifest; returns (stored manifest, stored by this call). Blocks.

    Existing files of an incomplete export are replaced. If another exporter has stored a manifest
    meanwhile, that one is kept.
    """
    folder = (capture.episode_id, capture.segment_id)

    def put(name: str, data: bytes, content_type: str) -> StoredFile:
        key = keys.segment(*folder, name)
        store.put(key, data, content_type=content_type)
        return StoredFile(key=key, sha256=hashlib.sha256(data).hexdigest(), size_bytes=len(data))

    states = put("states.jsonl", files.states, "application/jsonl")
    observations = put("observations.npy", files.observations, "application/octet-stream")
    pictures = tuple(
        put(picture_name(step), data, "image/png") for step, data in files.pictures.items()
    )
    film = None if files.film is None else put("film.bin", files.film, MEDIA_TYPE)
    manifest = SegmentManifest(
        segment_id=capture.segment_id,
        episode_id=capture.episode_id,
        run_id=capture.run_id,
        capture_key=event.capture_key,
        capture_sha256=event.capture_sha256,
        rom_sha256=capture.game.rom_sha256,
        layout_version=LAYOUT_VERSION,
        frames=segment_frames(capture),
        decision_steps=len(capture.actions),
        frame_skip=capture.frame_skip,
        start_step=capture.start_step,
        ended=capture.ended,
        end_ram_sha256=capture.end_ram_sha256,
        states=states,
        observations=observations,
        pictures=pictures,
        picture_steps=tuple(files.pictures),
        exporter_version=exporter_version,
        env_step=capture.env_step,
        created_at=created_at,
        film=film,
    )
    key = keys.manifest(*folder)
    data = manifest.model_dump_json().encode()
    if store.put_once(key, data, content_type="application/json"):
        return data, True
    return store.get(key), False


def stored_manifest(store: ObjectStore, episode_id: str, segment_id: str) -> bytes | None:
    """The stored manifest of a segment; None if it is not exported. Blocks."""
    try:
        return store.get(keys.manifest(episode_id, segment_id))
    except ObjectNotFoundError:
        return None


def is_whole(store: ObjectStore, data: bytes) -> bool:
    """Whether each file of a stored manifest has its digest. Blocks.

    Also true for an invalid manifest or one without objects, which a replay does not repair.
    """
    try:
        manifest = SegmentManifest.model_validate_json(data)
        files = (manifest.states, manifest.observations, *manifest.pictures, manifest.film)
        for file in filter(None, files):
            sealed.read(store, file.key, file.sha256)
    except (ValidationError, InvalidKeyError):
        return True
    except (ObjectNotFoundError, ObjectCorruptError) as error:
        logger.warning("exporting segment %s again: %s", manifest.segment_id, error)
        return False
    return True


def exported_event(data: bytes, key: str) -> SegmentExported:
    """The deterministic event of a stored manifest.

    Raises:
        ExportFault: It is not the manifest of the segment at `key`.
    """
    try:
        manifest = SegmentManifest.model_validate_json(data)
    except ValidationError as error:
        raise ExportFault("corrupt_manifest", f"{key} is not a manifest: {error}"[:500]) from error
    if keys.manifest(manifest.episode_id, manifest.segment_id) != key:
        raise ExportFault("corrupt_manifest", f"{key} describes segment {manifest.segment_id}")
    return SegmentExported(
        segment_id=manifest.segment_id,
        episode_id=manifest.episode_id,
        run_id=manifest.run_id,
        manifest_key=key,
        manifest_sha256=hashlib.sha256(data).hexdigest(),
        frames=manifest.frames,
        decision_steps=manifest.decision_steps,
    )


def picture_name(step: int) -> str:
    """File of the picture after an emulator step."""
    return f"frames/{step:06d}.png"
