"""Every result in benchmarks/README.md has its raw file and commit, and is marked when stale."""

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "benchmarks"
PAGE = (FOLDER / "README.md").read_text()
_SPEC = importlib.util.spec_from_file_location("stale", FOLDER / "stale.py")
assert _SPEC is not None
assert _SPEC.loader is not None
stale = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(stale)


def test_every_row_has_a_raw_result_and_a_commit():
    rows = [line for line in PAGE.splitlines() if re.match(r"\| (?!Metric|---)", line)]
    assert [line for line in rows if not stale.ROW.match(line)] == []
    assert len(rows) > 20


def test_every_raw_result_exists_and_its_code_does():
    for row in stale.ROW.finditer(PAGE):
        assert (FOLDER / "results" / row["raw"]).exists(), row["raw"]
        assert [each for each in stale.CODE[row["raw"]] if not (ROOT / each).is_dir()] == []


def test_rows_of_other_code_are_marked():
    assert stale.marked(PAGE) == PAGE, "run docs/generate.py"


def test_a_row_is_fresh_after_its_measurement(tmp_path, monkeypatch):
    row = next(iter(stale.ROW.finditer(PAGE)))
    digests = tmp_path / "measured.json"
    monkeypatch.setattr(stale, "DIGESTS", digests)
    digests.write_text(f'{{"{row["raw"]}": "{stale.digest(row["raw"])}"}}')
    assert ", stale" not in stale.marked(row[0])
    digests.write_text("{}")
    assert ", stale |" in stale.marked(row[0])


def test_docstrings_do_not_make_a_result_stale():
    assert stale._tree('"""A."""\nx = 1') == stale._tree('"""B."""\n\nx = 1  # c')
    assert stale._tree("x = 1") != stale._tree("x = 2")
