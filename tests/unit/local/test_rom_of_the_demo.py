"""`make … ROM=…`: any path reaches the command as it is, and what is no ROM ends it at once."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from rlaif.local.__main__ import main

ROOT = Path(__file__).parents[3]

NAMES = (
    "plain.gbc",
    "two  blanks.gbc",
    "single ' quote.gbc",
    'double " quote.gbc',
    "dollar $HOME $(ROM) ${x}.gbc",
    "back`date`tick.gbc",
    "hash # and [!] [b1].gbc",
    "ümläut 季節.gbc",
    "semi; echo broken & *.gbc",
    "back\\slash.gbc",
)

FAKE_PYTHON = """#!/bin/sh
for argument in "$@"; do printf '%s\\0' "$argument"; done > "$(dirname "$0")/../seen"
"""


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """A virtual environment that is set up, whose programs only note their arguments."""
    folder = tmp_path / "venv"
    (folder / "bin").mkdir(parents=True)
    for name in ("python", "rlaif"):
        program = folder / "bin" / name
        program.write_text(FAKE_PYTHON)
        program.chmod(0o755)
    (folder / "bin" / "pip").touch()
    for stamp in (".ready", ".ready-dev"):
        (folder / stamp).touch()
    return folder


@pytest.mark.skipif(
    shutil.which("make") is None, reason="make is not installed: on Debian, apt-get install make"
)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("target", ["demo", "play", "replay-check", "ladder"])
@pytest.mark.parametrize("given", ["argument", "environment"])
def test_make_hands_a_path_on_as_it_is(environment: Path, target: str, name: str, given: str):
    rom = f"/roms/{name}"
    inherited = dict(os.environ)
    command = ["make", "-s", target, f"VENV={environment}"]
    if given == "argument":
        command.append(f"ROM={rom}")
    else:
        inherited["ROM"] = rom
    subprocess.run(command, cwd=ROOT, env=inherited, check=True, timeout=60)
    seen = (environment / "seen").read_bytes().decode().split("\0")
    assert f"--rom={rom}" in seen or seen[seen.index("--") + 1] == rom


def test_without_a_rom_make_gives_none(environment: Path):
    inherited = {key: value for key, value in os.environ.items() if key != "ROM"}
    command = ["make", "-s", "play", f"VENV={environment}"]
    subprocess.run(command, cwd=ROOT, env=inherited, check=True, timeout=60)
    seen = (environment / "seen").read_bytes().decode()
    assert seen.split("\0") == ["play", ""]


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
    told = capsys.readouterr().err
    assert "cannot be started: after 6000 frames" in told
    assert "save with F5, and set TRAINER_INITIAL_STATE_PATH" in told
    assert not (tmp_path / "var").exists()


def test_the_rom_of_the_settings_is_checked_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("ROM_PATH", str(tmp_path))
    assert main(["--data-dir", str(tmp_path / "var")]) == 2
    assert "it is a folder" in capsys.readouterr().err
