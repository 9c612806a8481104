"""A foreign package `rlaif` on the search path would hide the namespace of this project."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
START = "import sys, rlaif_command; sys.argv[1:] = ['--version']; sys.exit(rlaif_command.main())"


def run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture(params=["rlaif/__init__.py", "rlaif.py"])
def foreign(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    file = tmp_path / str(request.param)
    file.parent.mkdir(exist_ok=True)
    file.write_text("")
    return str(tmp_path)


def test_the_command_is_installed_outside_the_namespace() -> None:
    about = tomllib.loads((ROOT / "libs/common/pyproject.toml").read_text())
    assert about["project"]["scripts"] == {"rlaif": "rlaif_command:main"}


def test_it_runs_in_spite_of_a_foreign_package_on_pythonpath(foreign: str) -> None:
    done = run(START, PYTHONPATH=os.pathsep.join([foreign, "/elsewhere"]))
    assert (done.returncode, done.stdout.split()[0]) == (0, "rlaif")
    (line,) = done.stderr.splitlines()
    assert foreign in line


def test_child_processes_do_not_find_it_either(foreign: str) -> None:
    after = "rlaif_command.main(); import os; print(os.environ['PYTHONPATH'])"
    program = START.replace("sys.exit(rlaif_command.main())", after)
    done = run(program, PYTHONPATH=os.pathsep.join([foreign, "/elsewhere"]))
    assert done.stdout.splitlines()[-1] == "/elsewhere"


def test_an_installed_one_is_named_in_one_sentence(foreign: str) -> None:
    done = run(f"import sys; sys.path.insert(0, {foreign!r})\n{START}")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert foreign in line


def test_without_one_it_says_nothing() -> None:
    assert run(START).stderr == ""
