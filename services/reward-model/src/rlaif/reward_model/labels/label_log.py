"""The score objects of one judge configuration as labels, kept in memory and kept up to date.

The objects are the log: written once and never changed, with everything that led to the value in
them. What is kept here is made of them again after every start.

Events are hints only: a look lists the objects after the last known key, and now and then all of
them, so a lost event costs time and nothing else. Each object is read once.

What a person said of a segment (`scores/human-{n}/`, n counts the revisions) takes the place of
what the judges said, whatever their configuration; the highest revision counts.

Comparisons of near-ties are no events; a full listing finds them.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from rlaif.contracts.comparisons import ComparisonRecord
from rlaif.contracts.model import Contract
from rlaif.contracts.observation import OBSERVATION_SIZE
from rlaif.contracts.scores import ScoreRecord
from rlaif.contracts.segments import SegmentManifest
from rlaif.reward_model.labels.export import LabelEntry, entry_of
from rlaif.reward_model.labels.labels import (
    LabelError,
    LabelledSegment,
    decode_observations,
    in_order,
    label,
    with_comparisons,
)
from rlaif.storage import keys
from rlaif.storage.ports import ObjectInfo, ObjectNotFoundError, ObjectStore

OBSERVATIONS_CAP_BYTES = 8 * 1024 * 1024
"""75 steps of float32 observations take 38 kB; a longer file is not a segment."""

_HUMAN_SCORES = "scores/human-"
_READERS = 8

C = TypeVar("C", bound=Contract)
T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class _Score:
    """A score object that was read, before its observations are."""

    key: str
    sha256: str
    record: ScoreRecord


class LabelLog:
    """Labels of one judge configuration. Used by one thread at a time."""

    def __init__(self, store: ObjectStore, *, judge_config: str | None, most_labels: int) -> None:
        """Read from `store`, the episodes' bucket.

        Without `judge_config` the configuration that scored last counts. Of the judges' labels the
        newest `most_labels` are kept, of people's all.
        """
        self._store = store
        self._wanted = judge_config
        self._most = most_labels
        self._forget(judge_config)

    def _forget(self, judge_config: str | None) -> None:
        self.judge_config = judge_config
        self._seen: set[str] = set()
        self._last_key = ""
        self._labels: dict[str, LabelledSegment] = {}
        self._skipped: Counter[str] = Counter()
        self._reasons: dict[str, str] = {}
        self._compared: set[str] = set()
        self._comparisons: list[ComparisonRecord] = []

    @property
    def labels(self) -> tuple[LabelledSegment, ...]:
        """One label a segment, oldest first; what a person said counts before the judges."""
        chosen: dict[str, LabelledSegment] = {}
        for item in list(self._labels.values()):
            known = chosen.get(item.segment_id)
            if known is None or item.revision > known.revision:
                chosen[item.segment_id] = item
        return tuple(with_comparisons(in_order(chosen.values()), self._comparisons))

    @property
    def compared(self) -> frozenset[tuple[str, str]]:
        """Segments that judges were shown side by side, whatever they said; smaller ids first."""
        return frozenset((record.first, record.second) for record in self._comparisons)

    @property
    def skipped(self) -> dict[str, int]:
        """Reason → score objects that are no label."""
        return dict(self._skipped)

    def read_new(self, hints: Iterable[str] = (), *, full: bool) -> None:
        """Read the score objects that are new, those of `hints` among them. Blocks.

        `full` lists every score object, and chooses the configuration again, instead of listing
        after the last known key only. After a `StoreUnavailableError` the next call resumes.
        """
        if full or self.judge_config is None:
            listed = self._list_all()
        else:
            found = self._store.list(keys.scores(self.judge_config), after=self._last_key)
            listed = [info.key for info in found]
        overrides = [info.key for info in self._store.list(_HUMAN_SCORES)]
        mine = [key for key in sorted({*listed, *overrides, *hints}) if self._is_mine(key)]
        unread = [key for key in mine if key not in self._seen]
        scores = [score for _, score in self._read_each(unread, self._read_score)]
        for score, made in self._read_each(self._keep_newest(scores), self._read_label):
            self._labels[score.key] = made
            self._seen.add(score.key)
        if full and self.judge_config is not None:
            self._read_comparisons(self.judge_config)
        # Not from hints: keys below a hinted one may not have been listed yet.
        self._last_key = max([self._last_key, *(key for key in listed if key in self._seen)])

    def entries(self) -> Iterator[LabelEntry]:
        """Every score object with its provenance, from the store, by key. Blocks.

        Those that are no label are among them, and say why: nothing is left out of the log.
        """
        chosen = {item.score_sha256 for item in self.labels}
        prefixes = [_HUMAN_SCORES] if self.judge_config is None else [
            keys.scores(self.judge_config), _HUMAN_SCORES
        ]  # fmt: skip
        for prefix in prefixes:
            for info in self._store.list(prefix):
                if not self._is_mine(info.key):
                    continue
                try:
                    score = self._read_score(info.key)
                except LabelError as error:
                    yield LabelEntry(score_key=info.key, used=False, why_not=error.reason)
                    continue
                used = score.sha256 in chosen
                reason = None if used else self._reasons.get(info.key, "overridden")
                yield entry_of(score.record, key=info.key, sha256=score.sha256, why_not=reason)

    def _is_mine(self, key: str) -> bool:
        ids = keys.score_ids(key)
        return ids is not None and (ids[0] == self.judge_config or _revision(ids[0]) > 0)

    def _list_all(self) -> list[str]:
        """Keys of the chosen configuration; forgets the labels when it is another one now."""
        latest: dict[str, ObjectInfo] = {}
        by_config: dict[str, list[str]] = {}
        for info in self._store.list(keys.scores(self._wanted or "")):
            if (ids := keys.score_ids(info.key)) is None or _revision(ids[0]):
                continue
            by_config.setdefault(ids[0], []).append(info.key)
            if ids[0] not in latest or info.modified_at > latest[ids[0]].modified_at:
                latest[ids[0]] = info
        chosen = self._wanted
        if chosen is None and latest:
            chosen = max(latest, key=lambda config: (latest[config].modified_at, config))
        if chosen != self.judge_config:
            self._forget(chosen)
        return by_config.get(chosen or "", [])

    def _read_comparisons(self, judge_config: str) -> None:
        """Read the comparisons that are new, and forget those of segments that are forgotten."""
        listed = [info.key for info in self._store.list(keys.comparisons(judge_config))]
        unread = [key for key in listed if key not in self._compared]
        found = [record for _, record in self._read_each(unread, self._read_comparison)]
        self._compared.update(unread)
        known = {item.segment_id for item in self._labels.values()}
        self._comparisons = [
            record
            for record in (*self._comparisons, *found)
            if record.first in known and record.second in known
        ]

    def _read_comparison(self, key: str) -> ComparisonRecord:
        return _parse(ComparisonRecord, self._get(key), key)

    def _keep_newest(self, scores: list[_Score]) -> list[_Score]:
        """Drop judges' labels and scores beyond the newest ones; gives the scores that stay."""
        dated = [
            (item.run_id, item.scored_at, item.env_step, key)
            for key, item in self._labels.items()
            if not item.revision
        ]
        dated += [
            (item.record.run_id, item.record.created_at, item.record.env_step, item.key)
            for item in scores
            if not _revision(item.record.judge_config)
        ]
        began: dict[str, datetime] = {}
        for run, at, _, _ in dated:
            began[run] = min(at, began.get(run, at))
        ages = sorted((began[run], run, step, key) for run, _, step, key in dated)
        for *_, key in ages[: max(0, len(ages) - self._most)]:
            self._labels.pop(key, None)
            self._skip(key, "older")
        return [score for score in scores if score.key not in self._seen]

    def _read_each(self, items: list[T], read: Callable[[T], R]) -> list[tuple[T, R]]:
        """Read several at once; those that are no label are counted and left out."""

        def attempt(item: T) -> R | LabelError:
            try:
                return read(item)
            except LabelError as error:
                return error

        if not items:
            return []
        with ThreadPoolExecutor(_READERS, thread_name_prefix="label-reader") as pool:
            results = list(pool.map(attempt, items))
        good: list[tuple[T, R]] = []
        for item, result in zip(items, results, strict=True):
            if isinstance(result, LabelError):
                self._skip(item.key if isinstance(item, _Score) else str(item), result.reason)
            else:
                good.append((item, result))
        return good

    def _skip(self, key: str, reason: str) -> None:
        self._seen.add(key)
        self._skipped[reason] += 1
        self._reasons[key] = reason

    def _read_score(self, key: str) -> _Score:
        data = self._get(key)
        record = _parse(ScoreRecord, data, key)
        if (record.judge_config, record.segment_id) != keys.score_ids(key):
            raise LabelError("other_segment", f"{key} holds the score of {record.segment_id}")
        return _Score(key, hashlib.sha256(data).hexdigest(), record)

    def _read_label(self, score: _Score) -> LabelledSegment:
        data = self._get(score.record.manifest_key)
        if hashlib.sha256(data).hexdigest() != score.record.manifest_sha256:
            raise LabelError(
                "hash_mismatch", f"{score.record.manifest_key} is not the manifest that was scored"
            )
        manifest = _parse(SegmentManifest, data, score.record.manifest_key)
        return label(
            score.record,
            manifest,
            self._observations(manifest),
            score_sha256=score.sha256,
            revision=_revision(score.record.judge_config),
        )

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


def _revision(judge_config: str) -> int:
    """Which revision of a person's label, 0 for those of judges."""
    return keys.human_revision(judge_config) or 0


def _parse(kind: type[C], data: bytes, key: str) -> C:
    try:
        return kind.model_validate_json(data)
    except ValidationError as error:
        raise LabelError("invalid", f"{key} is not a {kind.__name__}: {error}") from error
