"""What the exporter does with an event: replay the capture once, store it, and tell of it.

The manifest is the commit point. An event of a segment that has one costs no replay: its event is
published again from the stored manifest. The event id makes the repeat harmless.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from rlaif.bus.errors import BusUnavailableError
from rlaif.bus.outcome import Reject, Retry
from rlaif.bus.ports import Publisher
from rlaif.contracts.envelope import CloudEvent
from rlaif.contracts.events import SegmentCaptured
from rlaif.exporter.adapters.emulators import EmulatorPool
from rlaif.exporter.committing import (
    CorruptManifestError,
    commit,
    exported_event,
    stored_manifest,
)
from rlaif.exporter.loading import (
    CorruptCaptureError,
    CorruptKeyframeError,
    MissingObjectError,
    load_capture,
)
from rlaif.exporter.metrics import ExporterMetrics
from rlaif.exporter.replaying import replay_segment
from rlaif.game.capture import KeyframeError
from rlaif.game.cartridges import Cartridge
from rlaif.game.replay import ReplayMismatchError, WrongEmulatorError, WrongGameError, replay_frames
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore, StorageError

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ExportRules:
    """How segments are exported.

    Attributes:
        cartridge: The game to replay on.
        png_interval_frames: Game frames between two pictures.
        max_replay_frames: Longest replay, prefix included.
        exporter_version: Written into manifests.
    """

    cartridge: Cartridge
    png_interval_frames: int
    max_replay_frames: int
    exporter_version: str


class SegmentExporter:
    """Handles `SegmentCaptured`."""

    def __init__(
        self,
        store: ObjectStore,
        emulators: EmulatorPool,
        publisher: Publisher,
        rules: ExportRules,
        metrics: ExporterMetrics,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Export captures of `store` on `emulators` and publish what came of it."""
        self._store = store
        self._emulators = emulators
        self._publisher = publisher
        self._rules = rules
        self._metrics = metrics
        self._now = now

    async def handle_segment_captured(self, event: CloudEvent[Any]) -> None:
        """Export the segment unless it has a manifest, then publish `SegmentExported`.

        Raises:
            Retry: The store or NATS does not work now, or an object is not there yet.
            Reject: The capture can never be exported; the reason says why.
        """
        captured: SegmentCaptured = event.data
        key = keys.manifest(captured.episode_id, captured.segment_id)
        try:
            stored = await asyncio.to_thread(self._export, captured)
            await self._publisher.publish(exported_event(stored, key), cause=event)
        except MissingObjectError as error:
            raise Retry(str(error)) from error
        except (StorageError, BusUnavailableError) as error:
            raise Retry(str(error)) from error
        except ReplayMismatchError as error:
            self._metrics.mismatched()
            raise Reject("ram_hash_mismatch", str(error)) from error
        except CorruptManifestError as error:
            raise Reject("corrupt_manifest", str(error)) from error
        except CorruptCaptureError as error:
            raise Reject("corrupt_capture", str(error)) from error
        except (CorruptKeyframeError, KeyframeError) as error:
            raise Reject("corrupt_keyframe", str(error)) from error
        except WrongGameError as error:
            raise Reject("wrong_game", str(error)) from error
        except WrongEmulatorError as error:
            raise Reject("wrong_emulator", str(error)) from error

    def _export(self, captured: SegmentCaptured) -> bytes:
        """The stored manifest of the segment, made when it was not there. Blocks."""
        stored = stored_manifest(self._store, captured.episode_id, captured.segment_id)
        if stored is not None:
            self._metrics.repeated()
            return stored
        started = time.perf_counter()
        loaded = load_capture(self._store, captured)
        frames = replay_frames(loaded.capture)
        if frames > self._rules.max_replay_frames:
            raise CorruptCaptureError(
                f"segment {captured.segment_id} takes {frames} frames to replay, more than "
                f"EXPORTER_MAX_REPLAY_FRAMES={self._rules.max_replay_frames}"
            )
        sound = loaded.capture.emulator.sound_emulated
        with self._emulators.lend(sound_emulated=sound) as emulator:
            files = replay_segment(
                emulator,
                loaded.capture,
                loaded.packed_keyframe,
                rom_sha256=self._rules.cartridge.sha256,
                oracle_names=self._rules.cartridge.is_oracle_of_seasons,
                png_interval_frames=self._rules.png_interval_frames,
            )
        stored, first = commit(
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
