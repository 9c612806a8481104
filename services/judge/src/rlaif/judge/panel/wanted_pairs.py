"""The pairs that the reward model wants compared, read from the store now and then.

The list is a wish: missing, old, foreign or broken it costs comparisons and nothing else. Several
judges read the same list. Each takes from its head at a place of its own, and what is stored
already is passed over; the store's `put_once` decides between two that took the same pair.
"""

import hashlib
import logging
import time
from collections.abc import Callable

from pydantic import ValidationError

from rlaif.contracts.comparisons import WantedComparisons, WantedPair
from rlaif.storage import keys
from rlaif.storage.ports import ObjectNotFoundError, ObjectStore, StorageError

logger = logging.getLogger(__name__)

CAP_BYTES = 256 * 1024
"""256 pairs take about 40 kB; a longer object is not read."""

_READ_SECONDS = 30.0
_HEAD = 8
"""Most wanted pairs among which a judge takes one: more than there are judges."""


class WantedPairs:
    """What is left of the newest list. Used by one thread at a time; calls block."""

    def __init__(
        self,
        models: ObjectStore,
        episodes: ObjectStore,
        judge_config: str,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Read the list from `models`; `episodes` says what was compared before."""
        self._models = models
        self._episodes = episodes
        self._judge_config = judge_config
        self._clock = clock
        self._next_read = float("-inf")
        self._left: list[WantedPair] = []
        self._taken: set[tuple[str, str]] = set()

    def take(self, segment_id: str) -> WantedPair | None:
        """A pair near the head of the list that is not compared yet; None without one.

        The id of the segment that the judge just scored says which: judges score different ones.
        """
        if self._clock() >= self._next_read:
            self._next_read = self._clock() + _READ_SECONDS
            self._read()
        place = int.from_bytes(hashlib.sha256(segment_id.encode()).digest()[:4])
        for _ in range(_HEAD):
            if not self._left:
                return None
            pair = self._left.pop(place % min(_HEAD, len(self._left)))
            self._taken.add((pair.first, pair.second))
            key = keys.comparison(self._judge_config, pair.first, pair.second)
            if self._episodes.head(key) is None:
                return pair
        return None

    def _read(self) -> None:
        try:
            wanted = self._wanted()
        except ObjectNotFoundError:
            wanted = None
        except (StorageError, ValidationError, ValueError) as error:
            logger.info("no wanted comparisons: %s", str(error)[:300])
            wanted = None
        pairs = wanted.pairs if wanted and wanted.judge_config == self._judge_config else ()
        self._taken &= {(pair.first, pair.second) for pair in pairs}
        self._left = [
            pair
            for pair in pairs
            if pair.first < pair.second
            and pair.why in ("uncertain", "uniform")
            and (pair.first, pair.second) not in self._taken
        ]

    def _wanted(self) -> WantedComparisons:
        info = self._models.head(keys.WANTED_COMPARISONS)
        if info is None:
            raise ObjectNotFoundError(keys.WANTED_COMPARISONS)
        if info.size_bytes > CAP_BYTES:
            raise ValueError(f"{keys.WANTED_COMPARISONS} has {info.size_bytes} bytes")
        return WantedComparisons.model_validate_json(self._models.get(keys.WANTED_COMPARISONS))
