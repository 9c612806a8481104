"""The metrics of a run in Weights & Biases and MLflow, with the real packages and no server."""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rlaif.contracts.run_origin import RunProvenance
from rlaif.testing.waiting import eventually
from rlaif.trainer.run_folder.metrics_log import FILE, MetricsLog, read
from rlaif.trainer.run_folder.metrics_rows import STEP, Row
from rlaif.trainer.run_folder.protocol import EvaluationDone, IterationDone, Started
from rlaif.trainer.run_folder.record import RunRecord
from rlaif.trainer.run_folder.trackers import PROJECT, tracker

RUN_ID, KL = "r-1", "learners/default_policy/mean_kl_loss"
RECORD = RunRecord(
    run_id=RUN_ID, created_at=datetime(2026, 1, 2, tzinfo=UTC), attempts=0, settings="{}",
    name="half rate",
    provenance=RunProvenance(
        seed=7, game=None, commit=None, packages={}, host="here", command="rlaif-train",
        settings={f"SETTING_{n}": str(n) for n in range(150)},
    ),
)  # fmt: skip


def iterated(step: int) -> IterationDone:
    return IterationDone(
        iteration=step // 100, env_steps=step, episodes=0, steps_per_second=9.0,
        segments_captured=0, segments_skipped=0, reward_parts={},
        learner={"mean_kl_loss": step / 1000},
    )  # fmt: skip


def evaluated(step: int) -> EvaluationDone:
    return EvaluationDone(
        evaluation_id="r-1-e0000", epoch=0, iteration=step // 100, fraction_mean=0.5,
        return_mean=1.0, path="", env_steps=step, player="trained", episodes=4, milestones=3.5,
        interval=(3.0, 4.0),
    )  # fmt: skip


def trained(folder: Path, kind: str, begin: int, *ends: int) -> None:
    """An attempt of the run, from a checkpoint."""
    log = MetricsLog(folder, lambda message: None, [tracker(kind, RECORD, folder)])
    with closing(log):
        log.send(Started(env_steps=begin, iteration=begin // 100, restored_from=None))
        for end in ends:
            log.send(iterated(end))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("MLFLOW_TRACKING_URI", "MLFLOW_EXPERIMENT_NAME", "WANDB_MODE", "WANDB_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "runs" / RUN_ID
    folder.mkdir(parents=True)
    return folder


@pytest.mark.filterwarnings("ignore")
def test_mlflow_has_settings_and_each_step_once_over_all_attempts(folder: Path) -> None:
    mlflow = pytest.importorskip(
        "mlflow", reason="MLflow is not installed: make setup-dev installs it into .venv"
    )
    trained(folder, "mlflow", 0, 100, 200, 300)
    trained(folder, "mlflow", 200, 300, 400)
    with closing(MetricsLog(folder, lambda _: None, [tracker("mlflow", RECORD, folder)])) as log:
        log.send(Started(env_steps=400, iteration=4, restored_from=None))
        client = mlflow.MlflowClient((folder.parents[1] / "mlruns").as_uri())
        (run,) = client.search_runs([client.get_experiment_by_name(PROJECT).experiment_id])
        assert run.info.status == "RUNNING", "it ended before"
        log.send(evaluated(400))
    (run,) = client.search_runs([client.get_experiment_by_name(PROJECT).experiment_id])
    assert (run.info.run_name, run.info.status) == ("half rate", "FINISHED")
    assert len(run.data.params) == 150
    history = [(each.step, each.value) for each in client.get_metric_history(run.info.run_id, KL)]
    assert history == [(100, 0.1), (200, 0.2), (300, 0.3), (400, 0.4)]
    (found,) = client.get_metric_history(run.info.run_id, "evaluation/milestones_iqm")
    assert (found.step, found.value) == (400, 3.5), "a checkpoint is evaluated after a resumption"


@pytest.mark.filterwarnings("ignore")
async def test_wandb_has_settings_and_each_step_once_without_a_server(folder: Path) -> None:
    pytest.importorskip(
        "wandb", reason="wandb is not installed: make setup-dev installs it into .venv"
    )
    trained(folder, "wandb", 0, 100, 200, 300)
    trained(folder, "wandb", 200, 300, 400)

    def points() -> list[tuple[float, float]]:
        files = sorted(folder.glob("wandb/offline-*/*.wandb"))
        return [(row[STEP], row[KL]) for path in files for row in logged(path)]

    await eventually(lambda: len(points()) == 4, "its own process has written them")
    assert points() == [(100, 0.1), (200, 0.2), (300, 0.3), (400, 0.4)]


def logged(path: Path) -> Iterator[dict[str, float]]:
    """The rows of a file that `wandb sync` would upload: LevelDB's log format after 7 bytes."""
    from wandb.proto.wandb_internal_pb2 import Record

    data, at, parts = path.read_bytes(), 7, b""
    while at + 7 <= len(data):
        if 32768 - at % 32768 < 7:  # the rest of a block
            at += 32768 - at % 32768
        size, kind = int.from_bytes(data[at + 4 : at + 6], "little"), data[at + 6]
        parts += data[at + 7 : at + 7 + size]
        at += 7 + size
        if kind in (1, 4):  # a whole record, or the last part of one
            record, parts = Record.FromString(parts), b""
            if record.WhichOneof("record_type") == "history":
                yield {
                    item.key or ".".join(item.nested_key): json.loads(item.value_json)
                    for item in record.history.item
                }


def test_a_tracker_that_fails_costs_only_itself(folder: Path) -> None:
    class Broken:
        def begin(self, step: int, reached: int) -> None:
            raise RuntimeError("no network")

        def write(self, rows: Sequence[Row]) -> None:
            raise AssertionError("it is left out")

        def close(self) -> None:
            raise AssertionError("it is left out")

    with closing(MetricsLog(folder, lambda message: None, [Broken()])) as log:
        log.send(Started(env_steps=0, iteration=0, restored_from=None))
        log.send(iterated(100))
    assert [row[STEP] for row in read(folder / FILE)] == [100]
