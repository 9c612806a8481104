"""Where a run comes from: enough to start it again."""

import os
import shlex
from pathlib import Path
from unittest.mock import patch

from rlaif.service.settings import PER_SERVICE, describe, flat_values
from rlaif.trainer.run_folder.provenance import provenance_of
from rlaif.trainer.settings import TrainerSettings

CHANGED = {
    "seed": 11, "ray_workers": 0, "learning_rate": 1e-3, "episode_length": 500, "overlap": False,
    "initial_state_paths": "a.state, it's b.state", "data_dir": Path("/elsewhere"),
    "api_token": "secret", "port": 9999,
}  # fmt: skip


def of_run(settings: TrainerSettings) -> dict[str, object]:
    """What the settings say about the run, not about the machine or the service."""
    mine = {each.name for each in describe(TrainerSettings) if each.scope == PER_SERVICE["scope"]}
    return {name: value for name, value in flat_values(settings).items() if name not in mine}


def test_the_command_starts_a_run_with_the_same_settings() -> None:
    for given in (
        {},
        CHANGED,
        {"mode": "quest", "guidance_preset": "seed"},
        # Defaults, which are not those of the mode and of the preset.
        {"mode": "quest", "ray_workers": 3, "ppo_preset": "seed", "ppo_epochs": 4},
    ):
        settings = TrainerSettings.model_validate(given)
        *assignments, program, name = shlex.split(provenance_of(settings, None).command)
        assert (program, name) == ("rlaif", "train")
        variables = dict(each.split("=", 1) for each in assignments)
        with patch.dict(os.environ, variables, clear=True):
            assert of_run(TrainerSettings()) == of_run(settings)


def test_it_has_all_settings_of_the_run_but_nothing_of_the_machine_and_no_secret() -> None:
    origin = provenance_of(TrainerSettings.model_validate(CHANGED), "seedling-vale")
    assert origin.settings["TRAINER_PPO_LEARNING_RATE"] == "0.001"
    assert origin.settings["TRAINER_PPO_GAMMA"] == str(TrainerSettings().ppo.gamma)
    assert not {"TRAINER_DATA_DIR", "TRAINER_PORT", "NATS_URL"} & origin.settings.keys()
    assert "secret" not in origin.model_dump_json()
    assert {"python", "torch", "ray"} <= origin.packages.keys()
