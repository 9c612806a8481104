"""`rlaif`: help, dispatch and what it says of a wrong command."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from rlaif.command.__main__ import INTERRUPTED, help_text, main
from rlaif.command.table import SUBCOMMANDS, Subcommand

HEAVY = {"torch", "ray", "numpy", "pyboy", "pydantic", "fastapi"}


def test_help_names_every_command_and_fits_80_columns(capsys):
    assert main(["--help"]) == main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {line.split()[0] for line in lines if line.startswith("  ")} == set(SUBCOMMANDS)
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_every_command_is_a_function_of_an_installed_package(name):
    module, _, function = SUBCOMMANDS[name].target.partition(":")
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    assert f"def {function}(" in Path(spec.origin).read_text()


def test_help_imports_nothing_large():
    code = (
        "import sys; from rlaif.command.__main__ import main; main(['--help'])\n"
        f"sys.exit(bool({HEAVY!r} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL).returncode == 0


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The arguments of each call of the command `probe`, which gives exit code 7."""
    seen: list[list[str]] = []
    monkeypatch.setattr(sys, "argv", ["rlaif"])
    monkeypatch.setitem(SUBCOMMANDS, "probe", Subcommand("", "rlaif.probe:main"))

    def probe() -> int:
        seen.append(sys.argv)
        return 7

    monkeypatch.setattr("pkgutil.resolve_name", lambda target: probe)
    return seen


def test_a_command_gets_its_words_and_gives_the_exit_code(called):
    assert main(["probe", "--x", "1"]) == 7
    assert called == [["rlaif probe", "--x", "1"]]


def test_the_version_is_asked_of_any_command(called, capsys):
    assert main(["--version"]) == main(["probe", "--version"]) == 0
    assert called == []
    first, second = capsys.readouterr().out.splitlines()
    assert first == second
    assert first.startswith("rlaif ")


def test_an_unknown_command_is_refused_with_the_closest_one(capsys):
    assert main(["tran"]) == 2
    assert "did you mean train" in capsys.readouterr().err


def test_a_command_whose_distribution_is_missing_says_which_to_install(monkeypatch, capsys):
    monkeypatch.setitem(SUBCOMMANDS, "absent", Subcommand("", "rlaif.absent_part.x:main"))
    assert main(["absent"]) == 2
    assert "pip install rlaif-absent-part" in capsys.readouterr().err


def test_a_library_that_cannot_be_loaded_is_one_sentence(monkeypatch, capsys):
    def unloadable(target: str) -> None:
        raise ImportError("x.so: failed to map segment from shared object")

    monkeypatch.setattr(sys, "argv", ["rlaif"])
    monkeypatch.setattr("pkgutil.resolve_name", unloadable)
    assert main(["train"]) == 2
    assert "failed to map segment" in capsys.readouterr().err


def test_ctrl_c_ends_a_command_without_a_traceback(monkeypatch):
    def interrupted(target: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "argv", ["rlaif"])
    monkeypatch.setattr("pkgutil.resolve_name", interrupted)
    assert main(["train"]) == INTERRUPTED


def test_help_text_ends_with_a_line_break():
    assert help_text().endswith(".\n")


def test_the_versions_of_what_is_installed(capsys):
    assert main(["version"]) == 0
    names = {line.split()[0] for line in capsys.readouterr().out.splitlines()}
    assert {"rlaif-common", "python"} <= names
