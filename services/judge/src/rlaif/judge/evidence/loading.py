"""Reads an exported segment from the object store and verifies every digest, size and shape."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import ValidationError

from rlaif.contracts.events import SegmentExported
from rlaif.contracts.game.segments import SegmentManifest, StateRecord, StoredFile
from rlaif.contracts.judging.scores import ScoreRecord
from rlaif.contracts.model import Contract
from rlaif.judge.evidence.described import DescribedState, described
from rlaif.storage import keys, sealed
from rlaif.storage.ports import ObjectCorruptError, ObjectStore

_PNG_MAGIC = b"\x89PNG\r\n\x1a\n"
_PNG_SIZE = slice(16, 24)
_MAX_PIXELS_PER_SIDE = 1024

M = TypeVar("M", bound=Contract)
T = TypeVar("T")


class CorruptSegmentError(Exception):
    """The segment does not match its event or its manifest."""


@dataclass(frozen=True)
class LoadedSegment:
    """A verified segment with one state per emulator step, in order."""

    manifest: SegmentManifest
    states: tuple[DescribedState, ...]


def load_segment(store: ObjectStore, of: SegmentExported | ScoreRecord) -> LoadedSegment:
    """Load the segment of an event or a score, without pictures. Blocks.

    Raises:
        ObjectNotFoundError: An object is missing.
        CorruptSegmentError: A digest, size or shape is wrong.
        StoreUnavailableError: The store did not answer.
    """
    key = of.manifest_key
    manifest = _parse(SegmentManifest, _fetch(store, key, of.manifest_sha256), key)
    if manifest.segment_id != of.segment_id or key != keys.manifest(
        manifest.episode_id, of.segment_id
    ):
        raise CorruptSegmentError(f"{key} of segment {of.segment_id} describes another one")
    return LoadedSegment(manifest, described(_load_records(store, manifest)))


def load_pictures(
    store: ObjectStore, manifest: SegmentManifest, limit: int
) -> list[tuple[bytes, int]]:
    """At most `limit` evenly spaced PNG files, each with the emulator step before it.

    Blocks; raises like `load_segment`.
    """
    if len(manifest.picture_steps) != len(manifest.pictures):
        raise CorruptSegmentError(f"segment {manifest.segment_id} has pictures without a step")
    every = list(zip(manifest.pictures, manifest.picture_steps, strict=True))
    return [(_load_picture(store, manifest, file), step) for file, step in spread(every, limit)]


def spread(items: Sequence[T], limit: int) -> list[T]:
    """At most `limit` evenly spaced items, including the first and the last."""
    if limit <= 0 or not items:
        return []
    if limit == 1 or len(items) == 1:
        return [items[-1]]
    count = min(limit, len(items))
    return [items[round(at * (len(items) - 1) / (count - 1))] for at in range(count)]


def _load_records(store: ObjectStore, manifest: SegmentManifest) -> list[StateRecord]:
    data = _fetch_file(store, manifest, manifest.states)
    key = manifest.states.key
    records = [_parse(StateRecord, line, key) for line in data.split(b"\n") if line.strip()]
    if [record.step for record in records] != list(range(manifest.decision_steps)):
        raise CorruptSegmentError(
            f"{key} has {len(records)} states, not the steps 0 to "
            f"{manifest.decision_steps - 1} in order"
        )
    return records


def _load_picture(store: ObjectStore, manifest: SegmentManifest, file: StoredFile) -> bytes:
    data = _fetch_file(store, manifest, file)
    size = data[_PNG_SIZE]
    # Check the decoded size in the header: a small file may contain a huge picture.
    sides = (int.from_bytes(size[:4]), int.from_bytes(size[4:]))
    if not data.startswith(_PNG_MAGIC) or not all(0 < s <= _MAX_PIXELS_PER_SIDE for s in sides):
        raise CorruptSegmentError(f"{file.key} is not a PNG of a game screen")
    return data


def _fetch_file(store: ObjectStore, manifest: SegmentManifest, file: StoredFile) -> bytes:
    folder = keys.segment(manifest.episode_id, manifest.segment_id, "")
    if not file.key.startswith(folder):
        raise CorruptSegmentError(f"{file.key} is outside {folder}")
    return _fetch(store, file.key, file.sha256)


def _fetch(store: ObjectStore, key: str, sha256: str) -> bytes:
    try:
        return sealed.read(store, key, sha256)
    except ObjectCorruptError as error:
        raise CorruptSegmentError(f"{error}; export again") from error


def _parse(kind: type[M], data: bytes, key: str) -> M:
    try:
        return kind.model_validate_json(data)
    except ValidationError as error:
        raise CorruptSegmentError(f"{key} is not a valid {kind.__name__}: {error}"[:500]) from error
