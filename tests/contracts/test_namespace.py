"""`rlaif` is a PEP 420 namespace: one `rlaif/__init__.py` would hide every other distribution."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
TOPS = ("libs", "services", "deploy")


def test_no_distribution_owns_the_namespace():
    found = [path for top in TOPS for path in (ROOT / top).rglob("src/rlaif/__init__.py")]
    assert found == []


def test_tests_have_no_packages():
    assert list((ROOT / "tests").rglob("__init__.py")) == []


def test_modules_are_named_by_what_they_do():
    vague = {"utils", "util", "helpers", "helper", "common", "misc"}
    found = [
        path
        for top in TOPS
        for path in (ROOT / top).rglob("*")
        if "src" in path.parts and path.stem in vague and (path.is_dir() or path.suffix == ".py")
    ]
    assert found == []
