"""Event handler of the exporter: replay the capture once, store it, publish the result.

The manifest is the commit point. If it exists, the segment is not replayed again: the event is
published again from the stored manifest, and its id makes the repetition idempotent.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from rlaif.bus.errors import BusUnavailableError
from rlaif.bus.outcome import Reject, Retry, Suspect
from rlaif.bus.ports import Publisher
from rlaif.contracts.events import CloudEvent, SegmentCaptured
from rlaif.contracts.game.captures import Capture
from rlaif.exporter.adapters.replayers import NoReplayerError
from rlaif.exporter.committing import commit, exported_event, stored_manifest
from rlaif.exporter.faults import CorruptCaptureError, ExportFault, LostReplayError
from rlaif.exporter.loading import load_capture
from rlaif.exporter.metrics import ExporterMetrics
from rlaif.exporter.replaying import SegmentFiles
from rlaif.game.captures.replay import replay_frames
from rlaif.storage import keys
from rlaif.storage.ports import ObjectNotFoundError, ObjectStore, StorageError

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ExportRules:
    """Export options; the longest replay includes the prefix."""

    max_replay_frames: int
    exporter_version: str


class Replays(Protocol):
    """Replays captures."""

    async def replay(self, capture: Capture, packed_keyframe: bytes) -> SegmentFiles:
        """See `rlaif.exporter.adapters.replayers.ReplayerPool.replay`."""
        ...


class SegmentExporter:
    """Handles `SegmentCaptured`."""

    def __init__(
        self,
        store: ObjectStore,
        replayers: Replays,
        publisher: Publisher,
        rules: ExportRules,
        metrics: ExporterMetrics,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = store
        self._replayers = replayers
        self._publisher = publisher
        self._rules = rules
        self._metrics = metrics
        self._now = now

    async def handle_segment_captured(self, event: CloudEvent[Any]) -> None:
        """Export the segment unless it has a manifest, then publish `SegmentExported`.

        Raises:
            Retry: The store or NATS is unavailable, or no replay process starts.
            Suspect: An object is missing, or the replay crashed or hung its process.
            Reject: The capture can never be exported, with the reason.
        """
        captured: SegmentCaptured = event.data
        key = keys.manifest(captured.episode_id, captured.segment_id)
        try:
            stored = await self._export(captured)
            await self._publisher.publish(exported_event(stored, key))
        except ObjectNotFoundError as error:
            raise Suspect("missing_object", str(error)) from error
        except (StorageError, BusUnavailableError, NoReplayerError) as error:
            raise Retry(str(error)) from error
        except LostReplayError as fault:
            self._metrics.lost_replay(fault)
            raise Suspect(fault.reason, str(fault), tries=fault.tries) from fault
        except ExportFault as fault:
            self._metrics.refused(fault)
            raise Reject(fault.reason, str(fault)) from fault

    async def _export(self, captured: SegmentCaptured) -> bytes:
        """The stored manifest of the segment, exported first if needed."""
        before = await asyncio.to_thread(
            stored_manifest, self._store, captured.episode_id, captured.segment_id
        )
        if before is not None:
            self._metrics.repeated()
            return before
        started = time.perf_counter()
        loaded = await asyncio.to_thread(load_capture, self._store, captured)
        frames = replay_frames(loaded.capture)
        if frames > self._rules.max_replay_frames:
            raise CorruptCaptureError(
                f"segment {captured.segment_id} takes {frames} frames to replay, more than "
                f"EXPORTER_MAX_REPLAY_FRAMES={self._rules.max_replay_frames}"
            )
        files = await self._replayers.replay(loaded.capture, loaded.packed_keyframe)
        stored, first = await asyncio.to_thread(
            commit,
            self._store,
            captured,
            loaded.capture,
            files,
            exporter_version=self._rules.exporter_version,
            created_at=self._now(),
        )
        seconds = time.perf_counter() - started
        self._metrics.exported(frames=files.replayed_frames, seconds=seconds, first=first)
        logger.info(
            "exported",
            extra={
                "segment_id": captured.segment_id,
                "decision_steps": len(loaded.capture.actions),
                "pictures": len(files.pictures),
                "seconds": round(seconds, 3),
            },
        )
        return stored
