"""Writes the list of pairs that judges should compare: one object, replaced after each training."""

import logging
from collections.abc import Callable
from datetime import datetime

from rlaif.contracts.comparisons import WantedComparisons, WantedPair
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore, StorageError

logger = logging.getLogger(__name__)


class WantedList:
    """The list in the models' bucket. It may be lost: judges then compare what they find."""

    def __init__(self, store: ObjectStore, *, now: Callable[[], datetime]) -> None:
        self._store = store
        self._now = now

    def write(self, judge_config: str, pairs: tuple[WantedPair, ...]) -> bool:
        """Replace the list; whether it was written. Blocks."""
        wanted = WantedComparisons(judge_config=judge_config, pairs=pairs, created_at=self._now())
        data = wanted.model_dump_json().encode()
        try:
            self._store.put(keys.WANTED_COMPARISONS, data, content_type="application/json")
        except StorageError as error:
            logger.info("the pairs to compare were not written: %s", error)
            return False
        return True
