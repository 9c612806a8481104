"""`make containers-test` fails where it cannot run: a check that was not made is no success."""

import os
import shutil
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "deploy" / "containers"


@pytest.fixture
def try_stack(monkeypatch):
    """The script, on a machine that has everything it needs."""
    monkeypatch.syspath_prepend(str(FOLDER))
    import try_stack

    monkeypatch.setattr(shutil, "which", lambda name, path=None: f"/bin/{name}")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(try_stack, "prepared", lambda *, build: pytest.fail("it was started"))
    monkeypatch.setattr(sys, "argv", ["try_stack.py"])
    return try_stack


@pytest.mark.parametrize(
    "absent",
    ["podman", "runc", "iptables", "debootstrap", "netavark", "aardvark-dns", "catatonit"],
)
def test_a_missing_tool_is_an_error_in_one_line_that_names_it(
    try_stack, monkeypatch, capsys, absent
):
    monkeypatch.setattr(shutil, "which", lambda name, path=None: None if name == absent else name)
    assert try_stack.main() == 2
    out, error = capsys.readouterr()
    assert out == ""
    (line,) = error.splitlines()
    assert f": {absent} not found" in line
    assert "apt-get install" in line


def test_an_ordinary_user_gets_the_error_that_root_is_needed(try_stack, monkeypatch, capsys):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert try_stack.main() == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "root" in line


def test_objects_are_listed_with_the_keys_of_the_administrator(try_stack, monkeypatch, tmp_path):
    """The key of a service reaches its own bucket only."""
    import podman_stack

    monkeypatch.setattr(podman_stack, "FOLDER", tmp_path)
    (tmp_path / "secrets.env").write_text(
        "S3_ACCESS_KEY=admin\nS3_SECRET_KEY=secret\n#S3_SERVICE_SECRET_KEY=other\n"
    )
    stack = podman_stack.Stack(tmp_path, {})
    called: list[tuple[str, ...]] = []
    monkeypatch.setattr(stack, "container", lambda service: {"Id": service})

    def podman(*words: str) -> str:
        called.append(words)
        return '{"a": 1}'

    monkeypatch.setattr(stack, "podman", podman)
    assert stack.objects() == {"a": 1}
    assert called[0][1:5] == ("--env", "S3_ACCESS_KEY=admin", "--env", "S3_SECRET_KEY=secret")
