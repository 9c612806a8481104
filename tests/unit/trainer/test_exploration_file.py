"""Archive and coverage travel as one tar file; what the trainer did not write is not unpacked."""

import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from rlaif.trainer.run_folder import exploration_file
from rlaif.trainer.run_folder.exploration_file import ExplorationFileError


def tar_of(*members: tarfile.TarInfo, content: bytes = b"abc") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for member in members:
            tar.addfile(member, io.BytesIO(content) if member.isreg() else None)
    return buffer.getvalue()


def regular(name: str, size: int = 3) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size = size
    return member


def special(name: str, kind: bytes, linkname: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, linkname
    return member


def test_what_was_packed_comes_out_again(tmp_path: Path):
    source = tmp_path / "exploration"
    (source / "game" / "states").mkdir(parents=True)
    (source / "game" / "states" / "a.zst").write_bytes(b"state")
    (source / "game" / "states" / ".b.7.partial").write_bytes(b"half")
    exploration_file.pack(source, tmp_path / "packed.tar")
    exploration_file.unpack((tmp_path / "packed.tar").read_bytes(), tmp_path / "other")
    found = [path for path in (tmp_path / "other").rglob("*") if path.is_file()]
    assert found == [tmp_path / "other" / "game" / "states" / "a.zst"]
    assert found[0].read_bytes() == b"state"


def test_it_needs_nothing_that_the_oldest_python_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """`extractall` has its `filter` from Python 3.11.4 on; 3.11.2 is supported."""
    monkeypatch.delattr(tarfile.TarFile, "extractall")
    monkeypatch.delattr(tarfile.TarFile, "extract")
    exploration_file.unpack(tar_of(regular("game/a")), tmp_path / "out")
    assert (tmp_path / "out" / "game" / "a").read_bytes() == b"abc"


@pytest.mark.parametrize(
    "member",
    [
        regular("/etc/passwd"),
        regular("../outside"),
        regular("game/../../outside"),
        special("link", tarfile.SYMTYPE, "/etc"),
        special("hard", tarfile.LNKTYPE, "game/a"),
        special("pipe", tarfile.FIFOTYPE),
        special("device", tarfile.CHRTYPE),
    ],
    ids=lambda member: member.name,
)
def test_nothing_leads_out_of_the_run(tmp_path: Path, member: tarfile.TarInfo):
    """And nothing of such a file is written."""
    with pytest.raises(ExplorationFileError):
        exploration_file.unpack(tar_of(regular("game/a"), member), tmp_path / "run" / "out")
    assert not list(tmp_path.rglob("*"))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data[:700],
        lambda data: b"no tar file",
        lambda data: tar_of(regular("game"), regular("game/a")),
    ],
    ids=["cut off", "no tar", "file and folder"],
)
def test_a_damaged_one_is_refused(tmp_path: Path, spoil: Callable[[bytes], bytes]):
    whole = tar_of(regular("game/a", 900), content=bytes(900))
    with pytest.raises(ExplorationFileError):
        exploration_file.unpack(spoil(whole), tmp_path / "out")


def test_it_does_not_unpack_to_gigabytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(exploration_file, "MAX_BYTES", 5)
    with pytest.raises(ExplorationFileError, match="more than"):
        exploration_file.unpack(tar_of(regular("a"), regular("b")), tmp_path / "out")
    assert not list(tmp_path.rglob("*"))
