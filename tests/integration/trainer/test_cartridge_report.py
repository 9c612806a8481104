"""The report of `make train-cartridge`: figures of several seeds, arms apart."""

import csv
import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rlaif.trainer.evaluation import policy, result
from rlaif.trainer.evaluation.result import EvaluatedEpisode, Evaluation, figures, trial_seed
from rlaif.trainer.run_folder.quest_record import QuestRecord
from rlaif.trainer.run_folder.record import RunRecord

SCRIPT = Path(__file__).parents[3] / "benchmarks/train_cartridge.py"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
NAMES = ("sword", "shield", "bombs", "bracelet")


def trial(run_id, seed, reached, player="trained"):
    """Episodes that reach so many milestones each; the last of four is the essence."""
    return Evaluation(
        evaluation_id=run_id,
        run_id=run_id,
        checkpoint=run_id,
        iteration=1,
        env_steps=1,
        player=player,
        policy="sampled",
        seed=trial_seed(seed),
        rom_sha256="ab" * 32,
        milestones_total=4,
        episode_length=900,
        created_at=NOW,
        seconds=1.0,
        **figures([episode(number, count) for number, count in enumerate(reached)]),
    )


def episode(number, count):
    return EvaluatedEpisode(
        number=number,
        start="power-on",
        steps=900,
        milestones=NAMES[:count],
        milestone_frames={name: 100 * at for at, name in enumerate(NAMES[:count], 1)},
        fraction=count / 4,
        reward=0.0,
        essences=int(count == len(NAMES)),
        frames=3600,
        decisions=9,
        deaths=0,
        rooms=3,
        ended="truncated",
    )


def add_run(data_dir, arm, seed, reached, chance=None):
    run_id = f"cartridge-{arm}-{seed}"
    directory = data_dir / "runs" / run_id
    directory.mkdir(parents=True)
    settings = json.dumps({"actions": arm, "seed": seed, "rom_path": None})
    RunRecord(run_id=run_id, created_at=NOW, attempts=0, settings=settings, mode="quest").write(
        directory / "run.json"
    )
    QuestRecord(search_over="time", search_seconds=60, demonstrations=5).write(directory)
    folder = directory / policy.FOLDER
    result.write_trial(folder, trial(run_id, seed, reached))
    if chance is not None:
        result.write_trial(folder, trial(run_id, seed, chance, player="random"))


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    tmp_path = tmp_path_factory.mktemp("data")
    add_run(tmp_path, "macros", 1, [4, 4, 2, 2], chance=[0, 0, 0, 1])
    add_run(tmp_path, "macros", 2, [1, 1, 1, 1])
    add_run(tmp_path, "macros", 3, [2, 2, 2, 2])
    add_run(tmp_path, "buttons", 1, [0, 0, 0, 0])
    done = subprocess.run(
        [sys.executable, SCRIPT, "--data-dir", tmp_path, "--out", tmp_path / "out"],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), tmp_path / "out"


def test_arms_are_distinguished_each_with_its_seeds_means_and_interval(reported):
    told, _ = reported
    macros, buttons = told["arms"]["macros"], told["arms"]["buttons"]
    assert macros["seeds"] == [1, 2, 3]
    assert macros["milestones_means"] == [3.0, 1.0, 2.0]
    value, low, high = macros["milestones_iqm"]
    assert value == 2.0
    assert 1.0 <= low < value < high <= 4.0
    assert macros["essence_shares"] == [0.5, 0.0, 0.0]
    assert macros["reached"]["sword"] == 1.0
    assert macros["chance_iqm"][0] == 0.25
    assert buttons["milestones_iqm"] == [0.0, 0.0, 0.0]
    assert "chance_iqm" not in buttons


def test_the_raw_rows_and_the_curves_are_written(reported):
    told, out = reported
    assert json.loads((out / "summary.json").read_text()) == told
    with (out / "episodes.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 20
    assert rows[0]["player"] in ("trained", "random")
    with (out / "runs.csv").open(newline="") as file:
        assert [row["run"] for row in csv.DictReader(file)] == [
            "cartridge-buttons-1",
            "cartridge-macros-1",
            "cartridge-macros-2",
            "cartridge-macros-3",
        ]


def test_without_a_run_it_says_which_command_makes_one(tmp_path):
    done = subprocess.run(
        [sys.executable, SCRIPT, "--data-dir", tmp_path],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 1
    assert "make train-cartridge SEED=1" in done.stderr
