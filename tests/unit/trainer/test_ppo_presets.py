"""Presets of PPO's numbers, and what is set one by one."""

from typing import Any

import pytest
from pydantic import ValidationError

from rlaif.trainer.settings import TrainerSettings

NUMBERS = {
    "learning_rate", "gamma", "gae_lambda", "clip", "value_clip", "entropy",
    "minibatch_size", "epochs", "share_layers", "value_loss", "normalize_values",
}  # fmt: skip


def numbers(settings: TrainerSettings) -> dict[str, float | str]:
    return settings.ppo.model_dump(include=NUMBERS)


def test_the_default_preset_applies_when_none_is_named():
    assert numbers(TrainerSettings()) == {
        "learning_rate": 3e-4, "gamma": 0.999, "gae_lambda": 0.95, "clip": 0.2, "value_clip": 0.0,
        "entropy": 0.01, "minibatch_size": 1024, "epochs": 4,
        "share_layers": False, "value_loss": "huber", "normalize_values": True,
    }  # fmt: skip


def test_the_seeds_numbers_are_those_of_their_documents():
    assert numbers(TrainerSettings.model_validate({"ppo_preset": "seed"})) == {
        "learning_rate": 5e-5, "gamma": 0.99, "gae_lambda": 0.95, "clip": 0.2, "value_clip": 10.0,
        "entropy": 0.01, "minibatch_size": 512, "epochs": 10,
        "share_layers": True, "value_loss": "squared", "normalize_values": False,
    }  # fmt: skip


def test_a_number_that_is_set_wins_over_its_preset(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TRAINER_PPO_PRESET", "seed")
    monkeypatch.setenv("TRAINER_PPO_GAMMA", "0.9")
    monkeypatch.setenv("BATCH_SIZE", "128")
    given: dict[str, Any] = {"ppo_epochs": 3}
    settings = TrainerSettings(**given)
    assert (settings.ppo.gamma, settings.batch_size, settings.ppo.epochs) == (0.9, 128, 3)
    assert settings.ppo.minibatch_size == 512, "the rest is the preset's"


def test_a_run_keeps_its_numbers_when_its_settings_are_read_again():
    settings = TrainerSettings.model_validate({"ppo_preset": "seed", "ppo_epochs": 3})
    again = TrainerSettings.model_validate_json(settings.model_dump_json())
    assert numbers(again) == numbers(settings)


def test_an_unknown_preset_is_refused():
    with pytest.raises(ValidationError, match="preset"):
        TrainerSettings.model_validate({"ppo_preset": "fast"})
