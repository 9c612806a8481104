"""Logs of child processes are rotated while they are written."""

import os
import subprocess
import sys

from rlaif.local.logs import rotate


def test_a_long_log_moves_on_and_the_oldest_is_dropped(tmp_path):
    log = tmp_path / "judge.log"
    for number in range(7):
        log.write_text(f"{number}" * 11)
        rotate(log, max_bytes=10)
    assert log.read_text() == ""
    found = {path.name: path.read_text()[0] for path in tmp_path.iterdir() if path != log}
    assert found == {f"judge.log.{age}": str(7 - age) for age in range(1, 5)}


def test_a_short_log_and_none_are_left_alone(tmp_path):
    log = tmp_path / "judge.log"
    rotate(log)
    log.write_text("short")
    rotate(log)
    assert [path.name for path in tmp_path.iterdir()] == ["judge.log"]


def test_a_child_continues_writing_at_the_new_beginning(tmp_path):
    log = tmp_path / "judge.log"
    program = "import sys; [print(line.strip(), flush=True) for line in sys.stdin]"
    with log.open("ab") as output:
        child = subprocess.Popen(
            [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=output, text=True
        )
    assert child.stdin is not None
    child.stdin.write("before\n")
    child.stdin.flush()
    while not log.stat().st_size:
        os.sched_yield()
    rotate(log, max_bytes=1)
    child.communicate("after\n")
    assert log.read_text() == "after\n"
    assert (tmp_path / "judge.log.1").read_text() == "before\n"
