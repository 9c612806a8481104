"""Score objects and what they name, read from the store as labels, several at once.

Of a score only what a label needs is checked and kept (`SlimScore`).
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from rlaif.contracts.model import Contract
from rlaif.contracts.observation import OBSERVATION_SIZE
from rlaif.contracts.scores import ScoreRecord
from rlaif.contracts.segments import SegmentManifest
from rlaif.reward_model.labels.labels import (
    LabelError,
    LabelledSegment,
    SlimScore,
    decode_observations,
    label,
)
from rlaif.storage import keys
from rlaif.storage.ports import ObjectNotFoundError, ObjectStore

OBSERVATIONS_CAP_BYTES = 8 * 1024 * 1024
"""75 steps of float32 observations take 38 kB; a longer file is not a segment."""

DISTRUSTED = "distrusted"
"""Reason of a score that is no label because distrusted judges gave it; it may be judged again."""

_READERS = 16
_BATCH = 256

C = TypeVar("C", bound=Contract)
T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class ReadLabel:
    """A label, and what only the log asks of its score.

    Attributes:
        kind: What the segment shows, for the reservoir.
        provisional: A judge was distrusted: a later score of the segment takes its place.
    """

    label: LabelledSegment
    kind: str
    provisional: bool


class ScoreReader:
    """Reads from `store`, the episodes' bucket. Calls block."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    def each(
        self, items: Sequence[T], read: Callable[[T], R]
    ) -> Iterator[tuple[T, R | LabelError]]:
        """Read several at once; what is no label gives its error.

        A store that does not answer ends it; what was given before is good.
        """

        def attempt(item: T) -> R | LabelError:
            try:
                return read(item)
            except LabelError as error:
                return error

        if not items:
            return
        with ThreadPoolExecutor(_READERS, thread_name_prefix="label-reader") as pool:
            for start in range(0, len(items), _BATCH):
                batch = items[start : start + _BATCH]
                yield from zip(batch, list(pool.map(attempt, batch)), strict=True)

    def label(self, key: str) -> ReadLabel:
        """The label of one score object.

        Raises:
            LabelError: It is none.
        """
        data = self._get(key)
        score = parse(SlimScore, data, key)
        if (score.judge_config, score.segment_id) != keys.score_ids(key):
            raise LabelError("other_segment", f"{key} holds the score of {score.segment_id}")
        manifest = self._manifest(score)
        made = _labelled(
            score, manifest, self._observations(manifest), hashlib.sha256(data).hexdigest()
        )
        return ReadLabel(made, kind_of(score), bool(score.distrusted))

    def record(self, key: str) -> tuple[ScoreRecord, str]:
        """(the whole record of a score object, its digest)."""
        data = self._get(key)
        return parse(ScoreRecord, data, key), hashlib.sha256(data).hexdigest()

    def parsed(self, kind: type[C], key: str) -> C:
        """Any other object."""
        return parse(kind, self._get(key), key)

    def _manifest(self, score: SlimScore) -> SegmentManifest:
        data = self._get(score.manifest_key)
        if hashlib.sha256(data).hexdigest() != score.manifest_sha256:
            raise LabelError(
                "hash_mismatch", f"{score.manifest_key} is not the manifest that was scored"
            )
        return parse(SegmentManifest, data, score.manifest_key)

    def _observations(self, manifest: SegmentManifest) -> NDArray[np.float32]:
        if manifest.observations.size_bytes > OBSERVATIONS_CAP_BYTES:
            raise LabelError("too_large", f"{manifest.observations.key} is too large for a segment")
        data = self._get(manifest.observations.key)
        return decode_observations(data, manifest, inputs=OBSERVATION_SIZE)

    def _get(self, key: str) -> bytes:
        try:
            return self._store.get(key)
        except ObjectNotFoundError as error:
            raise LabelError("missing", f"{key} does not exist") from error


def kind_of(score: SlimScore) -> str:
    """What a segment shows: the objective that was next, and RAM's level of progress."""
    objective = score.quest.start.objective if score.quest else None
    return f"{objective}/{score.truth.get('progress')}"


def parse(kind: type[C], data: bytes, key: str) -> C:
    """A contract from bytes; a `LabelError` when they are none."""
    try:
        return kind.model_validate_json(data)
    except ValidationError as error:
        raise LabelError("invalid", f"{key} is not a {kind.__name__}: {error}") from error


def _labelled(
    score: SlimScore, manifest: SegmentManifest, observations: NDArray[np.float32], sha256: str
) -> LabelledSegment:
    """The label of a score; where distrusted judges are why too little was judged, the reason.

    What they decide has no score in the record: their votes did not count.
    """
    revision = keys.human_revision(score.judge_config) or 0
    try:
        return label(score, manifest, observations, score_sha256=sha256, revision=revision)
    except LabelError as error:
        if score.distrusted and error.reason == "abstained":
            names = ", ".join(score.distrusted)
            raise LabelError(
                DISTRUSTED, f"{score.segment_id} waits to be judged again by {names}"
            ) from error
        raise
