"""The comparisons of one judge configuration: what judges said who were shown two segments.

They are no events; a listing finds them, a piece at a time.
"""

from collections.abc import Iterable

from rlaif.contracts.comparisons import ComparisonRecord
from rlaif.reward_model.labels.labels import LabelError, LabelledSegment
from rlaif.reward_model.labels.listing import Listing
from rlaif.reward_model.labels.score_reading import ScoreReader
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore


class ComparisonLog:
    """Comparisons among segments that are labels.

    Attributes:
        records: Without the records of their calls.
    """

    def __init__(self, store: ObjectStore, reader: ScoreReader, judge_config: str) -> None:
        self._reader = reader
        self._listing = Listing(store, keys.comparisons(judge_config))
        self._listing.begin()
        self._seen: dict[str, tuple[str, str]] = {}
        self._first = True
        self.records: list[ComparisonRecord] = []

    @property
    def pairs(self) -> frozenset[tuple[str, str]]:
        """Segments that were shown side by side, whatever was said; the smaller id first."""
        return frozenset(self._seen.values())

    def begin(self) -> None:
        """Ask for a round through all of them."""
        self._listing.begin()

    def read(self, labels: Iterable[LabelledSegment], most: int) -> None:
        """Go on with the listing, read what is new, and forget comparisons of what is no label.

        The first call lists all of them at once, later ones `most` keys. Blocks.
        """
        known = {item.segment_id for item in labels}
        found = self._listing.take(None if self._first else most)
        pairs = {info.key: _segments(info.key) for info in found if info.key not in self._seen}
        new = [key for key, pair in pairs.items() if known.issuperset(pair)]
        for key, result in self._reader.each(new, self._record):
            self._seen[key] = pairs[key]
            if not isinstance(result, LabelError):
                self.records.append(result)
        self._first = False
        self.records = [i for i in self.records if i.first in known and i.second in known]

    def _record(self, key: str) -> ComparisonRecord:
        return self._reader.parsed(ComparisonRecord, key).model_copy(update={"calls": ()})


def _segments(key: str) -> tuple[str, str]:
    """The two segments of a comparison, by its key."""
    first, _, second = key.rpartition("/")[2].removesuffix(".json").partition("--")
    return first, second
