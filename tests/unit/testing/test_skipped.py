"""The table of skipped tests."""

import subprocess
import sys
from pathlib import Path

import pytest

from rlaif.testing.skipped import NO_REMEDY, main, table

ROOT = Path(__file__).parents[3]

TESTS = """
import pytest

@pytest.mark.skipif(True, reason="promtool is not installed: apt-get install prometheus")
@pytest.mark.parametrize("number", range(3))
def test_of_rules(number): ...

def test_of_the_kernel():
    pytest.skip("the kernel is too old")
"""
MODULE = """import pytest
pytest.skip('sdcc is not installed: apt-get install sdcc', allow_module_level=True)
"""


def run(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "rlaif.testing.plugin", "-q", *arguments],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout


def rows(text: str) -> list[list[str]]:
    lines = [line.split("  ") for line in text.splitlines()]
    return [[cell.strip() for cell in cells if cell.strip()] for cells in lines]


def test_the_most_frequent_reason_is_first_and_a_missing_remedy_is_said():
    found = rows(table(["no kernel", "no sdcc: install it", "no sdcc: install it"]))
    assert found[-2:] == [["2", "no sdcc", "install it"], ["1", "no kernel", NO_REMEDY]]


def test_without_skipped_tests_there_is_no_table(tmp_path, capsys):
    assert table([]) == ""
    assert main([str(tmp_path / "skipped")]) == 0
    assert capsys.readouterr().out == ""


def test_a_run_ends_with_its_table(tmp_path):
    (tmp_path / "test_a.py").write_text(TESTS)
    said = run(tmp_path)
    assert "4 tests were skipped" in said
    assert ["3", "promtool is not installed", "apt-get install prometheus"] in rows(said)


def test_several_runs_in_parallel_processes_give_one_table(tmp_path, capsys):
    (tmp_path / "test_a.py").write_text(TESTS)
    (tmp_path / "test_b.py").write_text(MODULE)
    first = run(tmp_path, "--skipped-to=skipped", "--numprocesses=2", "test_a.py")
    run(tmp_path, "--skipped-to=skipped", "--numprocesses=2")
    assert "apt-get" not in first
    assert main([str(tmp_path / "skipped")]) == 0
    printed = capsys.readouterr().out
    assert "9 tests were skipped" in printed
    assert [row[0] for row in rows(printed)[-3:]] == ["6", "2", "1"]


@pytest.mark.parametrize(("code", "runs"), [(0, 3), (1, 1)], ids=["passing", "failing"])
def test_make_test_ends_with_one_table_also_when_a_test_fails(tmp_path, code, runs):
    stand_in = tmp_path / "pytest"
    stand_in.write_text(
        "#!/bin/sh\nfor each; do case $each in --skipped-to=*) echo '\"no sdcc: install it\"' "
        f'>> "${{each#*=}}";; esac; done\nexit {code}\n'
    )
    stand_in.chmod(0o755)
    done = subprocess.run(
        ["make", "--no-print-directory", "--old-file", f"{sys.prefix}/.ready-dev",
         f"VENV={sys.prefix}", "FETCH_BROWSER=true", f"SKIPPED={tmp_path}/skipped",
         f"PYTESTS={stand_in}", f"PYTEST={stand_in}", "test"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode == 0) == (code == 0)
    assert rows(done.stdout)[-1] == [str(runs), "no sdcc", "install it"]
