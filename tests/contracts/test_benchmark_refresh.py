"""`make bench-refresh` records a benchmark that came to its figures, and no other."""

import importlib
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
ROW = """print('{"fault": "429"}')\n"""
MISSED = ROW + """print('{"ratio": 0.5, "took_minutes": 0.1}')\nraise SystemExit(1)\n"""
CRASHED = ROW + "raise RuntimeError\n"
KILLED = ROW + """print('{"ratio": 0.5, "took_minutes": 0.1}')\nraise SystemExit(137)\n"""


@pytest.fixture
def measure(tmp_path, monkeypatch):
    """Measures with a script of its own; gives what was recorded."""
    monkeypatch.syspath_prepend(FOLDER)
    refresh = importlib.import_module("refresh")
    recorded: list[str] = []
    monkeypatch.setattr(refresh.stale, "RESULTS", tmp_path)
    monkeypatch.setattr(refresh.stale, "record", recorded.extend)

    def measure(raw, program, *command):
        script = tmp_path / "made.py"
        script.write_text(program)
        command = command or (str(script),)
        monkeypatch.setitem(refresh.stale.BENCHMARKS, raw, {"command": command})
        assert refresh.measure(raw) == bool(recorded)
        return recorded

    return measure


@pytest.mark.parametrize("raw", ["made.txt", "made"])
def test_a_missed_target_is_a_result(measure, raw):
    assert measure(raw, MISSED) == [raw]


@pytest.mark.parametrize("raw", ["made.txt", "made"])
@pytest.mark.parametrize("program", [CRASHED, KILLED, "", "print('[1]')"])
def test_a_script_that_misses_its_figures_is_not_recorded(measure, raw, program, tmp_path):
    assert measure(raw, program) == []
    assert not (tmp_path / raw).exists()


def test_what_was_printed_is_kept_below_the_machine(measure, tmp_path):
    measure("made.txt", MISSED)
    lines = (tmp_path / "made.txt").read_text().splitlines()
    assert lines[0].startswith("commit: ")
    assert lines[-2:] == ['{"fault": "429"}', '{"ratio": 0.5, "took_minutes": 0.1}']


def test_a_command_of_the_project_ends_with_figures_of_its_own(measure, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert measure("made.txt", """print('{"equal": 1}')""", "-m", "made") == ["made.txt"]
