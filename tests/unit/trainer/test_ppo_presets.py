"""Presets of PPO's numbers, and what is set one by one."""

from typing import Any

import pytest

from rlaif.local.stack import _DEMO_SETTINGS
from rlaif.trainer.settings import TrainerSettings

NUMBERS = {
    "learning_rate", "gamma", "gae_lambda", "clip", "value_clip", "entropy",
    "minibatch_size", "epochs", "share_layers", "value_loss", "normalize_values",
}  # fmt: skip


def numbers(settings: TrainerSettings) -> dict[str, float | str]:
    return settings.ppo.model_dump(include=NUMBERS)


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


def test_the_demo_can_have_a_preset(monkeypatch: pytest.MonkeyPatch):
    for name, value in (_DEMO_SETTINGS["trainer"] | {"TRAINER_PPO_PRESET": "seed"}).items():
        monkeypatch.setenv(name, value)
    assert numbers(TrainerSettings()) == numbers(
        TrainerSettings.model_validate({"ppo_preset": "seed"})
    )
