"""httpcore imports `sniffio` four times a call, which costs nothing only where it is there."""

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from rlaif.llm.openai import connections_to
from rlaif.llm.settings import CallSettings


def test_a_module_that_is_missing_is_looked_for_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delitem(sys.modules, "sniffio", raising=False)
    if find_spec("sniffio") is not None:
        pytest.skip("sniffio is installed: run in the environment that make setup makes")
    connections_to(CallSettings(), api_key=None)
    assert "sniffio" in sys.modules
    with pytest.raises(ImportError):
        __import__("sniffio")


def test_one_that_is_installed_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    (tmp_path / "sniffio.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "sniffio", raising=False)
    connections_to(CallSettings(), api_key=None)
    assert __import__("sniffio").__file__ == str(tmp_path / "sniffio.py")
    monkeypatch.delitem(sys.modules, "sniffio")
