"""Demonstrations on disk: atomic, and bound to one game."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rlaif.trainer.curriculum import library
from rlaif.trainer.curriculum.demonstrations import Demonstration
from rlaif.trainer.settings.game import GameSettings

Made = Callable[..., Demonstration]
IDENTITY = library.identity_of(GameSettings(actions="macros"))
NOOK = Path(__file__).parents[3] / "data/nook/nook.gbc"


def test_written_demonstrations_are_read_bit_for_bit(made: Made, tmp_path: Path) -> None:
    written = [made("one"), made("two", length=30), made("two-0", part_of=("two", 8))]
    library.write(tmp_path, written, IDENTITY)
    read = library.read(tmp_path, IDENTITY)
    assert [each.name for each in read] == ["one", "two", "two-0"]
    for before, after in zip(written, read, strict=True):
        for name, mine in vars(before).items():
            its = getattr(after, name)
            if isinstance(mine, np.ndarray):
                assert mine.dtype == its.dtype
                assert np.array_equal(mine, its)
            else:
                assert mine == its


def test_new_demonstrations_replace_the_old_ones(made: Made, tmp_path: Path) -> None:
    library.write(tmp_path, [made("one"), made("two")], IDENTITY)
    library.write(tmp_path, [made("three")], IDENTITY)
    assert [each.name for each in library.read(tmp_path, IDENTITY)] == ["three"]


def test_a_demonstration_in_another_order_of_goals_is_left_out(made: Made, tmp_path: Path) -> None:
    other = made("two", marks={8: "shield", 20: "sword"})
    library.write(tmp_path, [made("one"), other], IDENTITY)
    assert [each.name for each in library.read(tmp_path, IDENTITY)] == ["one"]


@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "changed"])
def test_a_damaged_or_missing_file_is_named(made: Made, tmp_path: Path, damage: str) -> None:
    library.write(tmp_path, [made("one")], IDENTITY)
    (path,) = tmp_path.iterdir()
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes({"empty": b"", "cut": bytes(data[:-9])}.get(damage, bytes(data)))
    if damage == "missing":
        path.unlink()
    with pytest.raises(library.DemonstrationsError, match=str(path)):
        library.read(tmp_path, IDENTITY)


@pytest.mark.parametrize(
    ("changed", "name"), [({"actions": "options"}, "actions macros"), ({"rom_path": NOOK}, "ROM")]
)
def test_demonstrations_of_another_game_or_action_set_are_rejected(
    made: Made, tmp_path: Path, changed: dict[str, object], name: str
) -> None:
    library.write(tmp_path, [made()], IDENTITY)
    other = GameSettings(actions="macros").model_copy(update=changed)
    with pytest.raises(library.DemonstrationsError, match=f"have {name}.*, not"):
        library.read(tmp_path, library.identity_of(other))
