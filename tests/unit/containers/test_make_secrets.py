"""`make secrets`: what it fills in, and what it leaves alone."""

import importlib.util
import re
import stat
import sys
from pathlib import Path

import pytest

PATH = Path(__file__).parents[3] / "deploy" / "containers" / "make_secrets.py"
EXAMPLE = "# Secrets\nTOKEN=\nKEY=\n# ----\n# Others\n#PORT=1\nNAME=\n"


@pytest.fixture(scope="module")
def make_secrets():
    spec = importlib.util.spec_from_file_location("make_secrets", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_empty_secret_gets_a_value_of_its_own(make_secrets):
    text, made = make_secrets.filled(EXAMPLE)
    values = re.findall(r"^(?:TOKEN|KEY)=([0-9a-f]{40})$", text, re.MULTILINE)
    assert made == ["TOKEN", "KEY"]
    assert len(set(values)) == 2


def test_a_secret_that_a_newer_example_asks_for_is_added(make_secrets):
    text, made = make_secrets.filled(EXAMPLE, "TOKEN=mine\n")
    assert made == ["KEY"]
    assert re.search(r"^KEY=[0-9a-f]{40}$", text, re.MULTILINE)


def test_the_file_is_for_its_owner_alone_and_a_second_run_changes_nothing(
    make_secrets, tmp_path, monkeypatch
):
    target = tmp_path / "env"
    monkeypatch.setattr(sys, "argv", ["make_secrets.py", str(target)])
    assert make_secrets.main() == 0
    first = target.read_bytes()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert make_secrets.main() == 0
    assert target.read_bytes() == first
