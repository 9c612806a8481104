import json

import pytest

from rlaif.game.__main__ import main
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.symbols import SYMBOLS
from rlaif.game.starts.power_on import bring_to_control


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A save state in play, and the digest of its RAM."""
    cartridge = load_cartridge()
    emulator = Emulator(cartridge.data)
    bring_to_control(emulator, cartridge)
    path = tmp_path_factory.mktemp("states") / "saved.state"
    path.write_bytes(emulator.save_state())
    digest = emulator.ram_digest()
    emulator.close()
    return path, digest


def inspect(capsys, *arguments):
    assert main(["inspect", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def test_a_rom_is_named(tmp_path, rom_maker, capsys):
    path = tmp_path / "game.gbc"
    path.write_bytes(rom_maker(title=b"MY GAME"))
    facts = json.loads(inspect(capsys, path, "--json"))
    assert (facts["kind"], facts["rom"]["title"], facts["rom"]["game"]) == (
        "rom", "MY GAME", "other",
    )  # fmt: skip
    assert len(facts["rom"]["sha1"]) == 40
    assert "moment" not in facts
    assert (
        "after 6000 frames it still shows a screen that START alone does not leave" in facts["note"]
    )
    assert "Make a save state in play" in facts["note"]


def test_a_state_is_decoded_for_machines(played, capsys):
    path, digest = played
    facts = json.loads(inspect(capsys, path, "--json"))
    assert facts["kind"] == "state"
    assert facts["ram_sha256"] == digest
    assert facts["moment"]["running"]
    assert facts["moment"]["has_control"]
    symbols = {s["name"]: s for group in facts["symbols"].values() for s in group}
    assert set(symbols) == {symbol.name for symbol in SYMBOLS}
    health = symbols["wLinkHealth"]
    assert (health["address"], health["value"]) == ("0xC6A2", int(health["raw"], 16))
    assert symbols["wSavefileString"]["value"] == "Z11216-0"
    assert facts["milestones"]["fraction"] == 0.0
    assert facts["milestones"]["reached"] == []


def test_a_room_of_the_embedded_game_is_called_by_its_name(played, capsys):
    assert "room.name                 Seedling\n" in inspect(capsys, played[0])


def test_a_state_is_shown_for_people(played, capsys):
    text = inspect(capsys, played[0])
    for expected in (
        ": the embedded game", "player.hearts ", "has control",
        "0:C6A2  wLinkHealth ", "[A] quarter hearts", "Room        # solid", "Milestones  0%",
    ):  # fmt: skip
        assert expected in text, expected


def test_symbols_that_are_zero_are_shown_on_request(played, capsys):
    few, every = inspect(capsys, played[0]), inspect(capsys, played[0], "--all")
    assert "wNumGaleSeeds" not in few
    assert all(f" {symbol.name} " in every for symbol in SYMBOLS)


def test_without_a_file_the_embedded_game_is_played_from_power_on(capsys):
    facts = json.loads(inspect(capsys, "--json"))
    assert facts["kind"] == "rom"
    assert facts["moment"]["has_control"]


def test_the_player_stands_where_the_room_map_shows_him(played, capsys):
    facts = json.loads(inspect(capsys, played[0], "--json"))
    x, y = (
        next(s["value"] for s in facts["symbols"]["player"] if s["name"] == name)
        for name in ("w1Link.xh", "w1Link.yh")
    )
    assert facts["room_map"][(y + 5) // 16][x // 16] == "@"


@pytest.mark.parametrize(
    ("content", "arguments", "why"),
    [
        (b"hello", [], "too few for a Game Boy ROM"),
        (b"", [], "is empty"),
        (None, [], "no ROM at"),
        (bytes([15]) + bytes(186_439), [], "is a state of format 15, PyBoy"),
        (b"\x89PNG" + bytes(200_000), [], "mGBA"),
        (bytes([29]) + bytes(186_439), ["--rom", "missing.gbc"], "no ROM at missing.gbc"),
    ],
)
def test_what_cannot_be_used_gives_one_line_and_exit_code_2(
    tmp_path, capsys, content, arguments, why
):
    path = tmp_path / "file"
    if content is not None:
        path.write_bytes(content)
    assert main(["inspect", str(path), *arguments]) == 2
    printed = capsys.readouterr()
    assert why in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""


def test_a_state_of_another_game_gives_one_line_and_exit_code_2(
    played, tmp_path, rom_maker, capsys
):
    rom = tmp_path / "other.gbc"
    rom.write_bytes(rom_maker())
    assert main(["inspect", str(played[0]), "--rom", str(rom)]) == 2
    assert "is a state of the embedded game, not of TINY" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--help"], ["inspect", "--help"]])
def test_help_names_the_commands_and_options(capsys, arguments):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 0
    assert "inspect" in capsys.readouterr().out
