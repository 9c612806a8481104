"""Waits, time-outs and ages are measured by monotonic clocks: a clock that is set changes none."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = [
    path
    for top in ("libs", "services", "deploy")
    for path in (ROOT / top).rglob("src/rlaif/**/*.py")
    if "testing" not in path.parts
]
STAMPS = {
    "storage/file.py": "ages of temporary files, by the file system's own times",
    "run_folder/metrics_log.py": "the time stamp of TensorBoard's format",
    "doctor/repair.py": "the id of an event that is announced again",
    "mock_llm/chat.py": "the field `created` of a completion",
    "service/live.py": "signs of life that runners write with this machine's clock",
}
"""End of a path → what the wall clock is for."""


def _reads_wall_clock(path: Path) -> bool:
    return any(
        isinstance(node, ast.Call) and ast.unparse(node.func) == "time.time"
        for node in ast.walk(ast.parse(path.read_text()))
    )


def test_durations_do_not_follow_the_wall_clock() -> None:
    readers = {str(path.relative_to(ROOT)) for path in SOURCES if _reads_wall_clock(path)}
    assert {end for end in STAMPS if any(each.endswith(end) for each in readers)} == set(STAMPS)
    assert not {each for each in readers if not each.endswith(tuple(STAMPS))}
