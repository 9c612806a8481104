"""Copies the pictures of rooms from the current run's folder to the object store.

They are for people: an outage delays the map, and nothing waits for it.
"""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore, StorageError
from rlaif.trainer.run_folder import disk
from rlaif.trainer.run_folder.room_pictures import RoomPictures

log = logging.getLogger(__name__)

_PAUSE_SECONDS = 3.0
_MOST_AT_ONCE = 32


class RoomUploader:
    """Stores each picture once; after a restart again, which changes nothing."""

    def __init__(self, run: Callable[[], tuple[str, Path] | None], store: ObjectStore) -> None:
        """`run` gives the id and the folder of the current run; None when there is none."""
        self._run = run
        self._store = store
        self._stored: set[str] = set()
        self._is_failing = False

    async def run(self) -> None:
        """Store what is new until cancelled."""
        while True:
            try:
                await asyncio.to_thread(self.store_new)
                self._is_failing = False
            except (StorageError, OSError) as error:
                reason = disk.why(error) if isinstance(error, OSError) else str(error)
                if not self._is_failing:
                    log.warning("pictures of rooms wait", extra={"reason": reason})
                self._is_failing = True
            await asyncio.sleep(_PAUSE_SECONDS)

    def store_new(self) -> int:
        """Store pictures that are not stored yet, a bounded number; gives how many those were."""
        current = self._run()
        if current is None:
            return 0
        run_id, folder = current
        done = 0
        for group, room, path in RoomPictures.of_run(folder).all():
            key = keys.room_picture(run_id, group, room)
            if key in self._stored:
                continue
            if done == _MOST_AT_ONCE:
                break
            self._store.put_once(key, path.read_bytes(), content_type="image/png")
            self._stored.add(key)
            done += 1
        return done
