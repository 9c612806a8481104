"""Reads score objects and the objects that they name, several at once."""

import hashlib
import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

from pydantic import ValidationError

from rlaif.contracts.game.observation import OBSERVATION_SIZE
from rlaif.contracts.game.segments import SegmentManifest
from rlaif.contracts.judging.comparisons import ComparisonRecord
from rlaif.contracts.judging.scores import ScoreRecord
from rlaif.contracts.model import Contract
from rlaif.reward_model.labels.labels import (
    LabelError,
    LabelledSegment,
    decode_observations,
    label,
)
from rlaif.storage import keys
from rlaif.storage.ports import (
    ObjectCorruptError,
    ObjectInfo,
    ObjectNotFoundError,
    ObjectStore,
    StoreUnavailableError,
)

UNREADABLE = "distrusted"
"""Reason of a provisional score that is not a label: too many answers were unreadable."""

_MAX_OBSERVATIONS_BYTES = 8 * 1024 * 1024
"""75 steps of float32 observations take 38 kB."""

_THREADS = 16
_BATCH = 256

logger = logging.getLogger(__name__)

C = TypeVar("C", bound=Contract)
T = TypeVar("T")
R = TypeVar("R")


class Listing:
    """Lists the objects of a prefix, a limited number of keys at a time."""

    def __init__(self, store: ObjectStore, prefix: str) -> None:
        self._store = store
        self._prefix = prefix
        self._running: Iterator[ObjectInfo] | None = None
        self.due = True

    @property
    def begins(self) -> bool:
        """Whether the next object is the first one."""
        return self.due and self._running is None

    def take(self, limit: int | None) -> Iterator[ObjectInfo]:
        """The next `limit` objects, or all that are left; none unless a listing is due.

        After a `StoreUnavailableError` the next call starts again.
        """
        if not self.due:
            return
        current, self._running = self._running or self._store.scan(self._prefix), None
        taken = 0
        for info in islice(current, limit):
            taken += 1
            yield info
        self.due = taken == limit
        self._running = current if self.due else None


class ScoreReader:
    """Reads from `store`, the bucket of episodes. Calls block."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    def each(
        self, items: Sequence[T], read: Callable[[T], R]
    ) -> Iterator[tuple[T, R | LabelError]]:
        """Yield each item with its result, read concurrently, or with its `LabelError`.

        An unavailable store ends the iteration with its error; earlier results are valid.
        """

        def attempt(item: T) -> R | LabelError:
            try:
                return read(item)
            except LabelError as error:
                return error
            except StoreUnavailableError:
                raise
            except Exception as error:  # the item's fault: the others are still read
                logger.exception("%s cannot be read", item)
                return LabelError("unreadable", f"{item}: {type(error).__name__}: {error}")

        if not items:
            return
        with ThreadPoolExecutor(_THREADS, thread_name_prefix="label-reader") as pool:
            for start in range(0, len(items), _BATCH):
                batch = items[start : start + _BATCH]
                yield from zip(batch, list(pool.map(attempt, batch)), strict=True)

    def label(self, key: str) -> LabelledSegment:
        """The label of a score object.

        Raises:
            LabelError: It is not a label.
        """
        score, sha256 = self.record(key)
        if (score.judge_config, score.segment_id) != keys.score_ids(key):
            raise LabelError("other_segment", f"{key} holds the score of {score.segment_id}")
        manifest = self._manifest(score)
        if manifest.observations.size_bytes > _MAX_OBSERVATIONS_BYTES:
            raise LabelError("too_large", f"{manifest.observations.key} is too large for a segment")
        rows = decode_observations(
            self._get(manifest.observations.key), manifest, inputs=OBSERVATION_SIZE
        )
        revision = keys.human_revision(score.judge_config) or 0
        try:
            return label(score, manifest, rows, score_sha256=sha256, revision=revision)
        except LabelError as error:
            if score.distrusted and error.reason == "abstained":
                names = ", ".join(score.distrusted)
                detail = f"answers of {names} on {score.segment_id} were unreadable"
                raise LabelError(UNREADABLE, detail) from error
            raise

    def record(self, key: str) -> tuple[ScoreRecord, str]:
        data = self._get(key)
        return _parse(ScoreRecord, data, key), hashlib.sha256(data).hexdigest()

    def comparison(self, key: str) -> ComparisonRecord:
        """The record of a comparison, without its calls."""
        record = _parse(ComparisonRecord, self._get(key), key)
        return record.model_copy(update={"calls": ()})

    def _manifest(self, score: ScoreRecord) -> SegmentManifest:
        data = self._get(score.manifest_key)
        if hashlib.sha256(data).hexdigest() != score.manifest_sha256:
            raise LabelError(
                "hash_mismatch", f"{score.manifest_key} is not the manifest that was scored"
            )
        return _parse(SegmentManifest, data, score.manifest_key)

    def _get(self, key: str) -> bytes:
        try:
            return self._store.get(key)
        except ObjectNotFoundError as error:
            raise LabelError("missing", f"{key} does not exist") from error
        except ObjectCorruptError as error:
            raise LabelError("invalid", str(error)) from error


def _parse(kind: type[C], data: bytes, key: str) -> C:
    try:
        return kind.model_validate_json(data)
    except ValidationError as error:
        raise LabelError("invalid", f"{key} is not a {kind.__name__}: {error}") from error
