"""Subjects, streams and consumers are spelled in the catalog and nowhere else."""

import ast
from pathlib import Path

import pytest

from rlaif.contracts.catalog import CATALOG, STREAMS

ROOT = Path(__file__).parents[2]
SOURCES = sorted(
    path
    for top in ("libs", "services", "deploy")
    for path in (ROOT / top).rglob("*.py")
    if "src" in path.parts and path.name != "catalog.py"
)
SPELLINGS = {spec.subject for spec in CATALOG} | {spec.type for spec in CATALOG} | set(STREAMS)


def stray_names(source: str) -> set[str]:
    """String literals of `source`, docstrings apart, that spell a subject, stream or type."""
    tree = ast.parse(source)
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and id(node) not in docstrings
        and isinstance(node.value, str)
        and (node.value in SPELLINGS or node.value.startswith("dead."))
    }


def test_the_sources_are_found():
    assert len(SOURCES) > 20


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_spells_a_name_of_the_catalog(path):
    assert stray_names(path.read_text()) == set()


def test_the_search_finds_a_stray_name():
    assert stray_names('js.publish("segment.captured", f"dead.{x}")') == {
        "segment.captured",
        "dead.",
    }
    assert stray_names('"""Publishes."""\nx = "CAPTURES"') == {"CAPTURES"}
    assert stray_names('def f():\n    """segment.captured"""') == set()
