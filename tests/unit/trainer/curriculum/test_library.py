"""Demonstrations on disk: atomic, and bound to one game."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlaif.contracts.game.captures import GameIdentity
from rlaif.files.whole import write_whole
from rlaif.trainer.curriculum import library
from rlaif.trainer.curriculum.demonstrations import Demonstration

Made = Callable[..., Demonstration]


def test_written_demonstrations_are_read_bit_for_bit(made: Made, tmp_path: Path) -> None:
    written = [made("one"), made("two", length=30)]
    library.write(tmp_path / "found", written)
    read = library.read(tmp_path / "found", written[0].identity)
    assert [each.name for each in read] == ["one", "two"]
    for before, after in zip(written, read, strict=True):
        assert (after.reached, after.states) == (before.reached, before.states)
        for name in ("decisions", "imitated", "frames", "rewards", "observations", "policy_inputs"):
            mine, its = getattr(before, name), getattr(after, name)
            assert mine.dtype == its.dtype
            assert np.array_equal(mine, its)


def test_new_demonstrations_replace_the_old_ones(made: Made, tmp_path: Path) -> None:
    library.write(tmp_path / "found", [made("one"), made("two")])
    library.write(tmp_path / "found", [made("three")])
    assert [each.name for each in library.read(tmp_path / "found", made().identity)] == ["three"]
    files = {path.name for path in (tmp_path / "found").iterdir()}
    assert files == {"demonstrations.json", "three.npz.zst"}


def test_a_failing_disk_leaves_the_old_demonstrations_intact(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.write(tmp_path / "found", [made("one")])

    def fails_at_the_second(path: Path, data: bytes) -> None:
        if path.name.startswith("three"):
            raise OSError(28, "No space left on device")
        write_whole(path, data)

    monkeypatch.setattr(library, "write_whole", fails_at_the_second)
    with pytest.raises(OSError, match="No space"):
        library.write(tmp_path / "found", [made("two"), made("three")])
    assert [each.name for each in library.read(tmp_path / "found", made().identity)] == ["one"]


@pytest.mark.parametrize("damage", [b"", b"junk", None])
def test_a_damaged_or_missing_file_is_named(
    made: Made, tmp_path: Path, damage: bytes | None
) -> None:
    library.write(tmp_path / "found", [made("one")])
    path = tmp_path / "found" / "one.npz.zst"
    path.write_bytes(damage) if damage is not None else path.unlink()
    with pytest.raises(library.DemonstrationsError, match=r"one\.npz\.zst cannot be used"):
        library.read(tmp_path / "found", made().identity)


def test_an_empty_folder_has_no_demonstrations(made: Made, tmp_path: Path) -> None:
    assert not library.exists(tmp_path)
    with pytest.raises(library.DemonstrationsError, match="run a search first"):
        library.read(tmp_path, made().identity)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"game": GameIdentity(title="OTHER", rom_sha256="cd" * 32)}, "game"),
        ({"actions": "options"}, "actions macros, this run has options"),
        ({"decisions": 8}, "decisions 20, this run has 8"),
        ({"inputs": 4}, "inputs 3, this run has 4"),
    ],
)
def test_demonstrations_of_another_game_or_action_set_are_rejected(
    made: Made, tmp_path: Path, changes: dict[str, Any], why: str
) -> None:
    library.write(tmp_path / "found", [made()])
    other = made().identity.model_copy(update=changes)
    with pytest.raises(library.DemonstrationsError, match=why):
        library.read(tmp_path / "found", other)
