"""What `play`, `inspect` and `replay-check` say of files that they cannot use: a line, code 2."""

import os
from pathlib import Path

import pytest

from rlaif.game import inspection
from rlaif.game.machine.cartridges import CartridgeError, load_cartridge
from rlaif.game.machine.emulator import BadRomError, Emulator
from rlaif.game.machine.rom_checks import CARTRIDGE_TYPES, RAM_SIZE_CODES, header_checksum
from rlaif.game.play import command
from rlaif.game.replay_check import checks

COMMANDS = {
    "play": command.main,
    "inspect": inspection.main,
    "replay-check": checks.main,
}


def two_gigabytes(path: Path) -> None:
    path.touch()
    os.truncate(path, 2 << 30)


def damaged(path: Path) -> None:
    data = bytearray(load_cartridge().data)
    data[0x140] ^= 0xFF
    path.write_bytes(data)


def with_byte(where: int, value: int):
    def make(path: Path) -> None:
        data = bytearray(load_cartridge().data)
        data[where] = value
        data[0x14D] = header_checksum(data)
        path.write_bytes(data)

    return make


FILES = {
    "nothing": (lambda path: None, "no ROM at"),
    "a folder": (Path.mkdir, "it is a folder; give the file in it"),
    "a pipe": (os.mkfifo, "it is a device, pipe or socket; give a plain file"),
    "2 GB": (two_gigabytes, "it has 2147483648 bytes, a Game Boy ROM has at most 8388608"),
    "no bytes": (Path.touch, "is empty: copy the ROM again"),
    "a text": (lambda path: path.write_text("notes\n"), "has 6 bytes, too few for a Game Boy ROM"),
    "a ZIP": (lambda path: path.write_bytes(b"PK\x03\x04" + bytes(40_000)), "unpack it"),
    "half a ROM": (lambda path: path.write_bytes(load_cartridge().data[:40_000]), "cut off"),
    "a damaged header": (damaged, "its header checksum is"),
    "a camera": (with_byte(0x147, 0xFC), "of type 0xFC, which PyBoy cannot run"),
    "unknown RAM": (with_byte(0x149, 0x17), "unknown RAM size code 0x17"),
}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("what", FILES)
def test_a_file_that_is_no_rom_gives_one_line_and_code_2(tmp_path, capsys, name, what):
    make, why = FILES[what]
    path = tmp_path / "my game.gbc"
    make(path)
    assert COMMANDS[name]([str(path)]) == 2
    printed = capsys.readouterr()
    assert why in printed.err
    assert str(path) in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""


def runs(data: bytearray) -> bool:
    data[0x14D] = header_checksum(data)
    try:
        Emulator(bytes(data)).close()
    except BadRomError:
        return False
    return True


def test_the_cartridges_that_are_taken_are_those_that_pyboy_runs(rom_maker):
    data = bytearray(rom_maker())
    types = {kind for kind in range(256) if runs(data[:0x147] + bytes([kind]) + data[0x148:])}
    assert types == CARTRIDGE_TYPES
    codes = {code for code in range(256) if runs(data[:0x149] + bytes([code]) + data[0x14A:])}
    assert codes == RAM_SIZE_CODES


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "no save state at"),
        (b"", "save state has no bytes"),
        (b"hello", "save state has version 104"),
        (bytes([29]) + bytes(199_999), "game"),
    ],
)
def test_play_says_why_it_cannot_start_from_a_state(tmp_path, capsys, content, why):
    path = tmp_path / "my.state"
    if content is not None:
        path.write_bytes(content)
    assert command.main(["--state", str(path)]) == 2
    printed = capsys.readouterr()
    assert why in printed.err
    assert printed.err.count("\n") == 1


def test_play_refuses_the_state_of_another_game(tmp_path, capsys, rom_maker):
    from rlaif.game.play.session import PlayedEmulator, Session

    cartridge = load_cartridge()
    emulator = PlayedEmulator(cartridge.data)
    emulator.tick(120)
    path = tmp_path / "vale.state"
    Session(emulator, cartridge).save(path)
    emulator.close()
    rom = tmp_path / "other.gbc"
    rom.write_bytes(rom_maker(title=b"OTHER"))
    assert command.main([str(rom), "--state", str(path)]) == 2
    assert f"it was made with {cartridge.title}" in capsys.readouterr().err


def test_a_game_that_cannot_be_trained_on_can_be_played(tmp_path, rom_maker):
    path = tmp_path / "ages.gbc"
    data = bytearray(rom_maker(title=b"ZELDA NAYRUAZ8E"))
    data[0x14D] = header_checksum(data)
    path.write_bytes(data)
    with pytest.raises(CartridgeError, match="Oracle of Ages"):
        load_cartridge(path)
    cartridge = load_cartridge(path, allow_unsupported=True)
    assert cartridge.game == "other"
    assert cartridge.needs_sound
