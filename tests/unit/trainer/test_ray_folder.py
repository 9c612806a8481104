"""Where Ray makes its sockets: short, private, and gone afterwards."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from rlaif.trainer.run_folder import session

LONGEST = "ray/session_2026-11-26_12-50-00_123456_1234567/sockets/plasma_store"


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder of a name that a socket fits below, whatever TMPDIR is."""
    with tempfile.TemporaryDirectory(prefix="s", dir="/tmp") as folder:
        yield Path(folder)


@pytest.fixture(autouse=True)
def _afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.delenv("RAY_TMPDIR", raising=False)


@pytest.mark.parametrize("tmpdir", ["/tmp", "/tmp/" + "a" * 60, "/no/such/folder", "/proc", ""])
def test_a_socket_fits_wherever_temporary_files_are(monkeypatch, tmpdir):
    if len(tmpdir) > 50:
        Path(tmpdir).mkdir(exist_ok=True)
    monkeypatch.setenv("TMPDIR", tmpdir)
    with session.ray_folder() as variables:
        folder = Path(variables["RAY_TMPDIR"])
        assert len(os.fsencode(folder / LONGEST)) <= 107
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        (folder / "ray/session_1").mkdir(parents=True)
    assert not folder.exists()


def test_the_folder_that_the_user_names_for_ray_is_used(monkeypatch, short):
    monkeypatch.setenv("RAY_TMPDIR", str(short))
    with session.ray_folder() as variables:
        assert Path(variables["RAY_TMPDIR"]).parent == short
    assert short.is_dir()


def test_without_any_short_folder_the_variable_is_named(monkeypatch):
    monkeypatch.setattr(session, "_MAX_PARENT_BYTES", 3)
    with pytest.raises(OSError, match="RAY_TMPDIR"), session.ray_folder():
        pass


def test_a_process_removes_its_own_folder_and_never_the_users(monkeypatch, short):
    for name, stays in (("mine", True), ("rlray-x", False)):
        folder = short / name
        folder.mkdir()
        monkeypatch.setenv("RAY_TMPDIR", str(folder))
        session.remove_ray_folder()
        assert folder.exists() == stays
    monkeypatch.delenv("RAY_TMPDIR")
    session.remove_ray_folder()
    shutil.rmtree(short / "mine")
