"""Every result in benchmarks/README.md has its raw file and commit, and is marked when stale."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "benchmarks"
PAGE = (FOLDER / "README.md").read_text()
_SPEC = importlib.util.spec_from_file_location("stale", FOLDER / "stale.py")
assert _SPEC is not None
assert _SPEC.loader is not None
stale = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(stale)
ROWS = {row["metric"]: row for row in stale.ROW.finditer(PAGE)}
LADDER = ROWS["one environment / bare PyBoy"]


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """Writes results of its own: digests of the measured code, and a raw result."""
    digests, results = tmp_path / "measured.json", tmp_path / "results"
    monkeypatch.setattr(stale, "DIGESTS", digests)
    monkeypatch.setattr(stale, "RESULTS", results)
    results.mkdir()

    def write(of_code: str, raw: str) -> None:
        digests.write_text(json.dumps({LADDER["raw"]: of_code}))
        (results / LADDER["raw"]).write_text(raw)

    return write


def test_every_row_has_a_raw_result_and_a_commit():
    rows = [line for line in PAGE.splitlines() if re.match(r"\| (?!Metric|---)", line)]
    assert [line for line in rows if not stale.ROW.match(line)] == []
    assert len(rows) > 20


def test_every_raw_result_exists_and_its_code_does():
    for row in ROWS.values():
        assert (FOLDER / "results" / row["raw"]).exists(), row["raw"]
        code = stale.code_of(stale.BENCHMARKS[row["raw"]]["code"])
        assert [each for each in code if not (ROOT / each).exists()] == []


def test_every_form_of_a_result_has_its_row():
    assert set(stale.FORMS) <= set(ROWS)


def test_rows_are_what_results_and_code_say():
    assert stale.marked(PAGE) == PAGE, "run docs/generate.py"


def test_a_row_is_fresh_until_its_code_changes(measured):
    measured(stale.digest(LADDER["raw"]), "old\n")
    assert ", stale" not in stale.marked(LADDER[0])
    measured("of other code", "old\n")
    assert stale.marked(LADDER[0].replace(", stale", "")).endswith(", stale |")


def test_figures_and_commit_of_a_row_come_from_its_result(measured):
    figures = {
        "env_ratio": 0.5, "env_ratio_interval": [0.4, 0.6], "rounds": 3,
        "env_frames_per_second": 40_000.0, "env_decisions_per_second": 10_000.0,
        "verdicts": {"env_ratio": "missed"},
    }  # fmt: skip
    measured(stale.digest(LADDER["raw"]), f"commit: 1a2b3c4\nload: 0\n{json.dumps(figures)}\n")
    row = stale.ROW.match(stale.marked(LADDER[0]))
    assert (row["commit"], row["stale"]) == ("1a2b3c4", None)
    assert row["result"] == (
        "0.500 (0.400 to 0.600; n = 3); 40,000 frames/s, 10,000 decisions/s; missed"
    )


def test_changed_code_and_changed_packages_make_a_result_stale(tmp_path):
    (tmp_path / "part").mkdir()
    code, pins = tmp_path / "part" / "code.py", tmp_path / "constraints.txt"
    found: list[str] = []
    for source, pinned in (("x = 1", "1"), ("x = 2", "1"), ("x = 2", "2"), ("x = 2  # why", "2")):
        code.write_text(source)
        pins.write_text(f"pyboy=={pinned}\nrich=={len(found)}\n")
        stale._digest.cache_clear()
        found.append(stale.digest_of(["part"], tmp_path))
    assert len(set(found)) == 3
    assert found[2] == found[3]


def test_texts_do_not_make_a_result_stale():
    assert stale._tree('"""A."""\nx = 1') == stale._tree('"""B."""\n\nx = 1  # c')
    assert stale._tree('Field(1, description="a")') == stale._tree('Field(1, description="b")')
    assert stale._tree("x = 1") != stale._tree("x = 2")


def test_every_python_computes_the_same_digest():
    expected = (
        "Module(body=[Expr(value=Call(func=Name(id='f',ctx=Load()),args=[Constant(value=0)]))])"
    )
    assert stale._tree("f(0)") == expected
