"""The page of faults names tests that exist, and says of each fault what happens."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/operations/faults.md").read_text()
NAMED = re.compile(r"`([\w/]+\.py)::(test_\w+)`")
FAULTS = 32


@cache
def _tests(path: Path) -> set[str]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {each.name for each in ast.parse(path.read_text()).body if isinstance(each, kinds)}


@pytest.mark.parametrize(("path", "name"), sorted(set(NAMED.findall(PAGE))))
def test_a_named_test_exists(path: str, name: str) -> None:
    assert name in _tests(ROOT / "tests" / path)


def test_every_fault_has_a_result_and_a_test() -> None:
    rows = [line.split("|")[1:-1] for line in PAGE.splitlines() if re.match(r"\| \d+ ", line)]
    assert [int(row[0]) for row in rows] == list(range(1, FAULTS + 1))
    for _, fault, result, tests in rows:
        assert fault.strip()
        assert result.strip()
        assert NAMED.search(tests), fault


def test_the_page_is_short() -> None:
    assert len(PAGE.split()) < 900
