"""Mode quest from end to end on the second cartridge: search, demonstrations, policy."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rlaif.trainer.evaluation import policy
from rlaif.trainer.run_folder import metrics_log
from rlaif.trainer.run_folder.quest_record import QuestRecord
from rlaif.trainer.run_folder.record import RunRecord, record_path

NOOK = Path(__file__).parents[2] / "data/nook/nook.gbc"
RUN = "r-quest"
SMALL = {
    "ROM_PATH": str(NOOK),
    "RAY_WORKERS": "0",
    "ENVS_PER_WORKER": "2",
    "BATCH_SIZE": "128",
    "TRAINER_PPO_MINIBATCH_SIZE": "64",
    "TRAINER_PPO_EPOCHS": "1",
    "TRAINER_HIDDEN": "32",
    "TRAINER_RUN_ID": RUN,
    "TRAINER_CURRICULUM_WARM_START": "20",
    "NATS_URL": "nats://127.0.0.1:9",
}


class Home:
    """A place in which the commands are run."""

    def __init__(self, path):
        self.data_dir = path / "trainer"
        self.directory = self.data_dir / "runs" / RUN
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("TRAINER_", "RAY_"))},
            **SMALL,
            "TRAINER_DATA_DIR": str(self.data_dir),
            "MODELS_STORE": f"file://{path}/models",
            "EPISODES_STORE": f"file://{path}/episodes",
        }

    def start(self, module, *options, search_seconds=600.0):
        minutes = {"SEARCH_MINUTES": search_seconds / 60, "MINUTES": search_seconds / 60 + 0.4}
        limits = {f"TRAINER_QUEST_{name}": str(value) for name, value in minutes.items()}
        return subprocess.Popen(
            [sys.executable, "-m", module, *options],
            env=self.environment | limits,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, module, *options, **limits):
        process = self.start(module, *options, **limits)
        try:
            out, err = process.communicate(timeout=400)
        finally:
            process.kill()
            process.wait()
        return process.returncode, out, err

    def train(self, search_seconds):
        return self.run(
            "rlaif.trainer.service.cli", "--mode", "quest", search_seconds=search_seconds
        )


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return Home(tmp_path_factory.mktemp("quest"))


@pytest.fixture(scope="module")
def searched_in_two(home):
    """The home after a search that was cut by Ctrl-C, and then the whole run."""
    process = home.start("rlaif.trainer.service.cli", "--mode", "quest")
    try:
        line = next(each for each in process.stdout if "found" in each)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=100)
    finally:
        process.kill()
        process.wait()
    record = QuestRecord.read(home.directory)
    cut = record, process.returncode, line + out, err
    return cut, home.train(record.search_seconds + 15)


@pytest.mark.timeout(900)
def test_ctrl_c_in_the_search_saves_and_the_same_command_continues(searched_in_two, home):
    (record, code, out, err), (code_after, out_after, err_after) = searched_in_two
    assert (code, err) == (0, "")
    assert record.phase == "search"
    assert record.search_seconds > 0
    assert f"rlaif train --run-id {RUN}" in out
    assert (code_after, err_after) == (0, "")
    assert QuestRecord.read(home.directory).search_seconds > record.search_seconds
    # A fast machine masters this small cartridge before the time is over.
    ended = RunRecord.read(record_path(home.data_dir, RUN)).finished
    words = {"time": "QUEST_MINUTES elapsed", "learned": "is mastered"}
    assert ended in words
    assert words[ended] in out_after


def test_the_terminal_reports_each_phase_and_the_findings(searched_in_two):
    _, (_, out, _) = searched_in_two
    assert "search: " in out
    assert "demonstrations: of 5 trajectories of the search" in out
    assert "demonstrations: a trajectory of " in out
    assert "policy: " in out
    assert "ends in " in out


def test_it_leaves_demonstrations_a_curve_and_a_policy(searched_in_two, home):
    record = QuestRecord.read(home.directory)
    assert record.phase == "policy"
    assert record.demonstrations
    rows = list(metrics_log.read(home.directory / metrics_log.FILE))
    assert "search/frames" in rows[0]
    assert "learners/default_policy/mean_kl_loss" in rows[-1]
    manifest, weights = policy.read(home.directory / policy.FOLDER)
    assert manifest.run_id == RUN
    assert json.loads(manifest.record.settings)["actions"] == "macros"
    assert not any("critic" in name or name.startswith("vf") for name in weights)
    assert str(home.data_dir) not in manifest.model_dump_json()
