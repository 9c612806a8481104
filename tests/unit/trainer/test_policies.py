"""Policies as files: written and read again, refused when they do not fit; formats of 0.1.0."""

import json
import os
from dataclasses import replace
from datetime import UTC, datetime
from importlib import resources
from typing import Any

import numpy as np
import pytest

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.trainer.evaluation import policy, result
from rlaif.trainer.evaluation.policy import PolicyError
from rlaif.trainer.run_folder import checkpoints
from rlaif.trainer.run_folder.checkpoints import Counters, Manifest
from rlaif.trainer.run_folder.record import RunRecord

WEIGHTS: dict[str, Any] = {
    "pi.weight": np.arange(6, dtype=np.float32).reshape(2, 3),
    "pi.bias": np.ones(2),
}
SHA = "ab" * 32
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def manifest(**changes):
    record = RunRecord(run_id="cartridge-1", created_at=NOW, attempts=0, settings="{}")
    fields: dict[str, Any] = {
        "run_id": "cartridge-1",
        "attempt": 0,
        "created_at": NOW,
        "counters": Counters(iteration=10, env_steps=40_960),
        "hidden": 256,
        "rom_sha256": SHA,
        "record": record,
    }
    return Manifest(**(fields | changes))


def test_what_was_written_is_read_again(tmp_path):
    written = policy.write(tmp_path, manifest(), WEIGHTS)
    found, arrays = policy.read(tmp_path)
    assert found == written
    assert checkpoints.verify(tmp_path) == written, "it is a checkpoint"
    assert arrays.keys() == WEIGHTS.keys()
    for name, values in WEIGHTS.items():
        np.testing.assert_array_equal(arrays[name], values)


def test_weights_of_another_policy_are_refused(tmp_path):
    policy.write(tmp_path, manifest(), WEIGHTS)
    other = tmp_path / "other"
    policy.write(other, manifest(), {"pi.weight": np.zeros(3, np.float32)})
    (tmp_path / checkpoints.POLICY).write_bytes((other / checkpoints.POLICY).read_bytes())
    with pytest.raises(PolicyError, match="does not match its manifest"):
        policy.read(tmp_path)


def test_a_manifest_of_another_format_is_refused(tmp_path):
    policy.write(tmp_path, manifest(), WEIGHTS)
    path = tmp_path / checkpoints.MANIFEST
    path.write_text(path.read_text().replace('"format": 1', '"format": 2'))
    with pytest.raises(PolicyError, match=r"manifest.json cannot be read"):
        policy.read(tmp_path)


@pytest.mark.parametrize("name", ["number of actions", "observation layout", "policy input"])
def test_a_policy_for_another_interface_is_refused(name):
    cartridge = replace(load_cartridge())
    fits = manifest(rom_sha256=cartridge.sha256, layouts=policy.layouts())
    policy.check(fits, cartridge)
    other = fits.model_copy(update={"layouts": policy.layouts() | {name: "other"}})
    with pytest.raises(PolicyError, match=f"its {name} is other, here it is "):
        policy.check(other, cartridge)


def test_a_policy_of_another_game_is_refused():
    with pytest.raises(PolicyError, match=r"another game \(ROM abab"):
        policy.check(manifest(), load_cartridge())


def test_a_run_a_folder_and_the_newest_policy_are_found(tmp_path):
    old, new = tmp_path / "runs/old/trained", tmp_path / "runs/new/trained"
    for age, folder in ((200, old), (100, new)):
        policy.write(folder, manifest(), WEIGHTS)
        os.utime(folder / checkpoints.POLICY, (1e9 - age, 1e9 - age))
    assert policy.find(tmp_path) == new
    assert policy.find(tmp_path, "old") == old
    assert policy.find(tmp_path / "elsewhere", str(old)) == old
    with pytest.raises(PolicyError, match=r"no checkpoint 'none'.*make train-cart"):
        policy.find(tmp_path, "none")
    with pytest.raises(PolicyError, match=f"{tmp_path / 'elsewhere/runs'} has: none"):
        policy.find(tmp_path / "elsewhere", "none")


def test_the_data_directory_of_a_demo_is_that_of_its_trainer_too(tmp_path):
    assert policy.data_dir_of(str(tmp_path)) == tmp_path, "nothing to choose from"
    trainer = tmp_path / "trainer"
    (trainer / "runs").mkdir(parents=True)
    assert policy.data_dir_of(str(tmp_path)) == policy.data_dir_of(str(trainer)) == trainer


def test_without_a_run_the_policy_of_the_package_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(resources, "files", lambda _: tmp_path / "package")
    with pytest.raises(PolicyError, match=r"no policy yet.*make train-cartridge"):
        policy.find(tmp_path)
    policy.write(tmp_path / "package/trained", manifest(), WEIGHTS)
    assert policy.find(tmp_path) == tmp_path / "package/trained"


def test_the_shipped_policy_of_release_0_1_0_is_read():
    found, arrays = policy.read(policy.shipped())
    policy.check(found, load_cartridge())
    assert (policy.shipped() / policy.CARD).exists()
    assert found.run_id == "cartridge-2"
    assert json.loads(found.record.settings)["seed"] == 2
    assert arrays


def test_a_result_of_release_0_1_0_is_read(tmp_path):
    trial = {
        "player": "chance",
        "arm": "macros",
        "run_id": "cartridge-1",
        "train_seed": 1,
        "seed": 2**32 + 1,
        "trained_seconds": 3000.0,
        "game": "seedling-vale",
        "rom_sha256": SHA,
        "milestones_total": 4,
        "episode_frames": 3600,
        "created_at": NOW.isoformat(),
        "seconds": 1.0,
        "episodes": [
            {
                "number": n,
                "milestones": {"sword": 100},
                "essences": 0,
                "frames": 3600,
                "decisions": 9,
                "deaths": 1,
                "rooms": 3,
                "ended": "truncated",
                "fault": None,
            }
            for n in range(4)
        ],
    }
    (tmp_path / result.TRIALS).mkdir()
    (tmp_path / result.TRIALS / "chance-4294967297.json").write_text(json.dumps(trial))
    (found,) = result.read_all(tmp_path, result.TRIALS)
    assert found.player == "random"
    assert found.reached == [1, 1, 1, 1]
    assert found.milestones_iqm == 1.0
    assert found.line()["milestones_total"] == 4
    assert found.episodes[0].deaths == 1
