"""The study of the exploration can be interrupted, and repeats nothing."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

STUDY = Path(__file__).parents[3] / "benchmarks/study_exploration.py"


def studied(folder: Path, frames: int) -> tuple[str, dict[str, Any]]:
    """Play a search of the study to so many frames; what the study printed, and its result."""
    command = [sys.executable, str(STUDY), "--worlds", "seedling-vale", "--seeds", "11"]
    command += ["--arms", "uniform+expert", "--frames", str(frames), "--jobs", "1"]
    command += ["--data", str(folder / "data"), "--out", str(folder / "out")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    run = folder / "out/runs/seedling-vale.uniform+expert.11.json"
    return done.stdout, json.loads(run.read_text("utf-8"))


def test_a_run_is_resumed_up_to_its_limit_and_then_only_reported(tmp_path: Path):
    _, first = studied(tmp_path, 15_000)
    _, second = studied(tmp_path, 40_000)
    assert 15_000 <= first["frames"] < 40_000 <= second["frames"]
    assert second["resumed"] == 1
    assert second["finds"]["flag"].items() >= first["finds"]["flag"].items()
    assert second["states"] > first["states"] > 0
    printed, third = studied(tmp_path, 40_000)
    assert "0 of 1 runs to play" in printed
    assert third == second
    rows = (tmp_path / "out/runs.csv").read_text("utf-8").splitlines()
    assert len(rows) == 2
    assert f"uniform+expert,11,{second['frames']},," in rows[1]
