"""One folder as the store of several processes, some of which are killed while they write."""

import subprocess
import sys
from pathlib import Path

from rlaif.storage.file import FileStore

PROCESSES, ROUNDS = 4, 40

COUNT = """
import sys
from pathlib import Path
from rlaif.storage.file import FileStore

root, me, rounds = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
store = FileStore(root)
for number in range(rounds):
    if store.put_once(f"won/{number}", me.encode()):
        store.put(f"of/{me}/{number}", b"")
    while True:
        data, tag = store.get_tagged("count")
        if store.put_over("count", b"%d" % (int(data) + 1), tag):
            break
"""

WRITE = """
import sys
from pathlib import Path
from rlaif.storage.file import FileStore

store = FileStore(Path(sys.argv[1]))
print("ready", flush=True)
while True:
    for digit in b"0123456789":
        store.put("whole", bytes([digit]) * 1_000_000)
"""


def started(program: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_each_object_has_one_creator_and_no_replacement_is_lost(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    store.put("count", b"0")
    writers = [started(COUNT, tmp_path, me, ROUNDS) for me in range(PROCESSES)]
    for writer in writers:
        with writer:
            assert writer.wait(120) == 0
    assert store.get("count") == b"%d" % (PROCESSES * ROUNDS)
    winners = {number: store.get(f"won/{number}").decode() for number in range(ROUNDS)}
    expected = sorted(f"of/{me}/{number}" for number, me in winners.items())
    assert [info.key for info in store.list("of/")] == expected


def test_a_reader_finds_whole_objects_though_writers_are_killed(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    store.put("whole", b"0" * 1_000_000)
    for _ in range(3):
        with started(WRITE, tmp_path) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "ready\n"
            for _ in range(50):
                data = store.get("whole")
                assert len(data) == 1_000_000
                assert len(set(data)) == 1
            writer.kill()
    assert [info.key for info in store.list()] == ["whole"]
    data, tag = store.get_tagged("whole")
    assert store.put_over("whole", b"mine", tag)
