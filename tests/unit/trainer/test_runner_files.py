"""Files of the driver's machine on the machine of a runner."""

from pathlib import Path

import pytest

from rlaif.guides.guides import guide_of, use_worlds
from rlaif.trainer.learner.runners import driver_files
from rlaif.trainer.learner.runners.files import RunnerFiles
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.settings.game import GameSettings

GUIDE = "# World 7\n\n## Objectives\n1. Fetch the sword.\n"


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    actor = driver_files.DriverFiles(tmp_path)
    monkeypatch.setattr(driver_files, "RemoteDriverFiles", lambda name: actor)
    monkeypatch.setattr("rlaif.guides.guides._worlds", Path("var/worlds"))
    files = RunnerFiles("actor")
    yield files
    files.close()


@pytest.mark.parametrize("guided", [True, False])
def test_the_guide_of_a_world_comes_with_its_rom(tmp_path: Path, files: RunnerFiles, guided: bool):
    rom = tmp_path / "worlds/world-7-30/world.gbc"
    rom.parent.mkdir(parents=True)
    rom.write_bytes(b"rom")
    if guided:
        rom.with_name("guide.md").write_text(GUIDE)
    copy = files.environment(EnvConfig(run_id="r-1", game=GameSettings(rom_path=rom))).game.rom_path
    assert copy is not None
    assert copy != rom
    assert copy.read_bytes() == b"rom"
    use_worlds(copy.parent.parent)
    assert guide_of("world-7-30").objectives == (("Fetch the sword.",) if guided else ())


def test_files_of_one_name_and_different_folders_are_two(tmp_path: Path, files: RunnerFiles):
    paths = [tmp_path / folder / "start.state" for folder in ("a/x", "b/x")]
    for path in paths:
        path.parent.mkdir(parents=True)
        path.write_text(str(path))
    states = ",".join(map(str, paths))
    game = files.environment(
        EnvConfig(run_id="r-1", game=GameSettings(initial_state_paths=states))
    ).game
    assert [path.read_text() for path, _ in game.initial_states] == list(map(str, paths))
