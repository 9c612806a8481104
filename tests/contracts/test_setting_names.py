"""Names of settings: they are public, and there are few."""

import os
from pathlib import Path
from unittest.mock import patch

import pytest

from rlaif.service.cli import InvalidSettingsError, load_settings
from rlaif.service.settings import Setting, SharedSettings, describe, flat_values
from rlaif.testing.settings_classes import EVERY

SETTINGS = [(service, each) for service in EVERY for each in describe(service)]

KNOWN = Path(__file__).with_name("setting_names.txt")
"""One line a setting: service, variable, option."""

MAX_VARIABLES = 150


def test_no_variable_and_no_option_of_a_setting_is_gone() -> None:
    known = KNOWN.read_text(encoding="utf-8").splitlines()
    now = {
        f"{service.service_name()} {each.environment} {each.option}" for service, each in SETTINGS
    }
    assert now == set(known)
    assert known == sorted(set(known))


def test_there_are_not_too_many() -> None:
    assert len({each.environment for _, each in SETTINGS}) <= MAX_VARIABLES


@pytest.mark.parametrize(
    ("service", "setting"),
    [
        pytest.param(service, each, id=f"{service.service_name()}-{each.environment}")
        for service, each in SETTINGS
    ],
)
def test_a_variable_sets_its_own_value_and_no_other(
    service: type[SharedSettings], setting: Setting
) -> None:
    with patch.dict(os.environ, {}, clear=True):
        defaults = flat_values(service())
        os.environ[setting.environment] = "nonsense"
        try:
            found = flat_values(load_settings(service))
        except InvalidSettingsError as error:
            named = str(error)
        else:
            changed = {name for name, value in found.items() if value != defaults[name]}
            named = setting.environment if changed == {setting.name} else str(changed)
    assert setting.environment in named


def test_every_setting_says_what_it_does() -> None:
    silent = [each.name for _, each in SETTINGS if not each.description.endswith(".")]
    assert silent == []
