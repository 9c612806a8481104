"""Chooses pairs of segments from those that the reward model requests.

The list of requests is optional: if it is missing, outdated or invalid there are no comparisons.
Several replicas read the same list. Each takes pairs from its own position near the head and skips
stored ones; if two replicas take the same pair, `put_once` accepts one result.
"""

import hashlib
import logging
import time
from collections.abc import Callable

from pydantic import ValidationError

from rlaif.contracts.judging.comparisons import WantedComparisons, WantedPair
from rlaif.storage import keys
from rlaif.storage.ports import ObjectNotFoundError, ObjectStore, StorageError

logger = logging.getLogger(__name__)

_READ_INTERVAL_SECONDS = 30.0
_HEAD = 8
"""Number of pairs at the head from which a replica takes one; more than the replicas."""


class RequestedPairs:
    """The remaining pairs of the newest list. Not thread-safe; calls block."""

    def __init__(
        self,
        models: ObjectStore,
        episodes: ObjectStore,
        judge_config: str,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """The list is in `models`; comparisons are in `episodes`."""
        self._models = models
        self._episodes = episodes
        self._judge_config = judge_config
        self._clock = clock
        self._next_read = float("-inf")
        self._left: list[WantedPair] = []
        self._taken: set[tuple[str, str]] = set()

    def take(self, segment_id: str) -> WantedPair | None:
        """Take a pair near the head of the list that is not compared yet; None if there is none.

        The id of the last scored segment selects it, which differs between replicas.
        """
        if self._clock() >= self._next_read:
            self._next_read = self._clock() + _READ_INTERVAL_SECONDS
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
        pairs: tuple[WantedPair, ...] = ()
        try:
            pairs = self._wanted()
        except ObjectNotFoundError:
            pass
        except (StorageError, ValidationError, ValueError) as error:
            logger.info("no requested comparisons: %s", str(error)[:300])
        self._taken &= {(pair.first, pair.second) for pair in pairs}
        self._left = [
            pair
            for pair in pairs
            if pair.first < pair.second
            and pair.why in ("uncertain", "uniform")
            and (pair.first, pair.second) not in self._taken
        ]

    def _wanted(self) -> tuple[WantedPair, ...]:
        """The pairs of the list; empty if it is for another configuration."""
        data = self._models.get(keys.WANTED_COMPARISONS)
        wanted = WantedComparisons.model_validate_json(data)
        return wanted.pairs if wanted.judge_config == self._judge_config else ()
