"""Moves captures and pictures of rooms from the run's folder to the object store.

The order is keyframe, capture, event, deletion from the spool. Repeating it after a kill is
harmless, since captures are created once and equal events have equal ids. Pictures of rooms are
copied again after a restart.
"""

import asyncio
import logging
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from rlaif.bus.errors import BusUnavailableError
from rlaif.bus.ports import Publisher
from rlaif.contracts.events import SegmentCaptured
from rlaif.contracts.game.captures import Capture
from rlaif.storage import keys, sealed
from rlaif.storage.ports import ObjectStore, StorageError
from rlaif.trainer.run_folder import disk
from rlaif.trainer.run_folder.spool import RoomPictures, Spool, SpooledCapture

logger = logging.getLogger(__name__)

_PAUSE_SECONDS = 0.5
_OUTAGE_PAUSE_SECONDS = 3.0
_MAX_ROOMS = 32
"""Maximum number of rooms in an event; the capture has all."""

_PICTURES_PAUSE_SECONDS = 3.0
_MAX_PICTURES_AT_ONCE = 32


class CaptureUploader:
    """Empties spools while `run` runs.

    Attributes:
        outage: Why captures are not uploaded: store, bus or disk; None while they are.
    """

    def __init__(
        self, spools: Callable[[], list[Spool]], store: ObjectStore, publisher: Publisher
    ) -> None:
        self._spools = spools
        self._store = store
        self._publisher = publisher
        self.outage: str | None = None

    async def run(self) -> None:
        while True:
            try:
                busy = await self.upload_waiting()
                self.outage = None
            except (StorageError, BusUnavailableError, OSError) as error:
                if self.outage is None:
                    logger.warning("captures wait in the spool", extra={"reason": str(error)})
                self.outage = disk.reason(error)
                await asyncio.sleep(_OUTAGE_PAUSE_SECONDS)
                continue
            if not busy:
                await asyncio.sleep(_PAUSE_SECONDS)

    async def upload_waiting(self) -> int:
        """Upload all waiting captures; returns their number.

        Files that cannot be read or deleted do not block others; the `OSError` is raised at the
        end.
        """
        paths = await asyncio.to_thread(
            lambda: [path for spool in self._spools() for path in spool.waiting()]
        )
        failure: OSError | None = None
        for path in paths:
            try:
                await self._upload(path)
            except FileNotFoundError:
                continue  # deleted meanwhile
            except OSError as error:
                failure = error
        if failure is not None:
            raise failure
        return len(paths)

    async def _upload(self, path: Path) -> None:
        try:
            item = SpooledCapture.unpack(await asyncio.to_thread(path.read_bytes))
        except ValueError:
            logger.exception("invalid file in the spool; renamed", extra={"path": str(path)})
            await asyncio.to_thread(path.rename, path.with_suffix(".unreadable"))
            return
        event = await asyncio.to_thread(self._store_capture, item)
        await self._publisher.publish(event)
        await asyncio.to_thread(path.unlink)

    def _store_capture(self, item: SpooledCapture) -> SegmentCaptured:
        capture = item.capture
        # Many captures share a keyframe, so a damaged one is repaired here.
        key = keys.keyframe(capture.keyframe_sha256)
        sealed.put(self._store, key, item.keyframe, content_type="application/zstd")
        data = capture.model_dump_json().encode()
        event = captured_event(capture, data)
        self._store.put_once(event.capture_key, data, content_type="application/json")
        return event


def captured_event(capture: Capture, data: bytes) -> SegmentCaptured:
    """The event that announces a stored capture."""
    return SegmentCaptured(
        segment_id=capture.segment_id,
        episode_id=capture.episode_id,
        run_id=capture.run_id,
        capture_key=keys.capture(capture.episode_id, capture.segment_id),
        capture_sha256=sha256(data).hexdigest(),
        keyframe_key=keys.keyframe(capture.keyframe_sha256),
        keyframe_sha256=capture.keyframe_sha256,
        decision_steps=len(capture.actions),
        env_step=capture.env_step,
        selected_by=capture.selected_by,
        reward_model_version=capture.reward_model_version,
        rooms=None if capture.rooms is None else capture.rooms[:_MAX_ROOMS],
        milestones=capture.milestones,
        from_own_start=capture.from_own_start,
        model_rise=None if capture.pay is None else capture.pay.model_rise,
    )


class RoomUploader:
    """Stores each picture of a room once, and again after a restart."""

    def __init__(self, run: Callable[[], tuple[str, Path] | None], store: ObjectStore) -> None:
        """`run` returns the id and the folder of the current run."""
        self._run = run
        self._store = store
        self._stored: set[str] = set()
        self._is_failing = False

    async def run(self) -> None:
        while True:
            try:
                await asyncio.to_thread(self.store_new)
                self._is_failing = False
            except (StorageError, OSError) as error:
                if not self._is_failing:
                    logger.warning("pictures of rooms are not stored", extra={"reason": str(error)})
                self._is_failing = True
            await asyncio.sleep(_PICTURES_PAUSE_SECONDS)

    def store_new(self) -> int:
        """Store a limited number of new pictures; returns their number."""
        current = self._run()
        if current is None:
            return 0
        run_id, folder = current
        done = 0
        for group, room, path in RoomPictures.of_run(folder).all():
            key = keys.room_picture(run_id, group, room)
            if key in self._stored:
                continue
            if done == _MAX_PICTURES_AT_ONCE:
                break
            self._store.put_once(key, path.read_bytes(), content_type="image/png")
            self._stored.add(key)
            done += 1
        return done
