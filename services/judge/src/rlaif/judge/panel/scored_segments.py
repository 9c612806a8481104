"""Reads a segment that was scored before, by whichever judge: score, evidence, pictures."""

import hashlib

from pydantic import ValidationError

from rlaif.contracts.scores import ScoreRecord
from rlaif.judge.evidence.loading import CorruptSegmentError, LoadedSegment, load_segment
from rlaif.judge.evidence.strip import load_strip
from rlaif.judge.evidence.summary import summarise
from rlaif.judge.panel.pair_choice import Scored
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore


class ScoredSegments:
    """The scored segments of one judge configuration in a store. Calls block."""

    def __init__(self, store: ObjectStore, judge_config: str) -> None:
        self._store = store
        self._judge_config = judge_config

    def read(self, segment_id: str) -> Scored:
        """The score and the evidence that it was made of.

        Raises:
            ObjectNotFoundError: The segment has no score, or its export is gone.
            CorruptSegmentError: Score or segment is not what it should be.
            StoreUnavailableError: The store did not answer.
        """
        key = keys.score(self._judge_config, segment_id)
        data = self._store.get(key)
        try:
            record = ScoreRecord.model_validate_json(data)
        except ValidationError as error:
            raise CorruptSegmentError(f"{key} is not a score: {error}"[:500]) from error
        if record.segment_id != segment_id:
            raise CorruptSegmentError(f"{key} holds the score of {record.segment_id}")
        evidence = summarise(self._load(record).states)
        return Scored(evidence, record, hashlib.sha256(data).hexdigest())

    def strip(self, scored: Scored, pictures: int) -> bytes | None:
        """Its strip of at most so many frames; None without any. Fails as `read` does."""
        return load_strip(self._store, self._load(scored.record), pictures)

    def _load(self, record: ScoreRecord) -> LoadedSegment:
        return load_segment(
            self._store,
            manifest_key=record.manifest_key,
            manifest_sha256=record.manifest_sha256,
        )
