"""Reward models come and go while a real training process runs; a bad one changes nothing."""

import hashlib
from datetime import UTC, datetime
from pathlib import Path

import pytest
import torch

from rlaif.contracts.events import RunIterated, RunLoaded, RunStarted
from rlaif.contracts.game.observation import LAYOUT_VERSION
from rlaif.contracts.reward_models import RewardNetSpec
from rlaif.reward_net import artifact
from rlaif.reward_net.network import RewardNet
from rlaif.testing.waiting import eventually
from rlaif.trainer.run_folder.live_files import ScreenFile
from rlaif.trainer.run_folder.protocol import GrantCaptures, LoadRewardModel, Message
from rlaif.trainer.run_folder.spool import Spool, SpooledCapture
from rlaif.trainer.service.runs.past import RunPast
from rlaif.trainer.service.runs.supervisor import RunSupervisor
from rlaif.trainer.settings import TrainerSettings

SECONDS = 240.0
SPEC = RewardNetSpec(layout_version=LAYOUT_VERSION, hidden=(8,), spread=0.1)


@pytest.fixture
def settings(tmp_path: Path) -> TrainerSettings:
    return TrainerSettings.model_validate(
        {
            "data_dir": tmp_path,
            "ray_workers": 0,
            "actions": "seed",  # inside longer decisions pay is discounted; here sums are compared
            "batch_size": 128,
            "minibatch_size": 64,
            "epochs": 1,
            "episode_length": 100,
            "shaping_ramp_iterations": 2,
            "shaping_swap_iterations": 2,
            "curiosity_weight": 0.1,
        }
    )


def published(directory: Path, version: int, *, spoiled: bool = False) -> LoadRewardModel:
    net = RewardNet(SPEC, generator=torch.Generator().manual_seed(version))
    data = artifact.save(net, SPEC, version=version)
    path = directory / f"{version}.safetensors"
    path.write_bytes(data[:-8] if spoiled else data)
    return LoadRewardModel(version=version, path=str(path), sha256=hashlib.sha256(data).hexdigest())


def says(slot: ScreenFile) -> int | None:
    """The version whose opinion of the watched picture is known."""
    picture = slot.read()
    opinion = picture.opinion if picture is not None else None
    return opinion.version if opinion is not None and opinion.potential is not None else None


@pytest.mark.timeout(900)
async def test_models_are_swapped_between_iterations_and_a_refused_one_is_reported(
    settings: TrainerSettings, tmp_path: Path
):
    past = RunPast("r-hot-load", tmp_path, settings)
    attempts = [0]

    def note(message: Message) -> None:
        past.note(message, datetime.now(UTC), attempts[-1])

    run = RunSupervisor(settings, "r-hot-load", note)

    async def until(what: str, condition) -> None:
        await eventually(condition, what, seconds=SECONDS)

    run.start(published(tmp_path, 1))
    await until("model 1 pays", lambda: paid_by(run) == (1, 1.0))
    last = run.state.last
    assert last is not None
    assert set(last.reward_statistics) == {"game", "shaping", "curiosity"}
    assert {"shaping", "curiosity", "room"} <= set(last.reward_parts)
    assert last.reward_statistics["shaping"].std > 0
    assert last.reward_statistics["curiosity"].mean > 0
    assert last.potential_mean is not None
    assert last.paid_share == last.reward_statistics["shaping"].share

    slot = ScreenFile(next((run.directory / "screens").glob("*.rgb")))
    await until("the picture says what model 1 thinks of it", lambda: says(slot) == 1)

    spool = Spool(run.directory / "spool")
    await run.send(GrantCaptures(segments=2))
    await until("a segment is captured", lambda: spool.count() > 0)
    captured = SpooledCapture.unpack(next(spool.waiting()).read_bytes()).capture
    assert captured.reward_model_version == 1

    await run.send(published(tmp_path, 2, spoiled=True))
    await until("model 2 is refused", lambda: run.state.reward_model_refused is not None)
    refused = run.state.reward_model_refused
    assert refused is not None
    assert (refused.version, refused.reason.split(":")[0]) == (2, "hash_mismatch")
    seen = run.state.iteration
    await until("training goes on", lambda: run.state.iteration > seen)
    assert paid_by(run) == (1, 1.0), "the old one stays"

    await run.send(published(tmp_path, 3))
    await until("model 3 pays in full", lambda: paid_by(run) == (3, 1.0))
    assert run.state.reward_model_version == 3
    assert run.state.reward_model_refused is None
    await run.stop()

    attempts.append(1)
    resumed = RunSupervisor(settings, "r-hot-load", note)
    resumed.start()
    await until("the resumed run has it from its checkpoint", lambda: paid_by(resumed) == (3, 1.0))
    await resumed.stop()
    reported_whole(past)


def reported_whole(past: RunPast) -> None:
    """The events of this run are complete: starts, loads, every step, every episode and sum."""
    events = []
    while (event := past.next(ended=True)) is not None:
        past.published(event, datetime.now(UTC))
        events.append(event)
    assert [each.attempt for each in events if isinstance(each, RunStarted)] == [0, 1]
    assert [each.version for each in events if isinstance(each, RunLoaded)] == [1, 3, 3]
    pieces = [each for each in events if isinstance(each, RunIterated)]
    assert [piece.since_step for piece in pieces] == [0, *(each.env_step for each in pieces[:-1])]
    for piece in pieces:
        assert piece.learned_from == pytest.approx(sum(piece.paid.values()), rel=1e-4, abs=1e-3)
        assert piece.oldest_open is not None
        assert piece.oldest_open <= piece.env_step
        rows = piece.episodes
        assert rows.count // rows.stride <= len(rows.began) <= rows.count
        assert all(began is not None and began < piece.env_step for began in rows.began)
        assert None not in rows.gained
    assert sum(piece.episodes.count for piece in pieces) > 0
    for piece in pieces:
        assert (piece.potential_mean is None) == (piece.reward_model_version is None)


def paid_by(run: RunSupervisor) -> tuple[int | None, float | None] | None:
    """Version and share of the reward model of the last iteration."""
    last = run.state.last
    return (last.reward_model_version, last.reward_model_share) if last else None
