"""Files appear whole, or stay as they were."""

import os
from pathlib import Path

import pytest

from rlaif.files.whole import drop_partial, replacing, write_whole


def partial_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.partial")


def test_a_file_is_replaced_and_its_folder_made(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "a"
    write_whole(path, b"old")
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(path.parent.iterdir()) == [path]


def test_a_full_disk_leaves_the_old_file_and_no_half(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_whole(path, b"old")
    partial_of(path).symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path], "what a failed write leaves would fill the disk"


def test_whatever_ends_the_block_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def interrupted() -> None:
        with replacing(path) as partial:
            partial.write_bytes(b"ne")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_killed_writer_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    kept = [tmp_path / "a", tmp_path / "b.partial"]
    for path in (*kept, tmp_path / ".a.123.partial"):
        path.write_bytes(b"x")
    drop_partial(tmp_path)
    assert sorted(tmp_path.iterdir()) == kept
