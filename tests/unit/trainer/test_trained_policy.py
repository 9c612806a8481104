"""A trained policy as files: what is written is read again, and what does not fit is refused."""

import os
from datetime import UTC, datetime
from importlib import resources
from typing import Any

import numpy as np
import pytest

from rlaif.trainer.run_folder import trained_policy
from rlaif.trainer.run_folder.trained_policy import PolicyCard, TrainedPolicyError

WEIGHTS: dict[str, Any] = {
    "pi.weight": np.arange(6, dtype=np.float32).reshape(2, 3),
    "pi.bias": np.ones(2),
}
SHA = "ab" * 32


def card(**changes):
    return PolicyCard(
        game="seedling-vale",
        rom_sha256=SHA,
        arm="macros",
        decisions=230,
        observation_layout="v1",
        policy_input="v1, 900 numbers",
        run_id="cartridge-1",
        seed=1,
        iteration=10,
        env_steps=40_960,
        trained_seconds=3000.0,
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        settings={"hidden": 256},
        **changes,
    )


def test_what_was_written_is_read_again(tmp_path):
    written = trained_policy.write(tmp_path, card(), WEIGHTS)
    found, arrays = trained_policy.read(tmp_path)
    assert found == written
    assert arrays.keys() == WEIGHTS.keys()
    for name, values in WEIGHTS.items():
        np.testing.assert_array_equal(arrays[name], values)


def test_weights_of_another_policy_are_refused(tmp_path):
    trained_policy.write(tmp_path, card(), WEIGHTS)
    other = tmp_path / "other"
    trained_policy.write(other, card(), {"pi.weight": np.zeros(3, np.float32)})
    (tmp_path / trained_policy.WEIGHTS).write_bytes((other / trained_policy.WEIGHTS).read_bytes())
    with pytest.raises(TrainedPolicyError, match=r"is not what policy.json says"):
        trained_policy.read(tmp_path)


def test_a_folder_without_a_policy_says_which_command_makes_one(tmp_path):
    with pytest.raises(TrainedPolicyError, match="make train-cartridge SEED=1"):
        trained_policy.read(tmp_path)


def test_missing_weights_are_told(tmp_path):
    trained_policy.write(tmp_path, card(), WEIGHTS)
    (tmp_path / trained_policy.WEIGHTS).unlink()
    with pytest.raises(TrainedPolicyError, match=r"policy.safetensors cannot be read"):
        trained_policy.read(tmp_path)


def test_a_card_of_another_format_is_refused(tmp_path):
    trained_policy.write(tmp_path, card(), WEIGHTS)
    path = tmp_path / trained_policy.CARD
    path.write_text(path.read_text().replace('"format": 1', '"format": 2'))
    with pytest.raises(TrainedPolicyError, match=r"policy.json cannot be read"):
        trained_policy.read(tmp_path)


@pytest.mark.parametrize(
    ("needed", "said"),
    [
        ({"rom_sha256": "cd" * 32}, "its game's ROM is abab.*give the ROM that it was trained on"),
        ({"decisions": 231}, "number of decisions is 230, here it is 231.*train one again"),
        (
            {"policy_input": "v2, 9 numbers"},
            "input beside the observation is v1, 900.*train one again",
        ),
        ({"observation_layout": "v2"}, "layout of the observation is v1, here it is v2"),
        ({"arm": "options"}, "set of decisions is macros, here it is options"),
    ],
)
def test_a_policy_of_something_else_is_refused_with_the_difference(needed, said):
    with pytest.raises(TrainedPolicyError, match=said):
        card().check_fits(**needed)


def test_a_policy_that_fits_is_taken():
    card().check_fits(game="seedling-vale", rom_sha256=SHA, arm="macros", decisions=230)


def test_a_run_a_folder_and_nothing_at_all_are_found(tmp_path, monkeypatch):
    old, new = tmp_path / "runs/old/trained", tmp_path / "runs/new/trained"
    for age, folder in ((200, old), (100, new)):
        trained_policy.write(folder, card(), WEIGHTS)
        os.utime(folder / trained_policy.CARD, (1e9 - age, 1e9 - age))
    assert trained_policy.find(tmp_path) == new
    assert trained_policy.find(tmp_path, "old") == old
    assert trained_policy.find(tmp_path / "elsewhere", str(old)) == old
    with pytest.raises(TrainedPolicyError, match=r"no trained policy of 'none'.*make train-cart"):
        trained_policy.find(tmp_path, "none")


def test_without_a_run_of_ones_own_it_is_the_one_of_the_package(tmp_path, monkeypatch):
    monkeypatch.setattr(resources, "files", lambda _: tmp_path / "package")
    with pytest.raises(TrainedPolicyError, match=r"no trained policy yet.*make train-cartridge"):
        trained_policy.find(tmp_path)
    trained_policy.write(tmp_path / "package/trained", card(), WEIGHTS)
    assert trained_policy.find(tmp_path) == tmp_path / "package/trained"
