"""A reward model is checked before it counts; a refused one is reported and changes nothing."""

import hashlib
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
import torch

from rlaif.contracts.game.observation import LAYOUT_VERSION
from rlaif.contracts.reward_models import RewardNetSpec
from rlaif.reward_net import artifact
from rlaif.reward_net.errors import RewardNetError
from rlaif.reward_net.network import RewardNet
from rlaif.trainer.rewards.learned.reward_models import read_reward_model
from rlaif.trainer.run_folder.protocol import (
    RewardModelLoaded,
    RewardModelRefused,
)
from rlaif.trainer.service.runs.state import RunState
from rlaif.trainer.settings import TrainerSettings

SPEC = RewardNetSpec(layout_version=LAYOUT_VERSION, hidden=(8,), scale=2.0, spread=0.5)


def network(spec: RewardNetSpec = SPEC) -> RewardNet:
    return RewardNet(spec, generator=torch.Generator().manual_seed(0))


def published(path: Path, data: bytes) -> tuple[Path, str]:
    path.write_bytes(data)
    return path, hashlib.sha256(data).hexdigest()


def refusal(tmp_path: Path, data: bytes, *, version: int = 3, sha256: str | None = None) -> str:
    path, found = published(tmp_path / "rm.safetensors", data)
    with pytest.raises(RewardNetError) as caught:
        read_reward_model(path, version=version, sha256=sha256 or found)
    return caught.value.reason


def test_a_good_model_is_read_with_its_answers(tmp_path: Path):
    net = network()
    data = artifact.save(net, SPEC, version=3)
    path, sha256 = published(tmp_path / "rm.safetensors", data)
    model = read_reward_model(path, version=3, sha256=sha256)
    assert (model.version, model.sha256, model.data) == (3, sha256, data)
    x = np.random.default_rng(0).random((20, 128), dtype=np.float32)
    assert np.abs(model.answers(x)).max() <= SPEC.scale


@pytest.mark.parametrize(
    ("reason", "data", "announced"),
    [
        ("wrong_version", artifact.save(network(), SPEC, version=3), {"version": 4}),
        ("too_large", b"\0" * (artifact.MAX_BYTES + 100), {}),
    ],
    ids=["wrong version", "too large"],
)
def test_a_bad_model_is_refused_with_the_reason(tmp_path, reason, data, announced):
    assert refusal(tmp_path, data, **announced) == reason


def test_a_refusal_leaves_the_old_model_and_says_why():
    state = RunState(run_id="r").after(RewardModelLoaded(version=1, env_step=10))
    refused = state.after(RewardModelRefused(version=2, reason="not_finite: it diverged"))
    assert refused.reward_model_version == 1
    assert refused.reward_model_refused is not None
    assert refused.reward_model_refused.reason == "not_finite: it diverged"
    told = refused.progress(datetime(2026, 1, 2, tzinfo=UTC))
    assert (told.reward_model_refused, told.reward_model_version) == (2, 1)
    assert told.reward_model_refusal == "not_finite: it diverged"
    later = refused.after(RewardModelLoaded(version=3, env_step=20))
    assert (later.reward_model_version, later.reward_model_refused) == (3, None)


def test_a_ramp_longer_than_the_time_between_swaps_is_a_wrong_setting():
    with pytest.raises(ValueError, match="a ramp must end"):
        TrainerSettings.model_validate({"shaping_ramp_iterations": 6, "shaping_swap_iterations": 5})
    TrainerSettings.model_validate({"shaping_ramp_iterations": 1, "shaping_swap_iterations": 0})
