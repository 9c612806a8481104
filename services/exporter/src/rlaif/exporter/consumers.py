"""Event handler of the exporter: replay the capture once, store it, publish the result.

The manifest is the commit point. If it exists and its files are whole, the segment is not replayed
again: the event is published again from the stored manifest, and its id makes the repetition
idempotent. Damaged files are replaced from the replay, which is deterministic.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from rlaif.bus.errors import BusUnavailableError
from rlaif.bus.outcome import Reject, Retry, Suspect
from rlaif.bus.ports import Publisher
from rlaif.contracts.events import CloudEvent, SegmentCaptured
from rlaif.contracts.game.captures import Capture
from rlaif.exporter.committing import commit, exported_event, is_whole, stored_manifest
from rlaif.exporter.faults import ExportFault, LostReplayError
from rlaif.exporter.replayers import NoReplayerError, ReplayerPool
from rlaif.exporter.settings import ReplaySettings
from rlaif.game.captures.replay import replay_frames
from rlaif.service.metrics import ServiceMetrics
from rlaif.storage import keys, sealed
from rlaif.storage.ports import ObjectCorruptError, ObjectNotFoundError, ObjectStore, StorageError

logger = logging.getLogger(__name__)


class ExporterMetrics:
    """Counts segments, mismatches and replayed frames."""

    def __init__(self, metrics: ServiceMetrics) -> None:
        self._segments = metrics.counter(
            "segments",
            "Segments: exported now, concurrently by another exporter, or earlier.",
            ("result",),
        )
        self._mismatches = metrics.counter(
            "ram_mismatches", "Captures whose replay has different RAM."
        )
        self._lost = metrics.counter(
            "lost_replays",
            "Replays that hung or crashed their process, counted per attempt.",
            ("why",),
        )
        self._seconds = metrics.histogram(
            "export_seconds", "Time from the event to the stored manifest."
        )
        self._frames = metrics.counter("replayed_frames", "Game frames played, prefixes included.")
        self._expired = metrics.counter(
            "expired_objects", "Objects of segments deleted after EXPORTER_KEEP_DAYS."
        )

    def exported(self, *, frames: int, seconds: float, first: bool) -> None:
        self._segments.labels("exported" if first else "overtaken").inc()
        self._seconds.observe(seconds)
        self._frames.inc(frames)

    def repeated(self) -> None:
        """Count an event of an already exported segment."""
        self._segments.labels("repeated").inc()

    def refused(self, fault: ExportFault) -> None:
        """Count a capture that can never be exported."""
        if fault.reason == "ram_hash_mismatch":
            self._mismatches.inc()

    def expired(self, objects: int) -> None:
        self._expired.inc(objects)

    def lost_replay(self, fault: LostReplayError) -> None:
        self._lost.labels(fault.reason.removeprefix("replay_")).inc()


def load_capture(store: ObjectStore, event: SegmentCaptured) -> tuple[Capture, bytes]:
    """Fetch (capture, verified by the event's digest; packed keyframe) of an event. Blocks.

    Raises:
        ObjectNotFoundError: An object is missing.
        ExportFault: The capture differs from the event, or the keyframe is invalid.
        StoreUnavailableError: The store did not respond.
    """
    capture = _read_capture(store, event)
    key = keys.keyframe(capture.keyframe_sha256)
    try:
        return capture, store.get(key)
    except ObjectCorruptError as error:
        raise ExportFault("corrupt_keyframe", str(error)) from error


def _read_capture(store: ObjectStore, event: SegmentCaptured) -> Capture:
    key = event.capture_key
    if key != keys.capture(event.episode_id, event.segment_id):
        raise ExportFault("corrupt_capture", f"the event of segment {event.segment_id} names {key}")
    try:
        data = sealed.read(store, key, event.capture_sha256)
        capture = Capture.model_validate_json(data)
    except ObjectCorruptError as error:
        raise ExportFault("corrupt_capture", str(error)) from error
    except ValidationError as error:
        raise ExportFault("corrupt_capture", f"{key} is not a capture: {error}"[:500]) from error
    named = (event.segment_id, event.episode_id, event.run_id, event.keyframe_sha256)
    held = (capture.segment_id, capture.episode_id, capture.run_id, capture.keyframe_sha256)
    if named != held:
        raise ExportFault("corrupt_capture", f"{key} describes {held}, the event {named}")
    return capture


class SegmentExporter:
    """Handles `SegmentCaptured`."""

    def __init__(
        self,
        store: ObjectStore,
        replayers: ReplayerPool,
        publisher: Publisher,
        metrics: ExporterMetrics,
        *,
        version: str,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = store
        self._replayers = replayers
        self._publisher = publisher
        self._version = version
        self._metrics = metrics
        self._now = now

    async def handle_segment_captured(self, event: CloudEvent[Any]) -> None:
        """Export the segment unless it has a manifest, then publish `SegmentExported`.

        Raises:
            Retry: The store or NATS is unavailable, or no replay process starts.
            Suspect: An object is missing, the keyframe is damaged, which the trainer repairs with
                the next capture that starts there, or the replay crashed or hung its process.
            Reject: The capture can never be exported, with the reason.
        """
        captured: SegmentCaptured = event.data
        key = keys.manifest(captured.episode_id, captured.segment_id)
        try:
            stored = await self._export(captured)
            await self._publisher.publish(exported_event(stored, key))
        except ObjectNotFoundError as error:
            raise Suspect("missing_object", str(error)) from error
        except ObjectCorruptError as error:
            raise Reject("corrupt_manifest", str(error)) from error
        except (StorageError, BusUnavailableError, NoReplayerError) as error:
            raise Retry(str(error)) from error
        except LostReplayError as fault:
            self._metrics.lost_replay(fault)
            raise Suspect(fault.reason, str(fault), tries=fault.tries) from fault
        except ExportFault as fault:
            self._metrics.refused(fault)
            kind = Suspect if fault.reason == "corrupt_keyframe" else Reject
            raise kind(fault.reason, str(fault)) from fault

    async def _export(self, captured: SegmentCaptured) -> bytes:
        """The stored manifest of the segment, exported first if needed."""
        before = await asyncio.to_thread(
            stored_manifest, self._store, captured.episode_id, captured.segment_id
        )
        if before is not None and await asyncio.to_thread(is_whole, self._store, before):
            self._metrics.repeated()
            return before
        started = time.perf_counter()
        capture, keyframe = await asyncio.to_thread(load_capture, self._store, captured)
        frames = replay_frames(capture)
        if frames > ReplaySettings.max_frames:
            raise ExportFault(
                "corrupt_capture",
                f"segment {captured.segment_id} takes {frames} frames to replay, more than "
                f"{ReplaySettings.max_frames}",
            )
        files = await self._replayers.replay(capture, keyframe)
        stored, first = await asyncio.to_thread(
            commit,
            self._store,
            captured,
            capture,
            files,
            exporter_version=self._version,
            created_at=self._now(),
        )
        seconds = time.perf_counter() - started
        self._metrics.exported(frames=files.replayed_frames, seconds=seconds, first=first)
        logger.info(
            "exported",
            extra={
                "segment_id": captured.segment_id,
                "decision_steps": len(capture.actions),
                "pictures": len(files.pictures),
                "seconds": round(seconds, 3),
            },
        )
        return stored
