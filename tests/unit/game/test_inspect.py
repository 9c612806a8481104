import pytest

from rlaif.game.inspection import main
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import Emulator
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
    assert main(list(map(str, arguments))) == 0
    return capsys.readouterr().out


def test_a_rom_is_named(tmp_path, rom_maker, capsys):
    path = tmp_path / "game.gbc"
    path.write_bytes(rom_maker(title=b"MY GAME"))
    text = inspect(capsys, path)
    assert text.startswith("ROM         MY GAME: another game, whose memory is unknown\n")
    assert "after 6000 frames it still shows a screen that START alone does not leave" in text
    assert "Make a save state in play" in text
    assert "Flags" not in text


def test_a_state_is_shown_with_all_that_is_known_of_it(played, capsys):
    path, digest = played
    text = inspect(capsys, path)
    for expected in (
        ": the embedded game\n", f"Save state  {path}", digest, "running, has control\n",
        "player.hearts ", "room.name                 Seedling\n", "Room        # solid",
        "Milestones  0%",
    ):  # fmt: skip
        assert expected in text, expected


def test_without_a_file_the_embedded_game_is_played_from_power_on(capsys):
    text = inspect(capsys)
    assert "Save state" not in text
    assert "has control" in text


def test_the_player_is_on_the_room_map_at_its_position(played, capsys):
    lines = inspect(capsys, played[0]).splitlines()
    x, y = (
        int(next(line.split()[1] for line in lines if line.startswith(f"player.{name} ")))
        for name in ("x", "y")
    )
    first = next(at for at, line in enumerate(lines) if line.startswith("Room  ")) + 1
    assert lines[first + (y + 5) // 16][2 + x // 16] == "@"


def test_a_state_of_another_game_gives_one_line_and_exit_code_2(
    played, tmp_path, rom_maker, capsys
):
    rom = tmp_path / "other.gbc"
    rom.write_bytes(rom_maker())
    assert main([str(played[0]), "--rom", str(rom)]) == 2
    assert (
        "is a state of Oracle of Seasons or the embedded game, not of TINY"
        in capsys.readouterr().err
    )


def test_help_names_the_command_and_its_options(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--help"])
    assert stopped.value.code == 0
    assert "usage: rlaif inspect [-h] [--rom ROM]" in capsys.readouterr().out


def test_the_option_rom_alone_names_the_game_to_inspect(tmp_path, rom_maker, capsys):
    path = tmp_path / "game.gbc"
    path.write_bytes(rom_maker(title=b"MY GAME"))
    assert inspect(capsys, "--rom", path).startswith("ROM         MY GAME")
    assert main([str(path), "--rom", str(path)]) == 2
    assert "is not a save state" in capsys.readouterr().err
