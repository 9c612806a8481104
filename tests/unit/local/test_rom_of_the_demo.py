"""A file that is no ROM, or one that training cannot begin on, ends the demo at once."""

import os
from pathlib import Path

import pytest

from rlaif.local.__main__ import main


def cut_off(path: Path) -> None:
    header = bytearray(0x200)
    header[0x148] = 5
    for byte in header[0x134:0x14D]:
        header[0x14D] = header[0x14D] - byte - 1 & 0xFF
    path.write_bytes(header)


def two_gigabytes(path: Path) -> None:
    path.touch()
    os.truncate(path, 2 << 30)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: None, "no ROM at"),
        (Path.mkdir, "it is a folder; give the file in it"),
        (lambda path: path.write_text("notes\n"), "too few for a Game Boy ROM"),
        (two_gigabytes, "it has 2147483648 bytes, a Game Boy ROM has at most 8388608"),
        (cut_off, "cut off or trimmed"),
        (os.mkfifo, "it is a device, pipe or socket"),
    ],
)
def test_a_file_that_is_no_rom_ends_the_demo_before_anything_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], make, why: str
):
    path = tmp_path / "my [b1] game.gbc"
    make(path)
    assert main(["--rom", str(path), "--data-dir", str(tmp_path / "var")]) == 2
    printed = capsys.readouterr()
    assert why in printed.err
    assert str(path) in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""
    assert not (tmp_path / "var").exists()


def test_a_game_that_training_cannot_begin_on_ends_the_demo_before_anything_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    rom = bytearray(0x8000)
    rom[0x100:0x102] = bytes.fromhex("18fe")  # jr to itself
    for byte in rom[0x134:0x14D]:
        rom[0x14D] = rom[0x14D] - byte - 1 & 0xFF
    path = tmp_path / "still.gb"
    path.write_bytes(rom)
    assert main(["--rom", str(path), "--data-dir", str(tmp_path / "var")]) == 2
    reported = capsys.readouterr().err
    assert "cannot be started: after 6000 frames" in reported
    assert "save with F5, and set TRAINER_INITIAL_STATE_PATH" in reported
    assert not (tmp_path / "var").exists()


def test_the_rom_of_the_settings_is_checked_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ROM_PATH", str(tmp_path))
    assert main(["--data-dir", str(tmp_path / "var")]) == 2
    assert "it is a folder" in capsys.readouterr().err
