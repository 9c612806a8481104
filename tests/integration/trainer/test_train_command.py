"""`rlaif train` as a person runs it: no NATS, stores in files."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from rlaif.storage.file import FileStore
from rlaif.testing.servers.nats_server import free_ports
from rlaif.testing.waiting import eventually
from rlaif.trainer.run_folder import checkpoints, metrics_log
from rlaif.trainer.run_folder.metrics_log import FILE
from rlaif.trainer.run_folder.record import RunRecord
from rlaif.trainer.service.cli import main
from rlaif.trainer.service.runs import store as checkpoint_store

SMALL = {
    "RAY_WORKERS": "0",
    "TRAINER_ACTIONS": "seed",
    "BATCH_SIZE": "128",
    "EPOCH_STEPS": "256",
    "TRAINER_PPO_MINIBATCH_SIZE": "64",
    "TRAINER_PPO_EPOCHS": "1",
    "TRAINER_EVAL_EPISODES": "2",
    "EPISODE_LENGTH": "40",
    "NATS_URL": "nats://127.0.0.1:9",
}


class Home:
    """A place to run the command in.

    Attributes:
        store: Of the models.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data_dir = path / "trainer"
        self.store = FileStore(path / "models")
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("TRAINER_", "RAY_"))},
            **SMALL,
            "TRAINER_DATA_DIR": str(self.data_dir),
            "MODELS_STORE": f"file://{path}/models",
            "EPISODES_STORE": f"file://{path}/episodes",
        }

    def start(self, *options: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "rlaif.trainer.service.cli", *options],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *options: str) -> tuple[int, str, str]:
        (result,) = self.run_together(options)
        return result

    def run_together(self, *commands: Sequence[str]) -> list[tuple[int, str, str]]:
        processes = [self.start(*options) for options in commands]
        try:
            printed = [process.communicate(timeout=400) for process in processes]
        finally:
            for process in processes:
                process.kill()
                process.wait()
        return [
            (process.returncode, out, err)
            for process, (out, err) in zip(processes, printed, strict=True)
        ]

    def runs(self) -> list[RunRecord]:
        found = (self.data_dir / "runs").glob("*/run.json")
        return [RunRecord.read(path) for path in found]

    def json(self, key: str) -> dict[str, Any]:
        return dict(json.loads(self.store.get(key)))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.mark.timeout(1200)
def test_a_pipeline_evaluates_reports_its_progress_and_comes_back_from_the_store(home: Home):
    code, out, err = home.run("--mode", "pipeline", "--run-id", "r-p", "--run-hours", "0.0015")
    assert (code, err) == (0, "")
    assert "RUN_HOURS elapsed" in out
    assert "no segment was captured for the judges: no NATS" in out
    progress = home.json("pipeline/progress.json")
    assert (progress["run_id"], progress["status"], progress["mode"]) == (
        "r-p",
        "finished",
        "pipeline",
    )
    assert progress["evaluations"] >= 1
    first = home.json("evaluations/r-p/r-p-e0000.json")
    assert (first["epoch"], first["env_steps"], len(first["episodes"])) == (0, 256, 2)
    chance = home.json("evaluations/r-p/r-p-random.json")
    assert (chance["player"], chance["epoch"], len(chance["episodes"])) == ("random", None, 2)
    for epoch in range(progress["epoch"]):
        ended = home.json(f"checkpoints/epoch_{epoch}/manifest.json")
        assert (ended["run_id"], ended["counters"]["env_steps"]) == ("r-p", 256 * (epoch + 1))
    (record,) = home.runs()
    assert record.finished == "time"
    kept = checkpoint_store.stored(home.store, "r-p")
    assert len(kept) <= 3, "the last two and the best"

    shutil.rmtree(home.data_dir)
    code, out, err = home.run("--mode", "evaluation", "--checkpoint", "r-p", "--run-id", "r-e")
    assert (code, err) == (0, ""), "an empty disk, and the same store"
    evaluated = home.json("evaluations/r-e/r-e.json")["checkpoint"]
    assert evaluated == f"r-p/{kept[-1].partition('-')[0]}"
    assert checkpoint_store.stored(home.store, "r-p") == kept, "evaluating deletes nothing"

    shutil.rmtree(home.data_dir)
    code, out, err = home.run("--mode", "epoch", "--run-id", "r-p")
    assert (code, err) == (0, "")
    assert f"resumes from {kept[-1].partition('-')[0]} at step {progress['env_steps']:,}" in out
    assert "not resumed" not in out, "games, policy and reward state came back"
    assert "end of the epoch" in out
    assert home.json("pipeline/progress.json")["env_steps"] > progress["env_steps"]


@pytest.mark.timeout(1200)
def test_the_command_in_the_record_of_a_run_repeats_it_bit_for_bit(home: Home):
    code, _, err = home.run("--mode", "epoch", "--run-id", "r-1", "--seed", "3")
    assert (code, err) == (0, "")
    origin = home.runs()[0].provenance
    assert origin is not None
    *settings, program, word = shlex.split(origin.command)
    assert (program, word) == ("rlaif", "train")
    machine = {k: v for k, v in home.environment.items() if k not in SMALL or k == "NATS_URL"}
    home.environment = machine | dict(each.split("=", 1) for each in settings)
    code, _, err = home.run("--run-id", "r-2")
    assert (code, err) == (0, "")
    runs = [home.data_dir / "runs" / name for name in ("r-1", "r-2")]
    policies = [checkpoints.whole(run / "checkpoints")[-1] / checkpoints.POLICY for run in runs]
    assert policies[0].read_bytes() == policies[1].read_bytes()
    first, again = ([played(row) for row in metrics_log.read(run / FILE)] for run in runs)
    assert first == again
    assert len(first) == 2


def played(row: dict[str, float]) -> dict[str, float]:
    """A row of metrics without what the clock decides."""
    clock = ("timestamp", "time_total_s", "per_second", "_throughput", "seconds_left", "segments_")
    return {name: value for name, value in row.items() if not any(each in name for each in clock)}


@pytest.mark.timeout(1200)
async def test_ctrl_c_saves_and_the_checkpoint_plays_the_same_evaluation_twice(home: Home):
    process = home.start("--run-id", "r-c")
    log = home.data_dir / "runs" / "r-c" / "progress.json"
    try:
        await eventually(
            lambda: log.exists() and json.loads(log.read_text())["iteration"] >= 1,
            "an iteration",
            seconds=300,
        )
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=200)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, err) == (0, "")
    assert "rlaif train --run-id r-c" in out, "how to resume"
    *_, saved = checkpoints.whole(home.data_dir / "runs" / "r-c" / "checkpoints")
    assert checkpoints.verify(saved).counters.env_steps >= 128

    names = ("r-e1", "r-e2")
    evaluation = ("--mode", "evaluation", "--checkpoint", "r-c", "--run-id")
    results = home.run_together(*((*evaluation, name) for name in names))
    assert [(code, err) for code, _, err in results] == [(0, "")] * 2
    one, two = (home.json(f"evaluations/{name}/{name}.json") for name in names)
    assert one["checkpoint"] == f"r-c/{saved.name}"
    assert one["episodes"] == two["episodes"]
    assert all(0 < each["steps"] <= 3_000 for each in one["episodes"])


@pytest.mark.timeout(900)
async def test_a_run_shows_its_figures_while_it_trains(home: Home):
    (port,) = free_ports(1)
    process = home.start("--run-id", "r-m", "--metrics-port", str(port))
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:

            async def shown() -> dict[str, float]:
                """Series and value, once there is an answer."""
                try:
                    text = (await client.get("/metrics")).text
                except httpx.TransportError:
                    assert process.poll() is None
                    return {}
                lines = [line for line in text.splitlines() if line.startswith("rlaif_")]
                parts = [line.rpartition(" ") for line in lines]
                return {series: float(value) for series, _, value in parts}

            async def trained() -> bool:
                return (await shown()).get("rlaif_trainer_env_steps", 0.0) >= 128

            await eventually(trained, "an iteration in the figures", seconds=300)
            figures = await shown()
            assert figures["rlaif_trainer_run_in_progress"] == 1
            assert figures["rlaif_trainer_run_attempt"] == 0, "nothing was started again"
            assert figures["rlaif_trainer_steps_per_second"] > 0
            assert figures['rlaif_trainer_check_ok{check="run"}'] == 1
            assert figures['rlaif_trainer_check_ok{check="disk"}'] == 1
            assert figures['rlaif_trainer_check_ok{check="bus"}'] == 0
            checks = (await client.get("/readyz")).json()["checks"]
            assert "NATS" in checks["bus"]["detail"]
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=200)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, err) == (0, "")
    assert "rlaif train --run-id r-m" in out, "a look at its figures costs the run nothing"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--batch-size", "64"), "TRAINER_PPO_MINIBATCH_SIZE 65 is larger than BATCH_SIZE 64"),
        (("--epoch-steps", "none"), "epoch_steps: Input should be a valid integer"),
        (("--resume",), "no run to resume"),
    ],
)
def test_a_wrong_setting_is_one_line_and_exit_code_2(
    home: Home,
    options: tuple[str, ...],
    text: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    for name, value in (home.environment | {"TRAINER_PPO_MINIBATCH_SIZE": "65"}).items():
        monkeypatch.setenv(name, value)
    assert main(options) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert text in printed.err
    assert printed.err.startswith("rlaif train: error: ")
    assert printed.err.count("\n") == 1
