"""Moves captures from the spools to the object store and announces them.

Keyframe, capture, event, then the spool file goes: killed at any point, the next try repeats what
was done without harm, because objects are created once and equal events have equal ids.
"""

import asyncio
import logging
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from rlaif.bus.errors import BusUnavailableError
from rlaif.bus.ports import Publisher
from rlaif.contracts.captures import Capture
from rlaif.contracts.events import SegmentCaptured
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore, StorageError
from rlaif.trainer.run_folder import disk
from rlaif.trainer.run_folder.spool import Spool, SpooledCapture

log = logging.getLogger(__name__)

_PAUSE_SECONDS = 0.5
_OUTAGE_PAUSE_SECONDS = 3.0
_KNOWN_KEYFRAMES = 256
_MOST_ROOMS = 32
"""Rooms that an event names at most; the capture has all."""


class CaptureUploader:
    """Empties spools for as long as `run` runs.

    Attributes:
        uploaded: Captures that this uploader announced.
        outage: Why captures stay where they are: store, bus or disk; None while they go out.
    """

    def __init__(
        self, spools: Callable[[], list[Spool]], store: ObjectStore, publisher: Publisher
    ) -> None:
        """Take captures from the spools that `spools()` names at the time."""
        self._spools = spools
        self._store = store
        self._publisher = publisher
        self._keyframes: dict[str, None] = {}
        self.uploaded = 0
        self.outage: str | None = None

    async def run(self) -> None:
        """Upload until cancelled; an outage is waited out, nothing is dropped."""
        while True:
            try:
                busy = await self.upload_waiting()
                self.outage = None
            except (StorageError, BusUnavailableError, OSError) as error:
                reason = disk.why(error) if isinstance(error, OSError) else str(error)
                if self.outage is None:
                    log.warning("captures wait in the spool", extra={"reason": reason})
                self.outage = reason
                await asyncio.sleep(_OUTAGE_PAUSE_SECONDS)
                continue
            if not busy:
                await asyncio.sleep(_PAUSE_SECONDS)

    async def upload_waiting(self) -> int:
        """Upload what waits now; returns how many captures there were.

        A file that the disk does not give, or does not let go of, does not hold up the others; it
        is an `OSError` at the end.
        """
        paths = await asyncio.to_thread(
            lambda: [path for spool in self._spools() for path in spool.waiting()]
        )
        kept_back: OSError | None = None
        for path in paths:
            try:
                await self._upload(path)
            except FileNotFoundError:
                continue  # deleted meanwhile
            except OSError as error:
                kept_back = error
        if kept_back is not None:
            raise kept_back
        return len(paths)

    async def _upload(self, path: Path) -> None:
        try:
            item = SpooledCapture.unpack(await asyncio.to_thread(path.read_bytes))
        except ValueError:
            log.exception("spool file is not a capture; set aside", extra={"path": str(path)})
            await asyncio.to_thread(path.rename, path.with_suffix(".unreadable"))
            return
        event = await asyncio.to_thread(self._store_capture, item)
        await self._publisher.publish(event)
        await asyncio.to_thread(path.unlink)
        self.uploaded += 1

    def _store_capture(self, item: SpooledCapture) -> SegmentCaptured:
        capture = item.capture
        keyframe_key = keys.keyframe(capture.keyframe_sha256)
        if capture.keyframe_sha256 not in self._keyframes:
            self._store.put_once(keyframe_key, item.keyframe, content_type="application/zstd")
            self._remember(capture.keyframe_sha256)
        key = keys.capture(capture.episode_id, capture.segment_id)
        data = capture.model_dump_json().encode()
        self._store.put_once(key, data, content_type="application/json")
        return captured_event(capture, key, data, keyframe_key)

    def _remember(self, sha: str) -> None:
        self._keyframes[sha] = None
        while len(self._keyframes) > _KNOWN_KEYFRAMES:
            self._keyframes.pop(next(iter(self._keyframes)))


def captured_event(capture: Capture, key: str, data: bytes, keyframe_key: str) -> SegmentCaptured:
    """The event that announces a stored capture."""
    return SegmentCaptured(
        segment_id=capture.segment_id,
        episode_id=capture.episode_id,
        run_id=capture.run_id,
        capture_key=key,
        capture_sha256=sha256(data).hexdigest(),
        keyframe_key=keyframe_key,
        keyframe_sha256=capture.keyframe_sha256,
        decision_steps=len(capture.actions),
        env_step=capture.env_step,
        selected_by=capture.selected_by,
        reward_model_version=capture.reward_model_version,
        rooms=None if capture.rooms is None else capture.rooms[:_MOST_ROOMS],
        milestones=capture.milestones,
        model_rise=None if capture.pay is None else capture.pay.model_rise,
    )
