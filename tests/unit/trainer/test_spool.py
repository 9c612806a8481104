"""A spooled capture is whole or not there."""

from collections.abc import Callable
from pathlib import Path

from rlaif.trainer.run_folder.spool import Spool, SpooledCapture

SpooledFactory = Callable[[str], SpooledCapture]


def test_the_oldest_comes_first(tmp_path: Path, spooled: SpooledFactory):
    spool = Spool(tmp_path)
    for name in ("s-c", "s-a", "s-b"):
        spool.write(spooled(name))
    names = [path.stem for path in spool.waiting()]
    assert names == ["s-c", "s-a", "s-b"]


def test_a_half_written_file_is_dropped_at_the_next_start(tmp_path: Path):
    spool = Spool(tmp_path)
    (tmp_path / "s-1.capture.77.partial").write_bytes(b"{")
    spool.prepare()
    assert list(tmp_path.iterdir()) == []


def test_a_full_spool_accepts_no_captures_and_reports_it(tmp_path: Path, spooled: SpooledFactory):
    spool = Spool(tmp_path, limit=2)
    assert [spool.offer(spooled(f"s-{n}")) for n in range(2)] == [None, None]
    assert spool.offer(spooled("s-3")) == "2 captures are in the spool already"
    assert spool.count() == 2
    next(spool.waiting()).unlink()
    assert spool.offer(spooled("s-3")) is None


def test_a_disk_that_takes_nothing_is_said_and_not_raised(tmp_path: Path, spooled: SpooledFactory):
    (tmp_path / "file").write_bytes(b"in the way")
    why = Spool(tmp_path / "file" / "spool", limit=2).offer(spooled("s-1"))
    assert why is not None
    assert why.startswith("the spool cannot be written: ")
