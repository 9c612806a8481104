"""A run that an earlier release saved resumes as if nothing had changed, or is refused in words.

`data/run_saved_earlier.tar.gz` is the run's record and its checkpoint after three iterations of 64
steps: one runner, sampling overlapped, a reward model half ramped up, imitation, exploration. It
was written by `rlaif-train` before states were saved by `state_dict`, and before the settings were
made of blocks. It plays the embedded game as it was then: another ROM needs another file.
"""

import json
import tarfile
from pathlib import Path

import pytest

from rlaif.service.settings import stored
from rlaif.testing.waiting import eventually
from rlaif.trainer.checks import check, with_overrides
from rlaif.trainer.run_folder import checkpoints, npz_tree
from rlaif.trainer.run_folder.protocol import Message, Started
from rlaif.trainer.run_folder.record import RunRecord
from rlaif.trainer.service.runs.supervisor import RunSupervisor
from rlaif.trainer.settings import TrainerSettings

RUN = "r-saved-earlier"
SAVED = Path(__file__).parent / "data" / "run_saved_earlier.tar.gz"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    home = tmp_path / "runs" / RUN
    home.mkdir(parents=True)
    with tarfile.open(SAVED) as archive:
        archive.extractall(home)  # ours
    return home


@pytest.fixture
def settings(directory: Path, tmp_path: Path) -> TrainerSettings:
    """Those that the run's record holds, on this machine."""
    kept_text = RunRecord.read(directory / "run.json").settings
    kept = stored(TrainerSettings, json.loads(kept_text)) | {"data_dir": tmp_path}
    settings = TrainerSettings.model_validate(kept)
    saved = checkpoints.newest_usable(directory / "checkpoints")
    assert saved is not None
    return check(with_overrides(settings, {"mode": "continuous"}), saved[0])


def test_its_settings_are_read(settings: TrainerSettings):
    assert (settings.hidden, settings.batch_size, settings.ppo.minibatch_size) == (
        8,
        64,
        32,
    )
    assert (settings.imitation.weight, settings.imitation.segments) == (0.1, 1)
    assert (settings.explore.states, settings.episode_length) == (16, 40)


@pytest.mark.timeout(900)
async def test_it_resumes_with_all_its_games_and_its_reward_model(
    settings: TrainerSettings, directory: Path
):
    told: list[Message] = []
    run = RunSupervisor(settings, RUN, told.append)
    run.start()
    await eventually(lambda: run.state.iteration > 4, "it trains on", seconds=240)
    (started,) = [message for message in told if isinstance(message, Started)]
    assert (started.restored_from, started.passed_over) == ("iteration_00000003", [])
    assert (started.iteration, started.env_steps) == (3, 192)
    last = run.state.last
    assert last is not None
    assert last.reward_model_version == 5
    assert last.reward_model_share == 1.0, "the ramp went on where it stood"
    await run.stop()


@pytest.mark.timeout(900)
async def test_one_that_is_damaged_is_refused_with_one_sentence(
    settings: TrainerSettings, directory: Path
):
    (checkpoint,) = checkpoints.whole(directory / "checkpoints")
    learner = npz_tree.read(checkpoint / checkpoints.LEARNER)
    assert learner["algorithm"]["env_steps"] == 192
    spoil = checkpoint / checkpoints.LEARNER
    spoil.write_bytes(spoil.read_bytes()[:-100])
    run = RunSupervisor(settings, RUN)
    run.start()
    await eventually(lambda: run.state.status == "failed", "it is refused", seconds=240)
    assert run.state.failure is not None
    assert "\n" not in run.state.failure
    assert run.state.attempt == 1
