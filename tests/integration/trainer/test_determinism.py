"""The same seed gives the same game, in another process, drawn or not.

`benchmarks/determinism.py` shows it for 50,000 steps; this is the everyday part of it.
"""

import json
import subprocess
import sys
from pathlib import Path

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "determinism.py"


def test_three_processes_reach_the_same_ram_and_observations():
    done = subprocess.run(
        [sys.executable, str(BENCHMARK), "--steps", "3000"],
        capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["same"]
    # Were the game standing still, equal marks would prove nothing.
    assert result["distinct_marks"] == result["marks"] == 10
