"""The simulated month: its store is one, and a small run comes to its figures."""

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rlaif.contracts.game.segments import SegmentManifest
from rlaif.contracts.judging.scores import ScoreRecord
from rlaif.storage import keys

FOLDER = Path(__file__).parents[2] / "benchmarks"
SEGMENTS = 48
OBJECTS_OF_A_SEGMENT = 17


@pytest.fixture
def store(monkeypatch) -> Any:
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module("simulate_month").MonthStore(SEGMENTS)


def test_the_store_lists_from_any_key_as_a_sorted_list_of_its_keys_does(store):
    every = [info.key for info in store.list()]
    assert every == sorted(set(every))
    assert len(every) == SEGMENTS * OBJECTS_OF_A_SEGMENT
    for prefix in ("", "captures/", "scores/", every[300][:20], every[-1], "scores0", "a", "z"):
        for after in ("", every[7], every[300], every[-2], every[-1], "captures0", "z"):
            wanted = [key for key in every if key.startswith(prefix) and key > after]
            assert [info.key for info in store.list(prefix, after=after)] == wanted


def test_its_objects_are_those_of_the_segments_that_were_made(store):
    for info in store.list():
        assert store.head(info.key) == info
        if ids := keys.score_ids(info.key):
            score = ScoreRecord.model_validate_json(store.get(info.key))
            assert score.segment_id == ids[1]
            manifest = SegmentManifest.model_validate_json(store.get(score.manifest_key))
            assert manifest.segment_id == ids[1]
    assert store.head(keys.score("another", "segment-1")) is None
    times = {info.key: info.modified_at for info in store.list("scores/")}
    store.count += 8
    later = [info for info in store.list("scores/") if info.key not in times]
    assert len(later) == 8
    assert min(info.modified_at for info in later) > max(times.values())


def simulated(*options: str) -> tuple[list[str], dict[str, Any]]:
    """Rows and figures of a small month."""
    command = (sys.executable, str(FOLDER / "simulate_month.py"), "--segments", "2400", *options)
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    *rows, last = done.stdout.splitlines()
    return rows[-9:], json.loads(last)


def test_a_small_month_has_figures_of_each_part_at_each_share_and_can_be_resumed(tmp_path):
    rows, figures = simulated()
    assert (figures["segments"], figures["missed"]) == (2400, [])
    for part in ("hud", "reward_model", "api"):
        assert {name: len(row) for name, row in figures[part].items()} == dict.fromkeys(
            ("memory_mb", "start_seconds", "look_seconds", "list_seconds"), 3
        )
        assert min(figures[part]["memory_mb"]) > 0
    whole = tmp_path / "whole.txt"
    whole.write_text("\n".join(rows))
    assert simulated("--resume", str(whole))[0] == rows
