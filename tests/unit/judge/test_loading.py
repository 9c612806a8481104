from collections.abc import Callable
from typing import Any

import pytest

from rlaif.contracts.events import SegmentExported
from rlaif.contracts.game.segments import StoredFile
from rlaif.judge.evidence.loading import (
    CorruptSegmentError,
    LoadedSegment,
    load_pictures,
    load_segment,
    spread,
)
from rlaif.storage.ports import ObjectNotFoundError, ObjectStore


def _load(
    store: ObjectStore, event: SegmentExported, most: int = 4
) -> tuple[LoadedSegment, list[tuple[bytes, int]]]:
    segment = load_segment(store, event)
    return segment, load_pictures(store, segment.manifest, most)


def test_a_whole_segment_is_loaded_with_a_few_pictures(store: ObjectStore, segments: Any) -> None:
    segment, pictures = _load(store, segments.write_segment(store))
    assert len(segment.states) == 75
    assert [step for _, step in pictures] == [0, 2, 3, 5]


def test_pictures_that_no_page_shows_are_not_fetched(store: ObjectStore, segments: Any) -> None:
    event = segments.write_segment(store, leave_out="frames/000000.png")
    assert _load(store, event, most=0)[1] == []


def test_pictures_are_spread_over_the_segment(store: ObjectStore, segments: Any) -> None:
    files = _load(store, segments.write_segment(store, pictures=7))[0].manifest.pictures
    assert spread(files, 4) == [files[0], files[2], files[4], files[6]]
    assert spread(files, 1) == [files[-1]]
    assert spread(files, 0) == spread([], 4) == []
    assert spread(files[:2], 4) == list(files[:2])


@pytest.mark.parametrize("name", ["manifest.json", "states.jsonl", "frames/000000.png"])
def test_a_missing_object_is_named(store: ObjectStore, segments: Any, name: str) -> None:
    event = segments.write_segment(store, leave_out=name)
    with pytest.raises(ObjectNotFoundError, match=name):
        _load(store, event)


@pytest.mark.parametrize("name", ["manifest.json", "states.jsonl", "frames/000000.png"])
def test_one_changed_byte_is_noticed(store: ObjectStore, segments: Any, name: str) -> None:
    event = segments.write_segment(store)
    key = f"ep-1/seg-1/{name}"
    data = bytearray(store.get(key))
    data[-2] ^= 1
    store.put(key, bytes(data))
    with pytest.raises(CorruptSegmentError, match="SHA-256"):
        _load(store, event)


@pytest.mark.parametrize(
    "lines",
    [b"", b"{}", b"not json", b"[" * 5000, b'{"step": 7, "frame": 4, "action": "A", "state": {}}'],
)
def test_states_that_do_not_fit_the_manifest_are_corrupt(
    store: ObjectStore, segments: Any, lines: bytes
) -> None:
    with pytest.raises(CorruptSegmentError):
        _load(store, segments.write_segment(store, lines=lines))


@pytest.mark.parametrize("picture", [b"GIF89a" + b"x" * 50, b"x" * (256 * 1024 + 1)])
def test_a_picture_that_is_none_is_corrupt(
    store: ObjectStore, segments: Any, picture: bytes
) -> None:
    with pytest.raises(CorruptSegmentError):
        _load(store, segments.write_segment(store, picture=picture))


def test_a_small_file_that_holds_a_huge_picture_is_corrupt(
    store: ObjectStore, segments: Any, png: Callable[..., bytes]
) -> None:
    with pytest.raises(CorruptSegmentError, match="screen"):
        _load(store, segments.write_segment(store, picture=png(width=60000, height=60000)))


def test_a_manifest_of_another_segment_is_corrupt(store: ObjectStore, segments: Any) -> None:
    with pytest.raises(CorruptSegmentError, match="describes"):
        _load(store, segments.write_segment(store, manifest_of="seg-2"))


def test_a_file_outside_the_segments_folder_is_corrupt(store: ObjectStore, segments: Any) -> None:
    states = StoredFile(key="ep-1/other/states.jsonl", sha256="0" * 64, size_bytes=1)
    with pytest.raises(CorruptSegmentError, match="is outside"):
        _load(store, segments.write_segment(store, states_file=states))
