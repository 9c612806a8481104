import json

from rlaif.game.__main__ import main
from rlaif.game.cartridges import load_cartridge
from rlaif.game.emulator import PyBoyEmulator


def test_a_rom_is_named(tmp_path, rom_maker, capsys):
    path = tmp_path / "game.gbc"
    path.write_bytes(rom_maker(title=b"MY GAME"))
    assert main(["inspect", str(path)]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "MY GAME"


def test_a_state_is_described(tmp_path, capsys):
    emulator = PyBoyEmulator(load_cartridge().data)
    emulator.tick(60)
    path = tmp_path / "saved.state"
    path.write_bytes(emulator.save_state())
    assert main(["inspect", str(path)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["kind"] == "state"
    assert found["ram_sha256"] == emulator.ram_digest()
    emulator.close()


def test_what_is_neither_gives_one_sentence_and_exit_code_1(tmp_path, capsys):
    path = tmp_path / "notes.txt"
    path.write_bytes(b"hello")
    assert main(["inspect", str(path)]) == 1
    assert "too few for a Game Boy ROM" in capsys.readouterr().err
