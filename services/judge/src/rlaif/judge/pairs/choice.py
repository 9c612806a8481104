"""Chooses pairs of segments: recent ones that nearly tie, and those that the reward model requests.

The list of requests is optional: if it is missing, outdated or invalid there are fewer comparisons.
Several replicas read the same list. Each takes pairs from its own position near the head and skips
stored ones; if two replicas take the same pair, `put_once` accepts one result.
"""

import hashlib
import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from pydantic import ValidationError

from rlaif.contracts.judging.comparisons import WantedComparisons, WantedPair
from rlaif.contracts.judging.evidence import Evidence
from rlaif.contracts.judging.scores import ScoreRecord
from rlaif.storage import keys
from rlaif.storage.ports import ObjectNotFoundError, ObjectStore, StorageError

logger = logging.getLogger(__name__)

Kind = Literal["near_tie", "wanted"]
"""Source of a pair."""
KINDS: tuple[Kind, ...] = get_args(Kind)

MARGIN = 0.05
"""Segments nearly tie if their rises on the quest differ by at most this, in objectives (half a
screen is 0.045), or their rubric means if no rise is known."""

_READ_INTERVAL_SECONDS = 30.0
_HEAD = 8
"""Number of pairs at the head from which a replica takes one; more than the replicas."""
_LEARNED_BESIDE_THE_RISE = ("dialog", "puzzle")


@dataclass(frozen=True)
class Scored:
    """A segment with its score; `sha256` is the digest of the stored score."""

    evidence: Evidence
    record: ScoreRecord
    sha256: str

    @property
    def segment_id(self) -> str:
        return self.record.segment_id


def newest_partner(one: Scored, others: Iterable[Scored]) -> Scored | None:
    """The first of `others` that nearly ties with `one` and has different evidence."""
    for other in others:
        same = one.segment_id == other.segment_id or (
            one.record.evidence_sha256 is not None
            and one.record.evidence_sha256 == other.record.evidence_sha256
        )
        if not same and nearly_tie(one.record, other.record):
            return other
    return None


def nearly_tie(one: ScoreRecord, other: ScoreRecord) -> bool:
    """Whether the scores of two segments are nearly equal.

    Compares the rise on the quest, dialog and puzzle, or the rubric means if neither segment has a
    position on the quest. If only one has, it is not a tie.
    """
    if one.quest is not None and other.quest is not None:
        near = abs(one.quest.rise - other.quest.rise) <= MARGIN
        return near and all(_same_level(one, other, name) for name in _LEARNED_BESIDE_THE_RISE)
    if one.quest is not None or other.quest is not None:
        return False
    if one.weighted is None or other.weighted is None:
        return False
    return abs(one.weighted - other.weighted) <= MARGIN


def _same_level(one: ScoreRecord, other: ScoreRecord, name: str) -> bool:
    ours, theirs = one.criteria.get(name), other.criteria.get(name)
    return ours is None or theirs is None or ours.value == theirs.value


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
