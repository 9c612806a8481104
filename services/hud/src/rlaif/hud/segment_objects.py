"""Reads the stored objects of one segment, and converts films to WebP. Calls block."""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePosixPath

from pydantic import ValidationError

from rlaif.contracts.game.captures import Capture
from rlaif.contracts.game.films import (
    MAX_PICTURES,
    FilmError,
    FilmIndex,
    Patch,
    pack_film,
)
from rlaif.contracts.game.rates import EXACT_FRAMES_PER_SECOND
from rlaif.contracts.game.segments import SegmentManifest, StateRecord
from rlaif.contracts.judging.scores import ScoreRecord
from rlaif.storage import keys, sealed
from rlaif.storage.ports import (
    InvalidKeyError,
    ObjectCorruptError,
    ObjectNotFoundError,
    ObjectStore,
)

_PNG_SIZE = struct.Struct(">II")

LAST_MILLISECONDS = 1000
"""Duration of the last picture before the film repeats."""

# Source: https://developers.google.com/speed/webp/docs/riff_container
_ANIMATED = 0x02
_DO_NOT_BLEND = 0x02


class UnreadableObjectError(Exception):
    """The object exists but does not match its key."""


@dataclass(frozen=True)
class StoredSegment:
    """The objects; `score_problem` is why an expected score was not read."""

    manifest: SegmentManifest
    score: ScoreRecord | None
    score_problem: str | None


@contextmanager
def _readable(key: str, what: str, *, missing_is_unreadable: bool = True) -> Iterator[None]:
    """Turn the errors of reading an object into `UnreadableObjectError`."""
    try:
        yield
    except ValidationError as error:
        raise UnreadableObjectError(f"{key} is not {what} of a known version") from error
    except ObjectNotFoundError as error:
        if not missing_is_unreadable:
            raise
        raise UnreadableObjectError(str(error)) from error
    except (ObjectCorruptError, InvalidKeyError, FilmError) as error:
        raise UnreadableObjectError(str(error)) from error


def read_manifest(store: ObjectStore, episode_id: str, segment_id: str) -> SegmentManifest:
    """The manifest of a segment.

    Raises:
        ObjectNotFoundError: The segment was not exported.
        UnreadableObjectError: It is not a manifest.
    """
    key = keys.manifest(episode_id, segment_id)
    with _readable(key, "a manifest", missing_is_unreadable=False):
        data = store.get(key)
        return SegmentManifest.model_validate_json(data)


def read_segment(
    store: ObjectStore, episode_id: str, segment_id: str, judge_config: str | None
) -> StoredSegment:
    """Read the manifest, and the score of `judge_config` unless that is None.

    Raises as `read_manifest` does.
    """
    manifest = read_manifest(store, episode_id, segment_id)
    if judge_config is None:
        return StoredSegment(manifest, None, None)
    key = keys.score(judge_config, segment_id)
    # A score under the second key replaces a provisional one.
    again = keys.rejudged(judge_config, segment_id)
    try:
        key = again if store.head(again) is not None else key
        with _readable(key, "a score", missing_is_unreadable=False):
            data = store.get(key)
            return StoredSegment(manifest, ScoreRecord.model_validate_json(data), None)
    except ObjectNotFoundError:
        return StoredSegment(manifest, None, f"{key} does not exist")
    except UnreadableObjectError as error:
        return StoredSegment(manifest, None, str(error))


def read_score(store: ObjectStore, key: str, digest: str) -> ScoreRecord:
    """A score that an event announced; UnreadableObjectError if missing or different."""
    with _readable(key, "a score"):
        return ScoreRecord.model_validate_json(sealed.read(store, key, digest))


def read_capture(store: ObjectStore, manifest: SegmentManifest) -> Capture:
    """The capture; UnreadableObjectError if it is missing or different."""
    key = manifest.capture_key
    with _readable(key, "a capture"):
        data = sealed.read(store, key, manifest.capture_sha256)
        return Capture.model_validate_json(data)


def read_states(store: ObjectStore, manifest: SegmentManifest) -> list[StateRecord]:
    """State after each emulator step; UnreadableObjectError if they cannot be read."""
    file = manifest.states
    with _readable(file.key, "a list of states"):
        data = sealed.read(store, file.key, file.sha256)
        return [StateRecord.model_validate_json(line) for line in data.splitlines()]


def read_film(store: ObjectStore, manifest: SegmentManifest) -> bytes:
    """The segment's film; for an older export it is built from its pictures.

    Raises:
        UnreadableObjectError: It cannot be read, or there is no picture at all.
    """
    film = manifest.film
    with _readable(film.key if film else manifest.segment_id, "a film"):
        if film is not None:
            return sealed.read(store, film.key, film.sha256)
        return _film_of_pictures(store, manifest)


def _film_of_pictures(store: ObjectStore, manifest: SegmentManifest) -> bytes:
    if not manifest.pictures or len(manifest.pictures) != len(manifest.picture_steps):
        raise FilmError(f"segment {manifest.segment_id} has no pictures with a known step")
    patches, size = [], (160, 144)
    named = zip(manifest.picture_steps, manifest.pictures, strict=True)
    for step, file in islice(named, MAX_PICTURES):
        png = sealed.read(store, file.key, file.sha256)
        size = png_size(png)
        # Waits are unknown here; a step has at least `frame_skip` frames.
        patches.append(Patch(step, (step + 1) * manifest.frame_skip, 0, 0, *size, png))
    return pack_film(manifest.segment_id, patches, type="image/png", size=size)


def png_size(png: bytes) -> tuple[int, int]:
    """(width, height) of a PNG; FilmError for anything else."""
    if len(png) < 24 or png[1:4] != b"PNG":
        raise FilmError("a picture of the segment is not a PNG")
    width, height = _PNG_SIZE.unpack_from(png, 16)
    return int(width), int(height)


def picture_names(manifest: SegmentManifest) -> list[tuple[str, int | None]]:
    """(file name, emulator step) of each picture; the step is None when the lists differ."""
    names = [PurePosixPath(picture.key).name for picture in manifest.pictures]
    if len(names) != len(manifest.picture_steps):
        return [(name, None) for name in names]
    return list(zip(names, manifest.picture_steps, strict=True))


def read_picture(store: ObjectStore, episode_id: str, segment_id: str, name: str) -> bytes:
    """One picture of a segment, or `ObjectNotFoundError`."""
    return store.get(keys.segment(episode_id, segment_id, f"frames/{name}"))


def animation(index: FilmIndex, pictures: list[bytes]) -> bytes:
    """The animation of a film whose pictures are lossless WebP; FilmError for others."""
    if index.type != "image/webp":
        raise FilmError(f"its pictures are {index.type}; an animation requires image/webp")
    size = _u24(index.width - 1) + _u24(index.height - 1)
    body = _chunk(b"VP8X", struct.pack("<I", _ANIMATED) + size)
    body += _chunk(b"ANIM", struct.pack("<IH", 0, 0))  # black, endless
    for number, milliseconds in _shown(index):
        place = index.pictures[number]
        head = _u24(place.x // 2) + _u24(place.y // 2)
        head += _u24(place.width - 1) + _u24(place.height - 1)
        head += _u24(milliseconds) + bytes([_DO_NOT_BLEND])
        body += _chunk(b"ANMF", head + _bitstream(pictures[number]))
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WEBP" + body


def _shown(index: FilmIndex) -> Iterator[tuple[int, int]]:
    """(number, milliseconds) of each picture that differs from the last; others extend it."""
    changing = [number for number, each in enumerate(index.pictures) if each.length]
    starts = [_milliseconds(index.pictures[number].frame) for number in changing]
    end = _milliseconds(index.pictures[-1].frame) + LAST_MILLISECONDS
    for number, start, stop in zip(changing, starts, [*starts[1:], end], strict=True):
        yield number, stop - start


def _milliseconds(frame: int) -> int:
    return round(1000 * frame / EXACT_FRAMES_PER_SECOND)


def _bitstream(picture: bytes) -> bytes:
    at = 12
    while at + 8 <= len(picture):
        kind = picture[at : at + 4]
        (length,) = struct.unpack_from("<I", picture, at + 4)
        if kind == b"VP8L":
            return _chunk(kind, picture[at + 8 : at + 8 + length])
        at += 8 + length + length % 2
    raise FilmError("a picture is not a lossless WebP")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return kind + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def _u24(value: int) -> bytes:
    return struct.pack("<I", value)[:3]
