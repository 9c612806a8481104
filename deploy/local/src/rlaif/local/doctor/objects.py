"""I4: reads every object of segments, scores and reward models, and compares digests."""

import hashlib
import re
from collections.abc import Iterator

from pydantic import ValidationError

from rlaif.contracts.game.segments import SegmentManifest
from rlaif.contracts.judging.scores import ScoreRecord
from rlaif.contracts.reward_models import RewardModelManifest
from rlaif.game.captures.capture import KeyframeError, unpack_keyframe
from rlaif.local.doctor.findings import Finding
from rlaif.storage import keys, sealed
from rlaif.storage.ports import ObjectCorruptError, ObjectNotFoundError, ObjectStore

_KEYFRAME = re.compile(r"keyframes/([0-9a-f]{64})\.state\.zst")


def scrub_episodes(episodes: ObjectStore) -> Iterator[Finding]:
    """Check manifests with their files and captures, keyframes, and scores. Blocks."""
    digests: dict[str, str] = {}
    scores = []
    for info in episodes.scan():
        if (keyframe := _KEYFRAME.fullmatch(info.key)) is not None:
            yield from _keyframe(episodes, info.key, keyframe[1])
        elif keys.score_ids(info.key) is not None:
            scores.append(info.key)
        elif keys.manifest_ids(info.key) is not None:
            yield from _segment(episodes, info.key, digests)
        elif (file := keys.segment_file_ids(info.key)) is not None:
            digests.setdefault(keys.manifest(*file), "")
    for key in scores:
        yield from _score(episodes, key, digests)


def scrub_models(models: ObjectStore) -> Iterator[Finding]:
    """Check the file of each reward model. Blocks."""
    for info in models.scan(keys.REWARD_MODELS):
        if keys.reward_model_version(info.key) is None:
            continue
        try:
            data = models.get(info.key)
            made = RewardModelManifest.model_validate_json(data)
        except (ValidationError, ObjectCorruptError) as error:
            yield _unreadable(info.key, error)
            continue
        yield from _file(models, made.model_key, made.model_sha256)


def _segment(episodes: ObjectStore, key: str, digests: dict[str, str]) -> Iterator[Finding]:
    try:
        data = episodes.get(key)
        digests[key] = hashlib.sha256(data).hexdigest()
        manifest = SegmentManifest.model_validate_json(data)
    except (ValidationError, ObjectCorruptError) as error:
        yield _unreadable(key, error)
        return
    except ObjectNotFoundError:  # deleted meanwhile, after EXPORTER_KEEP_DAYS
        return
    film = () if manifest.film is None else (manifest.film,)
    found = list(_file(episodes, manifest.capture_key, manifest.capture_sha256))
    for file in (manifest.states, manifest.observations, *manifest.pictures, *film):
        found += _file(episodes, file.key, file.sha256, "--repair exports the segment again")
    if found and episodes.head(key) is not None:
        yield from found


def _keyframe(episodes: ObjectStore, key: str, sha256: str) -> Iterator[Finding]:
    try:
        unpack_keyframe(episodes.get(key), sha256)
    except (KeyframeError, ObjectCorruptError) as error:
        yield Finding("I4", "object_corrupt", key, f"{key}: {error}; restore it from a backup")


def _score(episodes: ObjectStore, key: str, digests: dict[str, str]) -> Iterator[Finding]:
    try:
        score = ScoreRecord.model_validate_json(episodes.get(key))
    except (ValidationError, ObjectCorruptError) as error:
        yield _unreadable(key, error)
        return
    found = digests.get(score.manifest_key)
    # A segment deleted after EXPORTER_KEEP_DAYS has no files.
    if found not in (None, score.manifest_sha256):
        state = "has changed" if found else "is missing"
        text = f"{key} judged {score.manifest_key}, which {state}; restore it from a backup"
        yield Finding("I4", "judged_manifest_changed", key, text)


def _file(
    store: ObjectStore, key: str, sha256: str, remedy: str = "restore it from a backup"
) -> Iterator[Finding]:
    try:
        sealed.read(store, key, sha256)
    except ObjectNotFoundError:
        yield Finding("I4", "object_missing", key, f"{store.url} lacks {key}; {remedy}")
    except ObjectCorruptError as error:
        yield Finding("I4", "object_corrupt", key, f"{error}; {remedy}")


def _unreadable(key: str, error: Exception) -> Finding:
    first = str(error).splitlines()[0]
    return Finding("I4", "object_unreadable", key, f"{key}: {first}; restore it from a backup")
