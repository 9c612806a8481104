"""The names under which settings are given: whoever has set one must find it again."""

import os
from pathlib import Path
from unittest.mock import patch

import pytest

from rlaif.bootstrap.settings import BootstrapSettings
from rlaif.exporter.settings import ExporterSettings
from rlaif.hud.settings import HudSettings
from rlaif.judge.settings import JudgeSettings
from rlaif.mock_llm.settings import MockLlmSettings
from rlaif.reward_model.settings import RewardModelSettings
from rlaif.service.settings import EnvironmentSource, Setting, SharedSettings, describe
from rlaif.trainer.settings import TrainerSettings

SERVICES: tuple[type[SharedSettings], ...] = (
    TrainerSettings,
    ExporterSettings,
    JudgeSettings,
    RewardModelSettings,
    HudSettings,
    MockLlmSettings,
    BootstrapSettings,
)
EVERY = [(service, each) for service in SERVICES for each in describe(service)]

KNOWN = Path(__file__).with_name("setting_names.txt")
"""One line a setting: service, variables, option. Lines are added, and never taken away."""


def test_no_variable_and_no_option_of_a_setting_is_gone() -> None:
    known = KNOWN.read_text(encoding="utf-8").splitlines()
    now = {
        f"{service.service_name()} {'|'.join(each.variables)} {each.option}"
        for service, each in EVERY
    }
    assert now == set(known)
    assert known == sorted(set(known))


@pytest.mark.parametrize(
    ("service", "setting", "variable"),
    [
        pytest.param(service, each, variable, id=f"{service.service_name()}-{variable}")
        for service, each in EVERY
        for variable in each.variables
    ],
)
def test_a_variable_sets_exactly_one_value(
    service: type[SharedSettings], setting: Setting, variable: str
) -> None:
    with patch.dict(os.environ, {variable: "[]"}, clear=True):
        (found,) = _paths(EnvironmentSource(service)())
    assert found in (setting.path, (setting.field.validation_alias,))


def _paths(values: object) -> list[tuple[str, ...]]:
    if not isinstance(values, dict):
        return [()]
    return [(name, *rest) for name, value in values.items() for rest in _paths(value)]


def test_every_setting_says_what_it_does() -> None:
    silent = [each.name for _, each in EVERY if not each.description.endswith(".")]
    assert silent == []
