"""Side-by-side comparisons by judges: the records that were made, and the pairs that are wanted."""

import logging
from collections.abc import Iterable
from datetime import datetime

from rlaif.contracts.judging.comparisons import ComparisonRecord, WantedComparisons, WantedPair
from rlaif.reward_model.labels.labels import LabelError, LabelledSegment
from rlaif.reward_model.labels.score_reading import Listing, ScoreReader
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore, StorageError

logger = logging.getLogger(__name__)


class ComparisonLog:
    """Comparisons of one judge configuration among segments that are labels.

    Attributes:
        listing: Finds new records; there is no event for them.
        records: Without the records of their calls.
    """

    def __init__(self, store: ObjectStore, reader: ScoreReader, judge_config: str) -> None:
        self._reader = reader
        self.listing = Listing(store, keys.comparisons(judge_config))
        self.listing.start()
        self._seen: dict[str, tuple[str, str]] = {}
        self._limit: int | None = None
        self.records: list[ComparisonRecord] = []

    @property
    def pairs(self) -> frozenset[tuple[str, str]]:
        """Segments that were compared, whatever the answer; the smaller id first."""
        return frozenset(self._seen.values())

    def read(self, labels: Iterable[LabelledSegment], limit: int) -> None:
        """Read new records, and drop comparisons of segments that are no labels. Blocks.

        The first call lists everything, later ones at most `limit` keys.
        """
        known = {item.segment_id for item in labels}
        found = self.listing.take(self._limit)
        pairs = {info.key: _segments(info.key) for info in found if info.key not in self._seen}
        new = [key for key, pair in pairs.items() if known.issuperset(pair)]
        for key, result in self._reader.each(new, self._record):
            self._seen[key] = pairs[key]
            if not isinstance(result, LabelError):
                self.records.append(result)
        self._limit = limit
        self.records = [i for i in self.records if i.first in known and i.second in known]

    def _record(self, key: str) -> ComparisonRecord:
        return self._reader.parsed(ComparisonRecord, key).model_copy(update={"calls": ()})


def write_wanted(
    store: ObjectStore, judge_config: str, pairs: tuple[WantedPair, ...], now: datetime
) -> None:
    """Replace the list of pairs that judges should compare. Blocks.

    It may be lost: judges then compare other pairs.
    """
    wanted = WantedComparisons(judge_config=judge_config, pairs=pairs, created_at=now)
    data = wanted.model_dump_json().encode()
    try:
        store.put(keys.WANTED_COMPARISONS, data, content_type="application/json")
    except StorageError as error:
        logger.info("could not write the pairs to compare: %s", error)


def _segments(key: str) -> tuple[str, str]:
    first, _, second = key.rpartition("/")[2].removesuffix(".json").partition("--")
    return first, second
