"""A run of every release resumes with today's settings, whatever their defaults are.

`tests/data/releases` says what the files are and how to add one.
"""

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from rlaif.service.metrics import ServiceMetrics
from rlaif.service.settings import flat_values
from rlaif.testing.waiting import eventually
from rlaif.trainer import checks
from rlaif.trainer.run_folder import checkpoints
from rlaif.trainer.run_folder.protocol import Message, Started
from rlaif.trainer.run_folder.record import RunRecord, list_runs
from rlaif.trainer.service.runs.manager import RunManager
from rlaif.trainer.settings import TrainerSettings

RELEASES = Path(__file__).parents[2] / "data" / "releases"
FILES = sorted(path.name.removesuffix(".tar.xz") for path in RELEASES.glob("*.tar.xz"))
MADE_WITH = {"hidden": 8, "ppo_share_layers": True}
"""Chosen when the files were made, and today's defaults are others."""

IN_EFFECT = {
    "484c0b9": MADE_WITH
    | {"actions": "seed", "ppo_normalize_values": False, "shaping_weight": 1.0}
    | {"ppo_value_loss": "squared", "ppo_value_clip": 10.0},
    "0.1.0": MADE_WITH
    | {"actions": "macros", "ppo_normalize_values": True, "shaping_weight": 10.0}
    | {"ppo_value_loss": "huber", "ppo_value_clip": 0.0},
}


@pytest.fixture(params=FILES)
def release(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def data_dir(release: str, tmp_path: Path) -> Path:
    with tarfile.open(RELEASES / f"{release}.tar.xz") as archive:
        archive.extractall(tmp_path)  # ours
    return tmp_path / "trainer"


@pytest.fixture
def record(data_dir: Path) -> RunRecord:
    (found,) = list_runs(data_dir)
    return found


def plain(data_dir: Path, **given: Any) -> TrainerSettings:
    """Other settings have today's defaults; two games would not fit the batch of the files."""
    small = {"ray_workers": 0, "batch_size": 64, "minibatch_size": 32, "episode_length": 300}
    return TrainerSettings.model_validate({"data_dir": data_dir} | small | given)


def saved(data_dir: Path, record: RunRecord) -> Path:
    found = checkpoints.newest_usable(data_dir / "runs" / record.run_id / "checkpoints")
    assert found is not None
    return found[0]


def test_it_resumes_with_what_shapes_its_policy(release: str, data_dir: Path, record: RunRecord):
    settings = checks.check(plain(data_dir), saved(data_dir, record))
    assert {name: flat_values(settings)[name] for name in IN_EFFECT[release]} == IN_EFFECT[release]
    assert settings.run_hours == 48.0, "what shapes nothing has today's default"


def test_its_policy_can_be_evaluated(data_dir: Path, record: RunRecord):
    settings = plain(data_dir, mode="evaluation", checkpoint=record.run_id)
    assert checks.check(settings).hidden == 8


@pytest.mark.parametrize(
    ("given", "variable"), [({"actions": "options"}, "TRAINER_ACTIONS"), ({"hidden": 64}, "HIDDEN")]
)
def test_another_value_of_what_is_fixed_is_refused_with_both(
    data_dir: Path, record: RunRecord, given: dict[str, Any], variable: str
):
    with pytest.raises(checks.WrongSettingsError) as refused:
        checks.check(plain(data_dir, **given), saved(data_dir, record), given)
    ((name, value),) = given.items()
    begun = flat_values(checks.check(plain(data_dir), saved(data_dir, record)))[name]
    for text in (variable, str(value), str(begun), record.run_id):
        assert text in str(refused.value)


def test_what_the_critic_predicts_may_be_set_and_else_stays(data_dir: Path, record: RunRecord):
    kept = json.loads(record.settings)
    chosen = plain(data_dir, gamma=0.9, reward_preset="seed")
    settings = checks.check(chosen, saved(data_dir, record), {"ppo_gamma"})
    assert settings.ppo.gamma == 0.9
    assert settings.game.reward_preset == kept["reward_preset"] == "default"


@pytest.mark.timeout(600)
async def test_it_trains_on(release: str, data_dir: Path, record: RunRecord):
    reported: list[Message] = []
    runs = RunManager(plain(data_dir), ServiceMetrics("trainer"))
    runs.listen(reported.append)
    before = checkpoints.read_manifest(saved(data_dir, record)).counters
    run = await runs.start(record.run_id)
    try:
        await eventually(
            lambda: run.state.iteration > before.iteration or run.state.status == "failed",
            "it trains on",
            seconds=500,
        )
        assert run.state.failure is None
        (started,) = [message for message in reported if isinstance(message, Started)]
        assert (started.iteration, started.env_steps) == (before.iteration, before.env_steps)
        (unused,) = started.passed_over
        assert unused.startswith("exploration/"), "its games resume, too"
    finally:
        await runs.stop()
    kept = json.loads(run_record(data_dir, record).settings)
    assert {name: kept[name] for name in IN_EFFECT[release]} == IN_EFFECT[release]


def run_record(data_dir: Path, record: RunRecord) -> RunRecord:
    return RunRecord.read(data_dir / "runs" / record.run_id / "run.json")


async def test_a_run_that_cannot_be_resumed_reports_it_everywhere(
    data_dir: Path, record: RunRecord
):
    path = data_dir / "runs" / record.run_id / "run.json"
    record.model_copy(update={"finished": None}).write(path)
    runs = RunManager(plain(data_dir, hidden=64), ServiceMetrics("trainer"))
    await runs.resume_or_start()
    assert runs.state is not None
    assert (runs.state.run_id, runs.state.status) == (record.run_id, "failed")
    assert "TRAINER_HIDDEN" in str(runs.state.failure)
    assert runs.issue is not None
    assert not runs.alive
    await runs.stop()
