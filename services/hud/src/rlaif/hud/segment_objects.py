"""Reads what the ring has stored of one segment. Calls block."""

from dataclasses import dataclass
from pathlib import PurePosixPath

from pydantic import ValidationError

from rlaif.contracts.scores import ScoreRecord
from rlaif.contracts.segments import SegmentManifest
from rlaif.storage import keys
from rlaif.storage.ports import ObjectNotFoundError, ObjectStore


class UnreadableObjectError(Exception):
    """The object exists but is not what its key promises."""


@dataclass(frozen=True)
class StoredSegment:
    """What was found; `score_problem` says why a score that should be there was not read."""

    manifest: SegmentManifest
    score: ScoreRecord | None
    score_problem: str | None


def read_segment(
    store: ObjectStore, episode_id: str, segment_id: str, judge_config: str | None
) -> StoredSegment:
    """Read the manifest, and the score of `judge_config` unless that is None.

    Raises:
        ObjectNotFoundError: The segment was not exported.
        UnreadableObjectError: Its manifest is not a manifest.
    """
    key = keys.manifest(episode_id, segment_id)
    try:
        manifest = SegmentManifest.model_validate_json(store.get(key))
    except ValidationError as error:
        raise UnreadableObjectError(f"{key} is not a manifest of a version known here") from error
    if judge_config is None:
        return StoredSegment(manifest, None, None)
    key = keys.score(judge_config, segment_id)
    try:
        return StoredSegment(manifest, ScoreRecord.model_validate_json(store.get(key)), None)
    except ObjectNotFoundError:
        return StoredSegment(manifest, None, f"{key} does not exist")
    except ValidationError:
        return StoredSegment(manifest, None, f"{key} is not a score of a version known here")


def picture_names(manifest: SegmentManifest) -> list[tuple[str, int | None]]:
    """(file name, decision step) of each picture; the step is None when the lists differ."""
    names = [PurePosixPath(picture.key).name for picture in manifest.pictures]
    if len(names) != len(manifest.picture_steps):
        return [(name, None) for name in names]
    return list(zip(names, manifest.picture_steps, strict=True))


def read_picture(store: ObjectStore, episode_id: str, segment_id: str, name: str) -> bytes:
    """One picture of a segment, or `ObjectNotFoundError`."""
    return store.get(keys.segment(episode_id, segment_id, f"frames/{name}"))
