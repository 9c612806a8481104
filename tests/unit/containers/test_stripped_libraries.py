"""What the images cut off PyBoy's libraries is nothing that the loader reads."""

import shutil
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import zstandard.backend_c

STRIP = Path(__file__).parents[3] / "deploy/containers/strip_debug.py"
PLAY = """import pyboy
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import new_emulator
emulator = new_emulator(load_cartridge())
emulator.tick(300, render=True)
print(pyboy.__file__, emulator.ram_digest(), emulator.screen().sum())
emulator.close()
"""


def played(folder: Path) -> str:
    """With the libraries that are in a folder."""
    program = f"import sys; sys.path.insert(0, {str(folder)!r}); {PLAY}"
    return subprocess.check_output([sys.executable, "-c", program], text=True)


def test_a_game_plays_the_same_on_stripped_libraries(tmp_path):
    installed = Path(str(distribution("pyboy").locate_file("pyboy")))
    shutil.copytree(installed, tmp_path / "pyboy", ignore=shutil.ignore_patterns("*.c"))
    subprocess.run([sys.executable, STRIP, tmp_path], check=True)
    found, *expected = played(installed.parent).split()
    stripped, *result = played(tmp_path).split()
    assert (Path(found).parent, Path(stripped).parent) == (installed, tmp_path / "pyboy")
    assert result == expected


def test_debug_information_and_symbols_are_cut_off(tmp_path):
    """`make setup` has stripped PyBoy already; this library has its symbols."""
    module = Path(zstandard.backend_c.__file__)
    library = Path(shutil.copy(module, tmp_path / module.name))
    subprocess.run([sys.executable, STRIP, tmp_path], check=True)
    assert library.stat().st_size < module.stat().st_size
    load = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import backend_c as it"
    where = [sys.executable, "-c", f"{load}; print(it.__file__)"]
    assert subprocess.check_output(where, text=True).strip() == str(library)
